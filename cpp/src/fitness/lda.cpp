#include "bitsieve/fitness/lda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/fitness/algebra.hpp"

namespace bitsieve {
namespace {

// Without shrinkage: condition numbers, and spreads within the classes beside the values, for which
// scikit-learn's answer still has most of its digits.
constexpr double most_covariance_condition = 1e9;
constexpr double least_within_spread = 0x1p-80;  // squared
constexpr double lda_rank_margin = 1e-4;      // of what scikit-learn measures itself

// Eigenvalues of a symmetric matrix of a few classes, by Jacobi rotations, in its diagonal.
void diagonalize_classes(std::vector<double>& a, std::size_t n) {
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0, diagonal = 0;
    for (std::size_t p = 0; p < n; ++p) {
      diagonal += a[p * n + p] * a[p * n + p];
      for (std::size_t q = p + 1; q < n; ++q) off += a[p * n + q] * a[p * n + q];
    }
    if (!(off > 1e-34 * diagonal)) return;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const double t = std::copysign(1.0, half) / (std::abs(half) + std::sqrt(half * half + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a[i * n + p], y = a[i * n + q];
          a[i * n + p] = c * x - s * y;
          a[i * n + q] = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a[p * n + i], y = a[q * n + i];
          a[p * n + i] = c * x - s * y;
          a[q * n + i] = s * x + c * y;
        }
      }
    }
  }
}

}  // namespace

struct LdaFitness::Own : MaskFitness::Worker {
  std::vector<std::int32_t> features;
  SolverMatrix matrix;
  std::unique_ptr<ScaledGram> scaled;
  FoldScales::Own scales;

  // Of a split: classes that it trains on, and its training samples class by class.
  std::vector<std::int32_t> present;
  std::vector<std::int32_t> train, tests;
  std::vector<std::size_t> begin;           // [n_present + 1] of train
  std::vector<double> prior, log_prior;     // [n_present]
  std::vector<double> weight;               // [n_present] root of the weight of a sample's square
  std::vector<double> scores;               // [n_tests][n_present]

  // On the samples.
  std::vector<double> class_means;          // [n_present][n_train + n_tests] of a row over a class
  std::vector<double> centre;               // [n_train + n_tests] of a row over the classes
  std::vector<double> products;             // [n_present][n_present] of the class means
  std::vector<double> mean_products;        // [n_present] with the mean of the class means
  AlignedVector<double> tests_by_train;     // [n_tests][n_train]

  // On the features.
  std::vector<double> amplitude;            // [k] largest value
  AlignedVector<double> values;             // [n_samples][ld]
  AlignedVector<double> means, mean, rows;  // [n_present][ld], [ld], [n_train][ld]
  AlignedVector<double> inverse, work;

  AlignedVector<double> system, diagonal, right, solved;
  std::vector<double> between;
};

LdaFitness::LdaFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                       LdaSettings settings, const ScalerOptions& scaler)
    : SolverFitness(std::move(table), std::move(target), std::move(source)),
      settings_(std::move(settings)),
      scales_(this->table(), scaler, FoldScales::Origin::middle) {
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
  columns_ = nullptr;
}

void LdaFitness::prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) {
  MaskFitness::prepare(batch, n_threads, costs);
  columns_ = &gram_.columns(n_threads);
  if (!scales_.is_none()) {
    const std::uint64_t* seeds = batch.seeds;
    if (shares_splits(batch)) {
      const TargetSplits at = splits_for(seeds[0], *workers(n_threads)[0]);
      scales_.prepare(batch.masks, batch.n_masks, &at, n_threads);
    } else {
      scales_.prepare(batch.masks, batch.n_masks, nullptr, n_threads);
    }
    return;
  }
  const bool any = std::any_of(costs.begin(), costs.end(), [&](std::size_t k) { return is_dual(k); });
  if (any && gram_.has_matrices()) gram_.plan(batch, n_threads, costs);
}

