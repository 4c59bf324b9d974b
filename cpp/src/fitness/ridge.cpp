// Which way a mask goes, and what its predictions say; the solves are in ridge_dual.cpp,
// ridge_primal.cpp and ridge_moments.cpp.
#include "bitsieve/fitness/ridge.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "ridge_worker.hpp"

namespace bitsieve {

double ridge_detail::trace_of_inverse(const double* u, const double* inverse_diagonal,
                                      std::size_t n, std::size_t ld, const double* weights,
                                      double* work) {
  std::fill_n(work, n * ld, 0.0);
  for (std::size_t i = 0; i < n; ++i) work[i * ld + i] = 1;
  solve_lower(u, inverse_diagonal, n, ld, work, ld, ld);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = work[i * ld + j];
      trace += (weights == nullptr ? 1.0 : weights[j]) * value * value;
    }
  }
  return trace;
}

RidgeFitness::RidgeFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                           const RidgeSettings& settings)
    : SolverFitness(std::move(table), std::move(target), std::move(source)),
      settings_(settings),
      // Where the kernel does not see a shift, values are measured from amid those of a part.
      scales_(this->table(), settings.scaler,
              settings.fit_intercept || settings.kernel == RidgeSettings::Kernel::rbf
                  ? FoldScales::Origin::middle
                  : FoldScales::Origin::center),
      moments_(this->table(), this->target()),
      n_targets_(this->target().n_classes > 2 ? this->target().n_classes : 1),
      ld_targets_(algebra_ld(n_targets_)) {
  if (!kernels().has_fma) {
    throw std::invalid_argument("the instruction set has no fused multiply-add");
  }
  if ((settings_.balanced || !settings_.class_weights.empty()) && !this->target().is_classes()) {
    throw std::invalid_argument("numbers have no classes to weigh");
  }
  if (!settings_.class_weights.empty() &&
      settings_.class_weights.size() != this->target().n_classes) {
    throw std::invalid_argument("class_weights must have one value a class");
  }
  if (!gram_.has_matrices() && settings_.kernel != RidgeSettings::Kernel::linear) {
    throw std::invalid_argument("there are too many samples");
  }
}

std::unique_ptr<MaskFitness::Worker> RidgeFitness::make_worker() const {
  return std::make_unique<Own>(table());
}

// ---- ways -----------------------------------------------------------------------------------

bool RidgeFitness::is_primal(std::size_t k, std::size_t n_train) const {
  if (settings_.kernel != RidgeSettings::Kernel::linear) return false;
  if (!gram_.has_matrices()) return true;
  const std::size_t n = table().view().n_samples;
  // Without a penalty features have one solution, or samples have.
  if (settings_.alpha == 0) return k + (settings_.fit_intercept ? 1 : 0) <= n_train;
  return k < n;
}

// Whether a batch is planned for matrices of such masks. Without a penalty that depends on the size of
// training parts, which of fresh folds is known at the mask alone: half of the samples is surely less.
bool RidgeFitness::takes_matrix(std::size_t k) const {
  if (!gram_.has_matrices()) return false;
  if (settings_.alpha > 0) return !is_primal(k, 0);
  if (!settings_.least_norm) return false;
  std::size_t least = table().view().n_samples / 2;
  if (source().is_fixed()) {
    const std::vector<std::int32_t>& sizes = source().fixed().n_train;
    least = static_cast<std::size_t>(*std::min_element(sizes.begin(), sizes.end()));
  }
  const std::vector<double>& weights = target().weights;
  const auto zeros = std::count(weights.begin(), weights.end(), 0.0);
  return k + static_cast<std::size_t>(zeros) + (settings_.fit_intercept ? 1 : 0) > least;
}

RidgeFitness::Way RidgeFitness::way_of(std::size_t k, const RidgePlan& plan) const {
  const double n = static_cast<double>(table().view().n_samples), m = static_cast<double>(k);
  if (plan.least_train == 0) return Way::declined;
  if (settings_.alpha == 0) {
    const bool is_short = !is_primal(k, plan.least_train);
    if (is_short && (!settings_.least_norm || !takes_matrix(k))) return Way::declined;
    // All samples together need not be independent where those of a training part are, as without
    // an intercept those of a centred table are not.
    if (is_short && (!settings_.fit_intercept || m + 1 < n)) return Way::dual_each;
  }
  if (is_primal(k, plan.least_train)) {
    const double each = (plan.n_train * m * m) / 2 + static_cast<double>(plan.n_splits()) * m * m * m / 6;
    const double at_once = n * m * m + m * m * m / 6 + std::min(n * n, plan.square_left) * m / 2 +
                           plan.cube_left / 6;
    const bool is_each = plan.varies || !gram_.has_matrices() || each < at_once;
    if (takes_moments(plan) && moments_.fits(k, plan.n_splits()) &&
        cost_of_moments(k, plan) < (is_each ? each : at_once)) {
      return Way::moments;
    }
    return is_each ? Way::primal_each : Way::primal;
  }
  const bool each = plan.cube_train / 6 < n * n * n / 2 + plan.cube_left / 6;
  return plan.varies || each ? Way::dual_each : Way::dual;
}

