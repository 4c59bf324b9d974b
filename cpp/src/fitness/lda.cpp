#include "bitsieve/fitness/lda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "lda_worker.hpp"

namespace bitsieve {
LdaFitness::LdaFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                       LdaSettings settings, const ScalerOptions& scaler)
    : SolverFitness(std::move(table), std::move(target), std::move(source)),
      settings_(std::move(settings)),
      scales_(this->table(), scaler, FoldScales::Origin::middle),
      moments_(this->table(), this->target()) {
  require_classes();
  if (!kernels().has_fma) {
    throw std::invalid_argument("the instruction set has no fused multiply-add");
  }
}

std::unique_ptr<MaskFitness::Worker> LdaFitness::make_worker() const {
  auto own = std::make_unique<Own>();
  own->scaled = std::make_unique<ScaledGram>(table());
  return own;
}

void LdaFitness::forget_states() {
  SolverFitness::forget_states();
  scales_.forget();
  moments_.forget();
  leave_behind(amplitudes_);
  columns_ = nullptr;
}

void LdaFitness::prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) {
  MaskFitness::prepare(batch, n_threads, costs);
  columns_ = &gram_.columns(n_threads);
  if (batch.n_masks == 0) return;
  const TargetSplits at = splits_for(batch.seeds[0], *workers(n_threads)[0]);
  const TargetSplits* shared = shares_splits(batch) ? &at : nullptr;
  const auto by_moments = [&](std::size_t m) {
    const std::size_t k = count_bits(batch.masks + m * n_words(), n_words());
    return is_by_moments(k, at.splits);
  };
  bool moments = false;
  for (std::size_t m = 0; m < batch.n_masks && !moments; ++m) moments = by_moments(m);
  if (moments) {
    measure_amplitudes(n_threads);
    moments_.prepare(batch.masks, batch.n_masks, shared, n_threads);
  }
  if (!scales_.is_none()) {
    scales_.prepare(batch.masks, batch.n_masks, shared, n_threads);
    return;
  }
  const bool any = std::any_of(costs.begin(), costs.end(), [&](std::size_t k) { return is_dual(k); });
  if (any && gram_.has_matrices()) gram_.plan(batch, n_threads, costs);
}

// What a split trains on, class by class; false where scikit-learn refuses the training part.
bool LdaFitness::begin_split(const TargetSplits& at, std::size_t s, Own& own) const {
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes;
  own.present.clear();
  own.begin.assign(1, 0);
  for (auto* list : {&own.prior, &own.log_prior, &own.weight}) list->clear();
  own.tests.assign(splits.test_samples.begin() + splits.test_begin[s],
                   splits.test_samples.begin() + splits.test_begin[s + 1]);
  const double n_train = splits.n_train[s];
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::int32_t count = at.target.train_of_class[s * n_classes + c];
    if (count == 0) {
      if (!settings_.priors.empty()) return false;
      continue;
    }
    const double size = count;
    const double prior = settings_.priors.empty() ? size / n_train : settings_.priors[c];
    own.present.push_back(static_cast<std::int32_t>(c));
    own.begin.push_back(own.begin.back() + static_cast<std::size_t>(count));
    own.prior.push_back(prior);
    own.log_prior.push_back(std::log(prior));
    own.weight.push_back(std::sqrt(settings_.svd ? 1 / n_train : prior / size));
  }
  return own.present.size() >= 2 && own.begin.back() > own.present.size();
}

void LdaFitness::list_training(const TargetSplits& at, std::size_t s, Own& own) const {
  const Splits& splits = at.splits;
  std::vector<std::size_t> next(target().n_classes);
  for (std::size_t c = 0; c < own.present.size(); ++c) {
    next[static_cast<std::size_t>(own.present[c])] = own.begin[c];
  }
  own.train.resize(own.begin.back());
  for (std::size_t i = 0; i < table().view().n_samples; ++i) {
    if (!get_bit(splits.training.data() + i * splits.n_words, s)) continue;
    own.train[next[static_cast<std::size_t>(target().codes[i])]++] = static_cast<std::int32_t>(i);
  }
}

void LdaFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                         int n_threads, Worker& worker, const Answer& answer) {
  Own& own = static_cast<Own&>(worker);
  const std::size_t n_splits = at.splits.n_splits;
  list_bits(masks + index * n_words(), n_words(), own.features);
  const std::size_t k = own.features.size(), ld = table().view().ld;
  const bool dual = is_dual(k);
  const auto decline = [&] {
    if (answer.declined != nullptr) *answer.declined = true;
  };
  if (dual && !gram_.has_matrices()) return decline();
  ScaleView view{};
  const bool is_scaled = !scales_.is_none();
  if (is_scaled) view = scales_.view(own.features, at, own.scales, n_threads);
  if (dual && is_scaled) own.scaled->begin(own.features, view, n_splits, n_threads);
  if (dual && !is_scaled) gram_.make(masks, index, n_threads, own.matrix);
  const bool by_moments = is_by_moments(k, at.splits);
  const MaskMoments* moments =
      by_moments ? &moments_.make(masks + index * n_words(), at, n_threads, own.moments) : nullptr;
  bool is_filled = false;
  for (std::size_t s = 0; s < n_splits; ++s) {
    check_interrupt();
    if (!begin_split(at, s, own)) return decline();
    if (settings_.shrinkage == 0 && k > own.begin.back() - own.present.size()) return decline();
    bool is_solved = false;
    if (!by_moments) list_training(at, s, own);
    if (dual) {
      is_solved = solve_dual(is_scaled ? own.scaled->of(s) : own.matrix.gram.data(), ld, own);
    } else {
      const ScaleView* scales = is_scaled ? &view : nullptr;
      const Solved by = by_moments ? solve_moments(*moments, scales, s, own) : Solved::lost;
      is_solved = by == Solved::yes;
      if (by == Solved::lost) {
        if (is_scaled || !is_filled) fill_values(scales, s, own);
        is_filled = true;
        if (by_moments) list_training(at, s, own);
        is_solved = solve_primal(own);
      }
    }
    if (!is_solved || !answer_split(at, s, own, answer)) return decline();
  }
}

// ---- what is said of it ---------------------------------------------------------------------

bool LdaFitness::answer_split(const TargetSplits& at, std::size_t s, const Own& own,
                              const Answer& answer) const {
  const std::size_t n_present = own.present.size(), n_classes = target().n_classes;
  const bool is_pair = n_present == 2;
  for (std::size_t k = 0; k < own.tests.size(); ++k) {
    const std::size_t t = static_cast<std::size_t>(at.splits.test_begin[s]) + k;
    const double* scores = own.scores.data() + k * n_present;
    for (std::size_t c = 0; c < n_present; ++c) {
      if (!std::isfinite(scores[c])) return false;
    }
    if (answer.classes != nullptr) {
      answer.classes[t] = own.present[static_cast<std::size_t>(
          std::max_element(scores, scores + n_present) - scores)];
    }
    if (answer.values == nullptr) continue;
    double* values = answer.values + t * n_values();
    if (n_values() == 1) {
      values[0] = scores[1] - scores[0];
      continue;
    }
    const bool is_proba = settings_.kind == Outputs::Kind::probabilities;
    std::fill_n(values, n_classes,
                is_proba ? 0.0 : -std::numeric_limits<double>::infinity());
    if (!is_proba) {
      for (std::size_t c = 0; c < n_present; ++c) values[own.present[c]] = scores[c];
    } else if (is_pair) {
      const double decision = scores[1] - scores[0];
      const double second = decision >= 0 ? 1 / (1 + std::exp(-decision))
                                          : std::exp(decision) / (1 + std::exp(decision));
      values[own.present[0]] = 1 - second;
      values[own.present[1]] = second;
    } else {
      const double most = *std::max_element(scores, scores + n_present);
      double total = 0;
      for (std::size_t c = 0; c < n_present; ++c) total += std::exp(scores[c] - most);
      for (std::size_t c = 0; c < n_present; ++c) {
        values[own.present[c]] = std::exp(scores[c] - most) / total;
      }
    }
  }
  return true;
}

}  // namespace bitsieve
