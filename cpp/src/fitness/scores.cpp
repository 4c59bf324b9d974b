#include "bitsieve/fitness/scores.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "score_parts.hpp"

namespace bitsieve {
namespace {

void check_score(bool fine, const char* message) {
  if (!fine) throw std::invalid_argument(message);
}

std::int32_t class_of(const Outputs& outputs, std::size_t row) {
  if (outputs.classes != nullptr) return outputs.classes[row];
  const double* values = outputs.values + row * outputs.n_values;
  if (outputs.n_values == 1) return values[0] > 0 ? 1 : 0;
  return static_cast<std::int32_t>(std::max_element(values, values + outputs.n_values) - values);
}

}  // namespace

Scorer::Scorer(Score score, const Target& target) : score_(std::move(score)), target_(&target) {
  const std::size_t n_classes = target.n_classes;
  const Metric metric = score_.metric;
  using Kind = Outputs::Kind;
  check_score(score_.sign == 1 || score_.sign == -1, "sign must be 1 or -1");
  check_score(is_of_numbers(metric) != target.is_classes(),
              "a score of numbers needs numbers as its target, one of classes classes");
  const bool reads_fine =
      is_of_classes(metric)   ? score_.reads == Kind::none
      : is_of_numbers(metric) ? score_.reads == Kind::numbers
      : metric == Metric::log_loss || metric == Metric::brier
          ? score_.reads == Kind::probabilities
          : score_.reads == Kind::probabilities || score_.reads == Kind::decisions;
  check_score(reads_fine, "reads does not fit the metric");
  if (is_of_numbers(metric)) return;
  check_score(n_classes >= 2 || is_of_classes(metric),
              "scores of probabilities and decisions need two classes or more");
  const auto is_class = [&](std::int32_t c) {
    return c >= 0 && static_cast<std::size_t>(c) < n_classes;
  };
  const bool takes_positive = score_.average == Average::binary || !is_of_classes(metric);
  check_score(!takes_positive || is_class(score_.positive), "positive must be a class");
  check_score(std::all_of(score_.labels.begin(), score_.labels.end(), is_class),
              "labels must be classes");
  std::vector<std::int32_t> sorted = score_.labels;
  std::sort(sorted.begin(), sorted.end());
  check_score(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
              "labels must differ");
  check_score(!(score_.beta < 0) && !std::isnan(score_.beta), "beta must not be negative");
  check_score(metric != Metric::cost || score_.costs.size() == n_classes * n_classes,
              "costs must have shape (n_classes, n_classes)");
  check_score(std::all_of(score_.costs.begin(), score_.costs.end(),
                          [](double cost) { return std::isfinite(cost); }),
              "costs must be finite");
  if (!is_of_classes(metric)) score_.needs_trained = true;
}

bool Scorer::takes_hits() const {
  if (target_->n_classes == 2 && score_.reads != Outputs::Kind::decisions) return true;
  return score_.metric <= Metric::balanced_error;
}

bool Scorer::needs_cells() const {
  if (score_.metric == Metric::cost || score_.one_vs_one) return true;
  return score_.metric == Metric::kappa &&
         (score_.weights != KappaWeights::none || !score_.labels.empty());
}

bool Scorer::is_undefined(const TargetSplits& at, std::size_t split) const {
  const std::size_t n_classes = target_->n_classes;
  const auto lacks = [&](const std::vector<std::int32_t>& counts) {
    const std::int32_t* first = counts.data() + split * n_classes;
    return std::find(first, first + n_classes, 0) != first + n_classes;
  };
  return (score_.needs_trained && lacks(at.target.train_of_class)) ||
         (score_.needs_tested && lacks(at.target.test_of_class));
}

void Scorer::of_outputs(const TargetSplits& at, const Outputs& outputs, ScoreScratch& scratch,
                        double* out) const {
  const std::size_t n_classes = target_->n_classes;
  const Metric metric = score_.metric;
  const bool of_classes = is_of_classes(metric), cells = of_classes && needs_cells();
  if (of_classes) {
    check_score(outputs.classes != nullptr || outputs.values != nullptr, "outputs are empty");
  } else {
    // Ranks are ranks of either: the prior of an empty mask has probabilities alone.
    const bool ranks = metric == Metric::roc_auc || metric == Metric::average_precision;
    check_score(outputs.values != nullptr &&
                    (outputs.kind == score_.reads ||
                     (ranks && outputs.kind == Outputs::Kind::probabilities)),
                "outputs are not of the kind that the score reads");
  }
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    if (is_undefined(at, s)) {
      out[s] = undefined;
      continue;
    }
    const auto begin = static_cast<std::size_t>(at.splits.test_begin[s]);
    const std::size_t n = static_cast<std::size_t>(at.splits.test_begin[s + 1]) - begin;
    const std::int32_t* samples = at.splits.test_samples.data() + begin;
    const std::int32_t* tested =
        n_classes == 0 ? nullptr : at.target.test_of_class.data() + s * n_classes;
    double value;
    if (of_classes) {
      scratch.predicted.assign(n_classes, 0);
      scratch.hits.assign(n_classes, 0);
      if (cells) scratch.cells.assign(n_classes * n_classes, 0);
      for (std::size_t i = 0; i < n; ++i) {
        const auto code = static_cast<std::size_t>(
            target_->codes[static_cast<std::size_t>(samples[i])]);
        const auto guess = static_cast<std::size_t>(class_of(outputs, begin + i));
        ++scratch.predicted[guess];
        scratch.hits[code] += code == guess;
        if (cells) ++scratch.cells[code * n_classes + guess];
      }
      const ClassCounts counts{n_classes,
                               static_cast<std::int64_t>(n),
                               tested,
                               scratch.hits.data(),
                               scratch.predicted.data(),
                               cells ? scratch.cells.data() : nullptr};
      value = score_of_classes(score_, counts, scratch);
    } else {
      const ValueRows rows{n,
                           n_classes,
                           samples,
                           target_->codes.data(),
                           target_->numbers.data(),
                           outputs.values + begin * outputs.n_values,
                           outputs.n_values,
                           tested};
      if (is_of_numbers(metric)) {
        value = score_of_numbers(score_, rows, scratch);
      } else if (metric == Metric::log_loss || metric == Metric::brier) {
        value = score_of_probabilities(score_, rows);
      } else {
        value = score_of_ranks(score_, rows, scratch);
      }
    }
    out[s] = score_.sign * value;
  }
}