void RidgeFitness::prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) {
  if (batch.n_masks == 0) return;
  const bool shared = shares_splits(batch);
  Own& first = static_cast<Own&>(*workers(n_threads)[0]);
  const TargetSplits at = splits_for(batch.seeds[0], first);
  if (!scales_.is_none()) {
    columns_ = &gram_.columns(n_threads);  // before threads ask
    scales_.prepare(batch.masks, batch.n_masks, shared ? &at : nullptr, n_threads);
  }
  const RidgePlan& plan = plan_for(at, first);
  bool any = false, columns = !shared, moments = !shared;  // other splits may go other ways
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    const std::size_t k = count_bits(batch.masks + m * n_words(), n_words());
    if (k == 0) continue;
    const Way way = way_of(k, plan);
    any = any || way == Way::dual || way == Way::dual_each ||
          (!shared && takes_matrix(k));
    (way == Way::moments ? moments : columns) = true;
  }
  if (moments) moments_.prepare(batch.masks, batch.n_masks, shared ? &at : nullptr, n_threads);
  if (columns || any) columns_ = &gram_.columns(n_threads);  // before threads ask
  if (any && scales_.is_none()) {
    gram_.plan(batch, n_threads, costs);
  } else {
    MaskFitness::prepare(batch, n_threads, costs);
  }
}

void RidgeFitness::forget_states() {
  SolverFitness::forget_states();
  scales_.forget();
  moments_.forget();
}

// ---- targets --------------------------------------------------------------------------------

const RidgePlan& RidgeFitness::plan_for(const TargetSplits& at, Own& own) const {
  if (!own.plan.is_known || own.plan.seed != at.seed) {
    own.plan = RidgePlan(at, target(), settings_.class_weights, settings_.balanced);
    prepare_targets(own.plan, own);
  }
  return own.plan;
}

void RidgeFitness::prepare_targets(const RidgePlan& plan, Own& own) const {
  const std::size_t n = table().view().n_samples;
  own.targets.assign(n * ld_targets_, 0.0);
  own.middle = 0;
  if (target().is_classes()) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t code = static_cast<std::size_t>(target().codes[i]);
      for (std::size_t c = 0; c < n_targets_; ++c) {
        const std::size_t positive = n_targets_ == 1 ? 1 : c;
        own.targets[i * ld_targets_ + c] = code == positive ? 1 : -1;
      }
    }
  } else {
    // An intercept takes any constant up: less of it, more digits are left.
    if (settings_.fit_intercept) {
      for (const double y : target().numbers) own.middle += y;
      own.middle /= static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      own.targets[i * ld_targets_] = target().numbers[i] - own.middle;
    }
  }
  std::size_t n_tests = 0;
  for (const std::size_t tests : plan.n_tests) n_tests += tests;
  own.predicted.assign(n_tests * ld_targets_, 0.0);
}

// ---- answers --------------------------------------------------------------------------------

void RidgeFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                           int n_threads, Worker& worker, const Answer& answer) {
  Own& own = static_cast<Own&>(worker);
  const Word* mask = masks + index * n_words();
  list_bits(mask, n_words(), own.features);
  const std::size_t k = own.features.size();
  const RidgePlan& plan = plan_for(at, own);
  Way way = way_of(k, plan);
  bool fine = false;
  if (!scales_.is_none()) {
    fine = way != Way::declined && solve_scaled(mask, at, plan, way, n_threads, own);
  } else if (way == Way::moments) {
    fine = solve_moments(plan, moments_.make(mask, at, n_threads, own.moments), nullptr, own);
  } else if (way == Way::primal || way == Way::primal_each) {
    gather_columns(own);
    fine = way == Way::primal ? solve_primal(plan, own) : solve_primal_each(plan, own);
  } else if (way != Way::declined) {
    gram_.make(masks, index, n_threads, own.matrix);
    own.trace = make_kernel(mask, k, own);
    const double n = static_cast<double>(table().view().n_samples);
    // NaN and infinity, of values whose products overflow, are neither.
    if (std::isfinite(own.trace)) {
      const bool is_small = own.trace < ridge_detail::least_share * settings_.alpha * n;
      fine = way == Way::dual && !is_small ? solve_dual(plan, own) : solve_dual_each(plan, own);
    }
  }
  if (!fine) {
    *answer.declined = true;
    return;
  }
  answer_all(at, own, answer);
}

// A class that a training part lacks is never predicted. Of two classes there is one value, and of
// one class alone it is -1, as scikit-learn has it.
void RidgeFitness::answer_all(const TargetSplits& at, const Own& own, const Answer& answer) const {
  const std::size_t n_classes = target().n_classes;
  std::size_t t = 0;
  std::vector<std::size_t> trained;
  for (std::size_t s = 0; s < at.splits.n_splits; ++s) {
    trained.clear();
    for (std::size_t c = 0; c < n_classes; ++c) {
      if (at.target.train_of_class[s * n_classes + c] > 0) trained.push_back(c);
    }
    for (std::size_t row = 0; row < own.plan.n_tests[s]; ++row, ++t) {
      const double* f = own.predicted.data() + t * ld_targets_;
      double* values = answer.values == nullptr ? nullptr : answer.values + t * n_targets_;
      if (n_classes == 0) {
        if (values != nullptr) values[0] = own.middle + f[0];
        continue;
      }
      std::size_t best = trained.front();
      if (values != nullptr) std::fill_n(values, n_targets_, -1.0);
      if (trained.size() == 2) {
        const double value = n_targets_ == 1 ? f[0] : f[trained[1]];
        best = value > 0 ? trained[1] : trained[0];
        if (values != nullptr && n_targets_ > 1) values[trained[0]] = 0;
        if (values != nullptr) values[n_targets_ == 1 ? 0 : trained[1]] = value;
      } else if (trained.size() > 2) {
        for (const std::size_t c : trained) {
          if (f[c] > f[best]) best = c;
          if (values != nullptr) values[c] = f[c];
        }
      }
      if (answer.classes != nullptr) answer.classes[t] = static_cast<std::int32_t>(best);
    }
  }
}

}  // namespace bitsieve