// Samples that train, class by class; false where scikit-learn refuses the training part.
bool LdaFitness::begin_split(const TargetSplits& at, std::size_t s, Own& own) const {
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes, n = table().view().n_samples;
  own.present.clear();
  own.train.clear();
  own.begin.assign(1, 0);
  for (auto* list : {&own.prior, &own.log_prior, &own.weight}) list->clear();
  own.tests.assign(splits.test_samples.begin() + splits.test_begin[s],
                   splits.test_samples.begin() + splits.test_begin[s + 1]);
  const double n_train = splits.n_train[s];
  for (std::size_t c = 0; c < n_classes; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      if (static_cast<std::size_t>(target().codes[i]) != c) continue;
      if (!get_bit(splits.training.data() + i * splits.n_words, s)) continue;
      own.train.push_back(static_cast<std::int32_t>(i));
    }
    if (own.train.size() == own.begin.back()) {
      if (!settings_.priors.empty()) return false;
      continue;
    }
    const auto size = static_cast<double>(own.train.size() - own.begin.back());
    const double prior = settings_.priors.empty() ? size / n_train : settings_.priors[c];
    own.present.push_back(static_cast<std::int32_t>(c));
    own.begin.push_back(own.train.size());
    own.prior.push_back(prior);
    own.log_prior.push_back(std::log(prior));
    own.weight.push_back(std::sqrt(settings_.svd ? 1 / n_train : prior / size));
  }
  return own.present.size() >= 2 && own.train.size() > own.present.size();
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
  for (std::size_t s = 0; s < n_splits; ++s) {
    check_interrupt();
    if (!begin_split(at, s, own)) return decline();
    if (settings_.shrinkage == 0 && k > own.train.size() - own.present.size()) return decline();
    bool is_solved = false;
    if (dual) {
      is_solved = solve_dual(is_scaled ? own.scaled->of(s) : own.matrix.gram.data(), ld, own);
    } else {
      if (is_scaled || s == 0) fill_values(is_scaled ? &view : nullptr, s, own);
      is_solved = solve_primal(own);
    }
    if (!is_solved || !answer_split(at, s, own, answer)) return decline();
  }
}

// ---- on the samples -------------------------------------------------------------------------

bool LdaFitness::solve_dual(const double* gram, std::size_t ld, Own& own) const {
  const std::size_t n_train = own.train.size(), n_tests = own.tests.size();
  const std::size_t n_present = own.present.size(), n_rows = n_train + n_tests;
  const std::size_t m = algebra_ld(n_train), ld_right = algebra_ld(n_present);
  own.system.resize(n_train * m);
  own.tests_by_train.resize(n_tests * m);
  own.class_means.resize(n_present * n_rows);
  own.centre.assign(n_rows, 0.0);
  for (std::size_t a = 0; a < n_rows; ++a) {
    const auto i = static_cast<std::size_t>(a < n_train ? own.train[a] : own.tests[a - n_train]);
    const double* from = gram + i * ld;
    double* row = a < n_train ? own.system.data() + a * m
                              : own.tests_by_train.data() + (a - n_train) * m;
    for (std::size_t b = 0; b < n_train; ++b) row[b] = from[own.train[b]];
    for (std::size_t c = 0; c < n_present; ++c) {
      double sum = 0;
      for (std::size_t b = own.begin[c]; b < own.begin[c + 1]; ++b) sum += row[b];
      const double mean = sum / static_cast<double>(own.begin[c + 1] - own.begin[c]);
      own.class_means[c * n_rows + a] = mean;
      own.centre[a] += own.prior[c] * mean;
    }
  }
  own.products.resize(n_present * n_present);
  own.mean_products.assign(n_present, 0.0);
  double mean_square = 0;
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t d = 0; d < n_present; ++d) {
      double sum = 0;
      for (std::size_t b = own.begin[c]; b < own.begin[c + 1]; ++b) {
        sum += own.class_means[d * n_rows + b];
      }
      own.products[c * n_present + d] = sum / static_cast<double>(own.begin[c + 1] - own.begin[c]);
      own.mean_products[c] += own.prior[d] * own.products[c * n_present + d];
    }
    mean_square += own.prior[c] * own.mean_products[c];
  }

  // (1 - s) Z Z' + d I, whose row a is of a sample less its class mean.
  const double share = 1 - settings_.shrinkage;
  double trace = 0;
  for (std::size_t c = 0; c < n_present; ++c) {
    const double* of_class = own.class_means.data() + c * n_rows;
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      double* row = own.system.data() + a * m;
      for (std::size_t d = 0; d < n_present; ++d) {
        const double factor = own.weight[c] * own.weight[d];
        const double shift = own.products[c * n_present + d] - own.class_means[d * n_rows + a];
        for (std::size_t b = own.begin[d]; b < own.begin[d + 1]; ++b) {
          row[b] = factor * (row[b] + (shift - of_class[b]));
        }
      }
      trace += row[a];
    }
  }
  const double ridge = settings_.shrinkage * trace / static_cast<double>(own.features.size());
  if (!(ridge > 0)) return false;
  for (std::size_t a = 0; a < n_train; ++a) {
    double* row = own.system.data() + a * m;
    for (std::size_t b = a; b < n_train; ++b) row[b] *= share;
    row[a] += ridge;
  }
  own.diagonal.resize(m);
  if (!std::isfinite(cholesky(own.system.data(), n_train, m, own.diagonal.data()))) return false;

  own.right.assign(n_train * ld_right, 0.0);
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      const double away = own.centre[a] - own.mean_products[c];
      for (std::size_t d = 0; d < n_present; ++d) {
        own.right[a * ld_right + d] =
            own.weight[c] *
            (own.class_means[d * n_rows + a] - own.products[c * n_present + d] - away);
      }
    }
  }
  own.solved = own.right;
  solve_symmetric(own.system.data(), own.diagonal.data(), n_train, m, own.solved.data(), ld_right,
                  ld_right);

  own.scores.resize(n_tests * n_present);
  std::vector<double>& offsets = own.between;
  offsets.assign(n_present, 0.0);
  for (std::size_t d = 0; d < n_present; ++d) {
    double seen = 0;
    for (std::size_t a = 0; a < n_train; ++a) {
      seen += own.right[a * ld_right + d] * own.solved[a * ld_right + d];
    }
    const double square =
        own.products[d * n_present + d] - 2 * own.mean_products[d] + mean_square;
    offsets[d] = own.log_prior[d] - 0.5 * (square - share * seen) / ridge;
  }
  for (std::size_t t = 0; t < n_tests; ++t) {
    double* row = own.tests_by_train.data() + t * m;
    double* scores = own.scores.data() + t * n_present;
    std::fill_n(scores, n_present, 0.0);
    for (std::size_t c = 0; c < n_present; ++c) {
      const double shift =
          own.mean_products[c] - own.class_means[c * n_rows + n_train + t];
      for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
        const double product = own.weight[c] * (row[a] + (shift - own.centre[a]));
        for (std::size_t d = 0; d < n_present; ++d) {
          scores[d] += product * own.solved[a * ld_right + d];
        }
      }
    }
    const double away = own.centre[n_train + t] - mean_square;
    for (std::size_t d = 0; d < n_present; ++d) {
      const double product =
          own.class_means[d * n_rows + n_train + t] - own.mean_products[d] - away;
      scores[d] = (product - share * scores[d]) / ridge + offsets[d];
    }
  }
  return true;
}

