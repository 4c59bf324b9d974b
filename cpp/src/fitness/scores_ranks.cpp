// Areas under curves, from ranks of probabilities or decision values.
//
// Equal values are one step of the curve, as in scikit-learn: of the order of their samples nothing
// depends. Counts are whole numbers up to the last division.
#include <algorithm>
#include <cmath>
#include <functional>

#include "score_parts.hpp"

namespace bitsieve {
namespace {

// From twice the pairs in which the positive sample has the greater value, ties once.
double area_of_pairs(std::int64_t twice, std::size_t positives, std::size_t negatives) {
  if (positives == 0 || negatives == 0) return undefined;
  return static_cast<double>(twice) /
         (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

// The curve of one class against others, from the highest value down.
class Curve {
 public:
  Curve(std::int64_t positives, std::int64_t negatives)
      : positives_(positives), negatives_(negatives) {}

  // Samples of one value, lower than those before.
  void step(std::int64_t positives, std::int64_t negatives) {
    found_ += positives;
    false_ += negatives;
    twice_ += positives * (2 * (negatives_ - false_) + negatives);
    if (positives > 0) {
      area_ += static_cast<double>(positives) / static_cast<double>(positives_) *
               (static_cast<double>(found_) / static_cast<double>(found_ + false_));
    }
  }

  double value(Metric metric) const {
    if (metric == Metric::average_precision) return positives_ == 0 ? undefined : area_;
    return area_of_pairs(twice_, static_cast<std::size_t>(positives_),
                         static_cast<std::size_t>(negatives_));
  }

 private:
  std::int64_t positives_, negatives_, found_ = 0, false_ = 0;
  std::int64_t twice_ = 0;
  double area_ = 0;         // precision over recall
};

// Up to so many pairs are compared one by one, which has no branches, rather than sorted.
constexpr std::size_t compared_pairs = 4096;

// The area for the values of two sets of samples; NaN where one is not finite.
double area(Metric metric, std::vector<double>& positives, std::vector<double>& negatives) {
  bool finite = true;
  for (const double value : positives) finite = finite && std::isfinite(value);
  for (const double value : negatives) finite = finite && std::isfinite(value);
  if (!finite) return undefined;
  const std::size_t n_positive = positives.size(), n_negative = negatives.size();
  if (metric == Metric::roc_auc && n_positive * n_negative <= compared_pairs) {
    std::int64_t twice = 0;
    for (const double value : positives) {
      std::int32_t above = 0;
      for (const double other : negatives) above += (value > other) + (value >= other);
      twice += above;
    }
    return area_of_pairs(twice, n_positive, n_negative);
  }
  std::sort(positives.begin(), positives.end(), std::greater<>());
  std::sort(negatives.begin(), negatives.end(), std::greater<>());
  Curve curve(static_cast<std::int64_t>(n_positive), static_cast<std::int64_t>(n_negative));
  for (std::size_t p = 0, q = 0; p < n_positive || q < n_negative;) {
    const bool is_positive =
        q == n_negative || (p < n_positive && positives[p] >= negatives[q]);
    const double value = is_positive ? positives[p] : negatives[q];
    const std::size_t first_p = p, first_q = q;
    while (p < n_positive && positives[p] == value) ++p;
    while (q < n_negative && negatives[q] == value) ++q;
    curve.step(static_cast<std::int64_t>(p - first_p), static_cast<std::int64_t>(q - first_q));
  }
  return curve.value(metric);
}

// Where the predicted class has value one and the others zero: two steps at most.
double one_hot_area(Metric metric, std::int64_t positives, std::int64_t negatives,
                    std::int64_t found, std::int64_t wrong) {
  if (metric == Metric::roc_auc) {
    const std::int64_t right = negatives - wrong;
    return area_of_pairs(found * (right + negatives) + (positives - found) * right,
                         static_cast<std::size_t>(positives), static_cast<std::size_t>(negatives));
  }
  Curve curve(positives, negatives);
  if (found + wrong > 0) curve.step(found, wrong);
  if (found + wrong < positives + negatives) curve.step(positives - found, negatives - wrong);
  return curve.value(metric);
}

// The mean over classes, each against the rest.
template <typename Binary>
double over_classes(Average average, std::size_t n_classes, const std::int32_t* tested,
                    const Binary& binary) {
  double sum = 0, total = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double weight = average == Average::weighted ? tested[c] : 1;
    sum += weight * binary(c);
    total += weight;
  }
  return sum / total;
}

// The mean over pairs of classes; binary(a, b) ranks the samples of both by their value for a
// (Hand and Till 2001).
template <typename Binary>
double over_pairs(Average average, std::size_t n_classes, const std::int32_t* tested,
                  const Binary& binary) {
  double sum = 0, total = 0;
  for (std::size_t a = 0; a < n_classes; ++a) {
    for (std::size_t b = a + 1; b < n_classes; ++b) {
      const double weight = average == Average::weighted ? tested[a] + tested[b] : 1;
      sum += weight * ((binary(a, b) + binary(b, a)) / 2);
      total += weight;
    }
  }
  return sum / total;
}

// numpy.allclose(1, the sum of a row): the areas of several classes are of probabilities alone.
bool sum_to_one(const ValueRows& rows) {
  for (std::size_t i = 0; i < rows.n; ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < rows.n_classes; ++c) sum += rows.value(i, c);
    if (!(std::abs(1 - sum) <= 1e-8 + 1e-5 * std::abs(sum))) return false;
  }
  return true;
}

}  // namespace

double score_of_ranks(const Score& score, const ValueRows& rows, ScoreScratch& scratch) {
  auto& positives = scratch.positives;
  auto& negatives = scratch.negatives;
  const std::size_t n_classes = rows.n_classes;
  if (n_classes > 2 && score.metric == Metric::roc_auc && !sum_to_one(rows)) return undefined;
  // The rows of each class, one after the other.
  auto& begin = scratch.labels;
  auto& members = scratch.cells;
  begin.assign(n_classes + 1, 0);
  for (std::size_t c = 0; c < n_classes; ++c) begin[c + 1] = begin[c] + rows.tested[c];
  members.resize(rows.n);
  for (std::size_t i = 0; i < rows.n; ++i) {
    const auto c = static_cast<std::size_t>(rows.code(i));
    members[static_cast<std::size_t>(begin[c]++)] = static_cast<std::int32_t>(i);
  }
  const auto append = [&](std::vector<double>& to, std::size_t first, std::size_t last, auto value) {
    // begin[c] is now where c ends.
    const std::int32_t from = first == 0 ? 0 : begin[first - 1], end = last == 0 ? 0 : begin[last - 1];
    for (std::int32_t k = from; k < end; ++k) {
      to.push_back(value(static_cast<std::size_t>(members[static_cast<std::size_t>(k)])));
    }
  };
  // Class c against classes [first, last).
  const auto against = [&](std::size_t c, std::size_t first, std::size_t last) {
    const auto value = [&](std::size_t i) {
      return n_classes == 2 ? rows.value_for(i, score.positive) : rows.value(i, c);
    };
    positives.clear();
    negatives.clear();
    append(positives, c, c + 1, value);
    append(negatives, first, std::min(c, last), value);
    append(negatives, std::max(c + 1, first), last, value);
    return area(score.metric, positives, negatives);
  };
  if (n_classes == 2) return against(static_cast<std::size_t>(score.positive), 0, 2);
  if (score.one_vs_one) {
    return over_pairs(score.average, n_classes, rows.tested, [&](std::size_t a, std::size_t b) {
      return against(a, b, b + 1);
    });
  }
  if (score.average == Average::micro) {
    positives.clear();
    negatives.clear();
    for (std::size_t i = 0; i < rows.n; ++i) {
      for (std::size_t c = 0; c < n_classes; ++c) {
        const bool own = static_cast<std::size_t>(rows.code(i)) == c;
        (own ? positives : negatives).push_back(rows.value(i, c));
      }
    }
    return area(score.metric, positives, negatives);
  }
  return over_classes(score.average, n_classes, rows.tested,
                      [&](std::size_t c) { return against(c, 0, n_classes); });
}

double score_of_one_hot(const Score& score, const ClassCounts& counts) {
  const std::size_t n_classes = counts.n_classes;
  std::int64_t all = 0;
  for (std::size_t c = 0; c < n_classes; ++c) all += counts.hits[c];
  const double hits = static_cast<double>(all), misses = static_cast<double>(counts.n - all);
  const double n = static_cast<double>(counts.n);
  if (score.metric == Metric::brier) {
    return misses / n * (n_classes == 2 ? 1 : 2) * score.scale;
  }
  if (score.metric == Metric::log_loss) {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    static const double hit = -std::log(1 - eps), miss = -std::log(eps);
    const double sum = hits * hit + misses * miss;
    return score.normalize ? sum / n : sum;
  }
  const auto against_rest = [&](std::size_t c) {
    return one_hot_area(score.metric, counts.tested[c], counts.n - counts.tested[c],
                        counts.hits[c], counts.predicted[c] - counts.hits[c]);
  };
  if (n_classes == 2) return against_rest(static_cast<std::size_t>(score.positive));
  if (score.one_vs_one) {
    return over_pairs(score.average, n_classes, counts.tested, [&](std::size_t a, std::size_t b) {
      return one_hot_area(score.metric, counts.tested[a], counts.tested[b], counts.hits[a],
                          counts.cells[b * n_classes + a]);
    });
  }
  if (score.average == Average::micro) {
    return one_hot_area(score.metric, counts.n,
                        counts.n * static_cast<std::int64_t>(n_classes - 1), all, counts.n - all);
  }
  return over_classes(score.average, n_classes, counts.tested, against_rest);
}

}  // namespace bitsieve
