// Areas under curves, from ranks of probabilities or decision values.
//
// Equal values are one step of the curve, as in scikit-learn: of the order of their samples nothing
// depends. Counts are whole numbers up to the last division.
#include <algorithm>
#include <cmath>

#include "score_parts.hpp"

namespace bitsieve {
namespace {

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
    if (positives_ == 0 || negatives_ == 0) return undefined;
    return static_cast<double>(twice_) /
           (2 * static_cast<double>(positives_) * static_cast<double>(negatives_));
  }

 private:
  std::int64_t positives_, negatives_, found_ = 0, false_ = 0;
  std::int64_t twice_ = 0;  // twice the pairs in which the positive sample has the greater value
  double area_ = 0;         // precision over recall
};

// Sort and walk; NaN where a value is not finite.
double area(Metric metric, std::vector<ScoreScratch::Ranked>& ranked) {
  std::int64_t positives = 0;
  for (const ScoreScratch::Ranked& r : ranked) {
    if (!std::isfinite(r.value)) return undefined;
    positives += r.is_positive;
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const ScoreScratch::Ranked& a, const ScoreScratch::Ranked& b) {
              return a.value > b.value;
            });
  const std::size_t n = ranked.size();
  Curve curve(positives, static_cast<std::int64_t>(n) - positives);
  for (std::size_t k = 0; k < n;) {
    std::int64_t found = 0, wrong = 0;
    const double value = ranked[k].value;
    for (; k < n && ranked[k].value == value; ++k) ++(ranked[k].is_positive ? found : wrong);
    curve.step(found, wrong);
  }
  return curve.value(metric);
}

// Where the predicted class has value one and the others zero: two steps at most.
double one_hot_area(Metric metric, std::int64_t positives, std::int64_t negatives,
                    std::int64_t found, std::int64_t wrong) {
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
  auto& ranked = scratch.ranked;
  if (rows.n_classes == 2) {
    ranked.resize(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i) {
      ranked[i] = {rows.value_for(i, score.positive), rows.code(i) == score.positive};
    }
    return area(score.metric, ranked);
  }
  if (score.metric == Metric::roc_auc && !sum_to_one(rows)) return undefined;
  if (score.one_vs_one) {
    return over_pairs(score.average, rows.n_classes, rows.tested,
                      [&](std::size_t a, std::size_t b) {
                        ranked.clear();
                        for (std::size_t i = 0; i < rows.n; ++i) {
                          const auto c = static_cast<std::size_t>(rows.code(i));
                          if (c == a || c == b) ranked.push_back({rows.value(i, a), c == a});
                        }
                        return area(score.metric, ranked);
                      });
  }
  if (score.average == Average::micro) {
    ranked.resize(rows.n * rows.n_classes);
    for (std::size_t i = 0; i < rows.n; ++i) {
      for (std::size_t c = 0; c < rows.n_classes; ++c) {
        ranked[i * rows.n_classes + c] = {rows.value(i, c),
                                          static_cast<std::size_t>(rows.code(i)) == c};
      }
    }
    return area(score.metric, ranked);
  }
  return over_classes(score.average, rows.n_classes, rows.tested, [&](std::size_t c) {
    ranked.resize(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i) {
      ranked[i] = {rows.value(i, c), static_cast<std::size_t>(rows.code(i)) == c};
    }
    return area(score.metric, ranked);
  });
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
    const double eps = std::numeric_limits<double>::epsilon();
    const double sum = -(hits * std::log(1 - eps) + misses * std::log(eps));
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
