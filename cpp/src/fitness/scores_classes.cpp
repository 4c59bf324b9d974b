// Scores of predicted classes, from counts.
#include <cmath>

#include "score_parts.hpp"

namespace bitsieve {
namespace {

// The classes that are tested or predicted, as scikit-learn's unique_labels, or those asked for.
const std::vector<std::int32_t>& labels_of(const Score& score, const ClassCounts& counts,
                                           ScoreScratch& scratch) {
  if (!score.labels.empty()) return score.labels;
  scratch.labels.clear();
  for (std::size_t c = 0; c < counts.n_classes; ++c) {
    if (counts.tested[c] > 0 || counts.predicted[c] > 0) {
      scratch.labels.push_back(static_cast<std::int32_t>(c));
    }
  }
  return scratch.labels;
}

double accuracy(const Score& score, const ClassCounts& counts) {
  double sum = 0;
  for (std::size_t c = 0; c < counts.n_classes; ++c) sum += counts.hits[c];
  return score.normalize ? sum / static_cast<double>(counts.n) : sum;
}

double balanced_accuracy(const Score& score, const ClassCounts& counts) {
  double sum = 0, total = 0;
  for (std::size_t c = 0; c < counts.n_classes; ++c) {
    if (counts.tested[c] == 0) continue;
    sum += static_cast<double>(counts.hits[c]) / counts.tested[c];
    total += 1;
  }
  const double mean = sum / total;
  if (!score.adjusted) return mean;
  return total == 1 ? undefined : (mean - 1 / total) / (1 - 1 / total);
}

// Precision, recall, F and Jaccard of one class, or of several taken together.
double set_score(const Score& score, double hits, double tested, double predicted) {
  double numerator = hits, denominator;
  if (score.metric == Metric::jaccard) {
    denominator = tested + predicted - hits;
  } else if (score.metric == Metric::precision || score.beta == 0) {
    denominator = predicted;
  } else if (score.metric == Metric::recall || std::isinf(score.beta)) {
    denominator = tested;
  } else {
    const double square = score.beta * score.beta;
    numerator = (1 + square) * hits;
    denominator = square * tested + predicted;
  }
  return denominator == 0 ? score.zero_division : numerator / denominator;
}

double set_average(const Score& score, const ClassCounts& counts, ScoreScratch& scratch) {
  if (score.average == Average::binary) {
    const auto c = static_cast<std::size_t>(score.positive);
    return set_score(score, counts.hits[c], counts.tested[c], counts.predicted[c]);
  }
  double hits = 0, tested = 0, predicted = 0;  // micro
  double sum = 0, total = 0;
  double plain = 0, terms = 0;  // where no label is tested, weights are equal
  for (const std::int32_t label : labels_of(score, counts, scratch)) {
    const auto c = static_cast<std::size_t>(label);
    hits += counts.hits[c];
    tested += counts.tested[c];
    predicted += counts.predicted[c];
    const double value = set_score(score, counts.hits[c], counts.tested[c], counts.predicted[c]);
    if (std::isnan(value)) continue;  // zero_division=nan leaves a class out
    sum += value * counts.tested[c];
    total += counts.tested[c];
    plain += value;
    terms += 1;
  }
  if (score.average == Average::micro) return set_score(score, hits, tested, predicted);
  return score.average == Average::weighted && total > 0 ? sum / total : plain / terms;
}

// Gorodkin (2004), as scikit-learn writes it: 0 where the truth or the prediction does not vary.
double matthews(const ClassCounts& counts) {
  const double n = static_cast<double>(counts.n);
  double hits = 0, both = 0, tested = 0, predicted = 0;
  for (std::size_t c = 0; c < counts.n_classes; ++c) {
    const double t = counts.tested[c], p = counts.predicted[c];
    hits += counts.hits[c];
    both += t * p;
    tested += t * t;
    predicted += p * p;
  }
  const double product = (n * n - predicted) * (n * n - tested);
  return product == 0 ? 0.0 : (hits * n - both) / std::sqrt(product);
}

double disagreement(KappaWeights weights, std::size_t i, std::size_t j) {
  if (weights == KappaWeights::none) return i == j ? 0 : 1;
  const double apart = i > j ? static_cast<double>(i - j) : static_cast<double>(j - i);
  return weights == KappaWeights::linear ? apart : apart * apart;
}

// Cohen (1960, 1968). With labels only samples that have one of them, in truth and prediction, count.
double kappa(const Score& score, const ClassCounts& counts, ScoreScratch& scratch) {
  if (counts.cells == nullptr) {
    double hits = 0, both = 0;
    for (std::size_t c = 0; c < counts.n_classes; ++c) {
      hits += counts.hits[c];
      both += static_cast<double>(counts.tested[c]) * counts.predicted[c];
    }
    const double n = static_cast<double>(counts.n), expected = n * n - both;
    return expected == 0 ? undefined : 1 - (n - hits) * n / expected;
  }
  const std::vector<std::int32_t>& labels = labels_of(score, counts, scratch);
  const std::size_t n_labels = labels.size();
  const auto cell = [&](std::size_t i, std::size_t j) -> double {
    return counts.cells[static_cast<std::size_t>(labels[i]) * counts.n_classes +
                        static_cast<std::size_t>(labels[j])];
  };
  scratch.numbers.assign(2 * n_labels, 0);
  double* rows = scratch.numbers.data();
  double* columns = rows + n_labels;
  double n = 0, observed = 0, expected = 0;
  for (std::size_t i = 0; i < n_labels; ++i) {
    for (std::size_t j = 0; j < n_labels; ++j) {
      rows[i] += cell(i, j);
      columns[j] += cell(i, j);
      n += cell(i, j);
      observed += disagreement(score.weights, i, j) * cell(i, j);
    }
  }
  for (std::size_t i = 0; i < n_labels; ++i) {
    for (std::size_t j = 0; j < n_labels; ++j) {
      expected += disagreement(score.weights, i, j) * rows[i] * columns[j];
    }
  }
  return expected == 0 ? undefined : 1 - observed * n / expected;
}

double mean_cost(const Score& score, const ClassCounts& counts) {
  LongSum sum;  // cell by cell: the order of the samples is of no effect
  for (std::size_t k = 0; k < counts.n_classes * counts.n_classes; ++k) {
    if (counts.cells[k] > 0) sum.add(counts.cells[k] * score.costs[k]);
  }
  return sum.value() / static_cast<double>(counts.n);
}

}  // namespace

double score_of_classes(const Score& score, const ClassCounts& counts, ScoreScratch& scratch) {
  switch (score.metric) {
    case Metric::accuracy: return accuracy(score, counts);
    case Metric::balanced_accuracy: return balanced_accuracy(score, counts);
    case Metric::balanced_error: return 1 - balanced_accuracy(score, counts);
    case Metric::precision:
    case Metric::recall:
    case Metric::f_score:
    case Metric::jaccard: return set_average(score, counts, scratch);
    case Metric::matthews: return matthews(counts);
    case Metric::kappa: return kappa(score, counts, scratch);
    case Metric::cost: return mean_cost(score, counts);
    default: return undefined;
  }
}

}  // namespace bitsieve