void Scorer::of_confusion(const TargetSplits& at, const std::int32_t* confusion,
                          ScoreScratch& scratch, double* out) const {
  check_score(score_.reads == Outputs::Kind::none || score_.reads == Outputs::Kind::probabilities,
              "counts tell nothing of decisions or numbers");
  const std::size_t n_classes = target_->n_classes;
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    if (is_undefined(at, s)) {
      out[s] = undefined;
      continue;
    }
    const std::int32_t* cells = confusion + s * n_classes * n_classes;
    scratch.predicted.assign(n_classes, 0);
    scratch.hits.resize(n_classes);
    for (std::size_t t = 0; t < n_classes; ++t) {
      for (std::size_t p = 0; p < n_classes; ++p) {
        scratch.predicted[p] += cells[t * n_classes + p];
      }
      scratch.hits[t] = cells[t * n_classes + t];
    }
    const ClassCounts counts{n_classes,
                             at.splits.test_begin[s + 1] - at.splits.test_begin[s],
                             at.target.test_of_class.data() + s * n_classes,
                             scratch.hits.data(),
                             scratch.predicted.data(),
                             needs_cells() ? cells : nullptr};
    const double value = is_of_classes(score_.metric) ? score_of_classes(score_, counts, scratch)
                                                      : score_of_one_hot(score_, counts);
    out[s] = score_.sign * value;
  }
}

void Scorer::of_hits(const TargetSplits& at, const std::int32_t* hits, ScoreScratch& scratch,
                     double* out) const {
  check_score(takes_hits(), "hits alone do not tell this score");
  const std::size_t n_classes = target_->n_classes;
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    if (is_undefined(at, s)) {
      out[s] = undefined;
      continue;
    }
    const std::int32_t* right = hits + s * n_classes;
    const std::int32_t* tested = at.target.test_of_class.data() + s * n_classes;
    ClassCounts counts{n_classes, at.splits.test_begin[s + 1] - at.splits.test_begin[s],
                       tested,    right,
                       nullptr,   nullptr};
    if (n_classes == 2 && score_.metric > Metric::balanced_error) {
      scratch.cells = {right[0], tested[0] - right[0], tested[1] - right[1], right[1]};
      scratch.predicted = {scratch.cells[0] + scratch.cells[2],
                           scratch.cells[1] + scratch.cells[3]};
      counts.predicted = scratch.predicted.data();
      if (needs_cells()) counts.cells = scratch.cells.data();
    }
    const double value = is_of_classes(score_.metric) ? score_of_classes(score_, counts, scratch)
                                                      : score_of_one_hot(score_, counts);
    out[s] = score_.sign * value;
  }
}

}  // namespace bitsieve