// ---- on the features ------------------------------------------------------------------------

void LdaFitness::fill_values(const ScaleView* scales, std::size_t s, Own& own) const {
  const std::size_t n = table().view().n_samples, ld_table = table().view().ld;
  const std::size_t k = own.features.size(), ld = algebra_ld(k);
  const double* doubles = table().doubles(1);
  own.values.resize(n * ld);
  own.amplitude.resize(k);
  for (std::size_t f = 0; f < k; ++f) {
    const auto feature = static_cast<std::size_t>(own.features[f]);
    const double* x = doubles + feature * ld_table;
    double origin = columns_->mean(feature), inverse = 1, most = 0;
    if (scales != nullptr) {
      const auto place = static_cast<std::size_t>(scales->place[f]);
      origin = scales->origin_of(s)[place];
      inverse = scales->inverse_of(s)[place];
    }
    for (std::size_t i = 0; i < n; ++i) {
      own.values[i * ld + f] = (x[i] - origin) * inverse;
      most = std::max(most, std::abs(x[i]));
    }
    own.amplitude[f] = most * std::abs(inverse);
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(own.values.begin() + static_cast<std::ptrdiff_t>(i * ld + k),
              own.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * ld), 0.0);
  }
}

bool LdaFitness::solve_primal(Own& own) const {
  const std::size_t n_train = own.train.size(), n_tests = own.tests.size();
  const std::size_t n_present = own.present.size(), k = own.features.size();
  const std::size_t ld = algebra_ld(k), ld_right = algebra_ld(n_present);
  own.means.assign(n_present * ld, 0.0);
  own.mean.assign(ld, 0.0);
  own.rows.resize(n_train * ld);
  for (std::size_t c = 0; c < n_present; ++c) {
    double* mean = own.means.data() + c * ld;
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      const double* x = own.values.data() + static_cast<std::size_t>(own.train[a]) * ld;
      for (std::size_t f = 0; f < ld; ++f) mean[f] += x[f];
    }
    const auto size = static_cast<double>(own.begin[c + 1] - own.begin[c]);
    for (std::size_t f = 0; f < ld; ++f) {
      mean[f] /= size;
      own.mean[f] += own.prior[c] * mean[f];
    }
    for (std::size_t a = own.begin[c]; a < own.begin[c + 1]; ++a) {
      const double* x = own.values.data() + static_cast<std::size_t>(own.train[a]) * ld;
      double* row = own.rows.data() + a * ld;
      for (std::size_t f = 0; f < ld; ++f) row[f] = own.weight[c] * (x[f] - mean[f]);
    }
  }
  own.system.resize(k * ld);
  multiply_self(own.rows.data(), n_train, k, ld, own.system.data());

  double trace = 0;
  for (std::size_t f = 0; f < k; ++f) trace += own.system[f * ld + f];
  if (settings_.shrinkage > 0) {
    const double share = 1 - settings_.shrinkage;
    const double ridge = settings_.shrinkage * trace / static_cast<double>(k);
    if (!(ridge > 0)) return false;
    for (std::size_t f = 0; f < k; ++f) {
      double* row = own.system.data() + f * ld;
      for (std::size_t g = 0; g < k; ++g) row[g] *= share;
      row[f] += ridge;
    }
  } else {
    for (std::size_t f = 0; f < k; ++f) {
      const double least = least_within_spread * own.amplitude[f] * own.amplitude[f];
      if (!(own.system[f * ld + f] > least)) return false;
    }
  }
  own.between.resize(k);
  for (std::size_t f = 0; f < k; ++f) own.between[f] = own.system[f * ld + f];
  own.diagonal.resize(ld);
  if (!std::isfinite(cholesky(own.system.data(), k, ld, own.diagonal.data()))) return false;
  if (settings_.shrinkage == 0 && !is_whole_rank(own)) return false;

  own.right.assign(k * ld_right, 0.0);
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t f = 0; f < k; ++f) {
      own.right[f * ld_right + c] = own.means[c * ld + f] - own.mean[f];
    }
  }
  own.solved = own.right;
  solve_symmetric(own.system.data(), own.diagonal.data(), k, ld, own.solved.data(), ld_right,
                  ld_right);
  own.between.assign(n_present * n_present, 0.0);
  for (std::size_t f = 0; f < k; ++f) {
    for (std::size_t c = 0; c < n_present; ++c) {
      for (std::size_t d = 0; d < n_present; ++d) {
        own.between[c * n_present + d] +=
            own.right[f * ld_right + c] * own.solved[f * ld_right + d];
      }
    }
  }
  std::vector<double> offsets(n_present);
  for (std::size_t c = 0; c < n_present; ++c) {
    offsets[c] = own.log_prior[c] - 0.5 * own.between[c * n_present + c];
  }
  own.scores.resize(n_tests * n_present);
  for (std::size_t t = 0; t < n_tests; ++t) {
    const double* x = own.values.data() + static_cast<std::size_t>(own.tests[t]) * ld;
    double* scores = own.scores.data() + t * n_present;
    std::fill_n(scores, n_present, 0.0);
    for (std::size_t f = 0; f < k; ++f) {
      const double apart = x[f] - own.mean[f];
      for (std::size_t c = 0; c < n_present; ++c) {
        scores[c] += apart * own.solved[f * ld_right + c];
      }
    }
    for (std::size_t c = 0; c < n_present; ++c) scores[c] += offsets[c];
  }
  if (!settings_.svd || n_present == 2) return true;

  // scikit-learn leaves out directions between the classes that are short beside the longest. One of
  // them is zero always.
  for (std::size_t c = 0; c < n_present; ++c) {
    for (std::size_t d = 0; d < n_present; ++d) {
      own.between[c * n_present + d] *= std::sqrt(own.prior[c] * own.prior[d]);
    }
  }
  diagonalize_classes(own.between, n_present);
  double most = 0;
  for (std::size_t c = 0; c < n_present; ++c) most = std::max(most, own.between[c * n_present + c]);
  if (!(most > 0)) return false;
  const double cut = settings_.tol * settings_.tol * (1 + lda_rank_margin);
  for (std::size_t c = 0; c < n_present; ++c) {
    const double ratio = own.between[c * n_present + c] / most;
    if (ratio > 1e-13 && ratio <= cut) return false;
  }
  return true;
}

// Whether scikit-learn, which looks at singular values, surely keeps them all. own.between holds the
// diagonal of the matrix of own.system.
bool LdaFitness::is_whole_rank(Own& own) const {
  const std::size_t k = own.features.size(), ld = algebra_ld(k);
  own.inverse.resize(k * ld);
  own.work.resize(k * ld);
  invert_symmetric(own.system.data(), own.diagonal.data(), k, ld, own.work.data(),
                   own.inverse.data());
  double trace = 0, inverse_trace = 0, scaled = 0;
  for (std::size_t f = 0; f < k; ++f) {
    trace += own.between[f];
    inverse_trace += own.inverse[f * ld + f];
    scaled += own.between[f] * own.inverse[f * ld + f];
  }
  if (!settings_.svd) return trace * inverse_trace < most_covariance_condition;
  // The eigenvalues of the matrix scaled to a unit diagonal are above one over this.
  const double cut = settings_.tol * settings_.tol * (1 + lda_rank_margin);
  return scaled * cut < 1 && scaled < most_covariance_condition;
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
