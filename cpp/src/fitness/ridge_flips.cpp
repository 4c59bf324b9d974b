// All one-flip neighbors of a mask in one pass, 16 features side by side.
//
// A feature x that joins or leaves (sign 1 or -1) adds sign xx' to the kernel matrix. With M the
// bordered inverse of the base mask, S = (M_LL)^-1, u = M x, v = S u_L, and r_L = S (M y)_L what is
// left of the samples L that are left out, Sherman and Morrison's formula says that
//   r_L - sign * v * e / d  is left then, where  e = x'M y - u_L'r_L,  d = 1 + sign (x'u - u_L'v).
// A solver has no exact re-check. What takes its place: a bound for the rounding of both this and
// the way by which the neighbor alone would be answered, from the condition number of its matrix.
// Classes of which all samples are further apart than the bound are the same either way, and scores
// of classes have the same bits; any other neighbor is answered alone. Values are not compared so:
// scores that read them take no short way.
#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "ridge_flips.hpp"

namespace bitsieve {
namespace ridge_detail {

// The condition number up to which neither this nor the other way can find a matrix too near
// singular: each of its tests is below most_inflation then.
constexpr double most_condition = 1e5;

}  // namespace ridge_detail

bool RidgeFitness::flips_from_samples(const Word* base, int n_threads, Flips& common, Own& own) {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t ld = common.ld, k = count_bits(base, n_words());
  own.trace = 0;
  if (k > 0) {
    gram_.make_one(base, n_threads, own.matrix);
    own.trace = make_kernel(base, k, own);
  } else {
    own.matrix.gram.assign(ld * ld, 0.0);
  }
  double penalties = 0, least = settings_.alpha;
  for (const double weight : plan.weights) {
    penalties += settings_.alpha / weight;
    least = std::min(least, settings_.alpha / weight);
  }
  common.on_features = false;
  common.start = 1;
  common.unit = 1 / least;
  common.condition = 2 * (own.trace + penalties) / least;
  return common.condition <= most_condition && invert_dual(plan, own);
}

bool RidgeFitness::flips_from_features(const Word* base, Flips& common, Own& own) const {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t n = common.n, ld = common.ld;
  list_bits(base, n_words(), own.features);
  const std::size_t k = own.features.size(), ld_k = algebra_ld(k);
  gather_columns(own);
  if (!factor_primal(plan, own)) return false;
  common.on_features = true;
  common.is_closed = way_of(k + 1, plan) == Way::primal;
  common.start = settings_.alpha;
  common.unit = *std::max_element(plan.weights.begin(), plan.weights.end());
  // The sum of the inflations of all features bounds the condition number but for their number.
  common.condition = 1 + trace_of_inverse(own.a.data(), own.inverse_diagonal.data(), k, ld_k,
                                          own.right.data(), grow(own.work, k * ld_k));
  if (!(common.condition <= most_condition)) return false;
  common.inflation = 1;
  for (std::size_t f = 0; f < k; ++f) {
    double diagonal = 0;
    for (std::size_t i = f; i < k; ++i) {
      const double value = own.work[i * ld_k + f];
      diagonal += value * value;
    }
    common.inflation = std::max(common.inflation, own.right[f] * diagonal);
  }
  project_primal(plan, own);
  double* inverse = grow(own.inverse, n * ld);
  if (k > 0) {
    multiply_self(own.columns.data(), k, n, ld, inverse);
  } else {
    std::fill_n(inverse, n * ld, 0.0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse + i * ld;
    const double share = settings_.fit_intercept ? plan.weights[i] / own.total : 0;
    for (std::size_t j = 0; j < n; ++j) row[j] = -row[j] - share * plan.weights[j];
    std::fill(row + n, row + ld, 0.0);
    row[i] += plan.weights[i];
  }
  return true;
}

bool RidgeFitness::prepare_flips(const Word* base, const TargetSplits& at, int n_threads,
                                 Flips& common, Own& own) {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t ld = common.ld, k = count_bits(base, n_words());
  // On samples where the penalty alone keeps them well apart, else on features; there a feature that
  // leaves is a difference without digits, and stays open. A feature more must not be too many: the
  // bound knows nothing of how samples would answer that mask, or decline.
  if (!flips_from_samples(base, n_threads, common, own) &&
      !(is_primal(k + 1, plan.least_train) && flips_from_features(base, common, own))) {
    return false;
  }
  common.inverse = own.inverse.data();
  common.products = own.products.data();
  common.begin = {0};
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    common.begin.push_back(common.begin.back() + plan.n_left(s) * algebra_ld(plan.n_left(s)));
  }
  common.blocks.assign(common.begin.back(), 0.0);
  common.residuals.assign(plan.left.size() * ld_targets_, 0.0);
  start_flips(at, common);
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    const std::size_t l = plan.n_left(s), ld_block = algebra_ld(l);
    gather_block(left, l, common.inverse, ld, common.products, own);
    double* diagonal = grow(own.block_diagonal, ld_block);
    if (!(cholesky(own.block.data(), l, ld_block, diagonal) <= most_inflation)) return false;
    invert_symmetric(own.block.data(), diagonal, l, ld_block, grow(own.work, l * ld_block),
                     common.blocks.data() + common.begin[s]);
    solve_symmetric(own.block.data(), diagonal, l, ld_block, own.right.data(), ld_targets_,
                    ld_targets_);
    std::copy_n(own.right.data(), l * ld_targets_,
                common.residuals.data() + plan.left_begin[s] * ld_targets_);
    common.most_block.push_back(0);
    for (std::size_t i = 0; i < l; ++i) {
      const double* row = common.blocks.data() + common.begin[s] + i * ld_block;
      double sum = 0;
      for (std::size_t j = 0; j < l; ++j) sum += std::abs(row[j]);
      common.most_block.back() = std::max(common.most_block.back(), sum);
    }
    for (std::size_t t = 0; t < plan.n_tests[s]; ++t) {
      const double* y = own.targets.data() + static_cast<std::size_t>(left[t]) * ld_targets_;
      const double* r = own.right.data() + t * ld_targets_;
      double* fitted = common.fitted.data() + (plan.test_begin[s] + t) * ld_targets_;
      for (std::size_t c = 0; c < n_targets_; ++c) fitted[c] = y[c] - r[c];
    }
  }
  return true;
}

void RidgeFitness::flip_block(const Flips& common, const Word* base, const std::int64_t* flips,
                              std::size_t count, const TargetSplits& at, const Scorer& scorer,
                              FlipScratch& own, double* scores, char* open) const {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const AlgebraKernels& kernel = *kernels().algebra;
  const std::size_t n = common.n, ld = common.ld, n_targets = n_targets_;
  double* x = grow(own.x, n * lanes);
  double* u = grow(own.u, n * lanes);
  double* v = grow(own.moved, plan.most_left * lanes);
  double* change = grow(own.change, n_targets * lanes);  // sign * e / d
  double* slack = grow(own.slack, n_targets * lanes);    // the bound is slack * |v| + base
  // Columns side by side; what is past the last is zero.
  double* column = grow(own.left, std::max(plan.most_left * lanes, table().view().ld));
  double* left_u = column;
  std::fill_n(x, n * lanes, 0.0);
  alignas(64) Lanes sign, condition, most_x, squares{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    sign[lane] = 1;
    condition[lane] = common.condition;
    most_x[lane] = 0;
    if (lane >= count) continue;
    const std::size_t f = static_cast<std::size_t>(flips[lane]);
    if (get_bit(base, f)) sign[lane] = -1;
    const double* values;
    if (settings_.fit_intercept) {
      columns_->copy(f, column);
      values = column;
    } else {
      values = table().doubles(1) + f * table().view().ld;
    }
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i * lanes + lane] = values[i];
      square += values[i] * values[i];
      most_x[lane] = std::max(most_x[lane], std::abs(values[i]));
    }
    if (sign[lane] > 0) squares[lane] = square * common.unit;
  }
  std::fill_n(u, n * lanes, 0.0);
  kernel.add_products({common.inverse, 1, ld}, x, lanes, n, n, lanes, 1.0, u, lanes);
  alignas(64) Lanes whole{};  // x'Mx
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t lane = 0; lane < lanes; ++lane) whole[lane] += x[i * lanes + lane] * u[i * lanes + lane];
  }
  // x'My, and the sum of its magnitudes.
  double* along = grow(own.along, 2 * n_targets * lanes);
  double* size = along + n_targets * lanes;
  std::fill_n(along, 2 * n_targets * lanes, 0.0);
  for (std::size_t c = 0; c < n_targets; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      const double product = common.products[i * ld_targets_ + c];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = x[i * lanes + lane] * product;
        along[c * lanes + lane] += value;
        size[c * lanes + lane] += std::abs(value);
      }
    }
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    // A feature inflates those before it by no more than itself.
    condition[lane] = common.on_features
                          ? condition[lane] * (2 + (common.start + squares[lane]) /
                                                       (common.start + whole[lane]))
                          : condition[lane] + 2 * squares[lane];
  }
  // One rounding is this beside numbers of size 1, for sums over n of them; a matrix of samples may be
  // made of integers, which are of its least diagonal element to this.
  const double rounding =
      8 * static_cast<double>(n) * 0x1p-53 + (common.on_features ? 0 : solver_precision);
  alignas(64) Lanes unsure{};  // above zero where a class is open
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const bool is_difference = common.on_features && sign[lane] < 0;
    const double most = common.on_features ? most_inflation / 2 : most_condition;
    unsure[lane] = condition[lane] <= most && !is_difference ? 0 : 1;
  }
  own.codes.resize(at.splits.test_samples.size() * lanes);
  std::int32_t* codes = own.codes.data();
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    const std::int32_t* left = plan.left.data() + plan.left_begin[s];
    const std::size_t l = plan.n_left(s), n_tests = plan.n_tests[s];
    const double* r = common.residuals.data() + plan.left_begin[s] * ld_targets_;
    for (std::size_t i = 0; i < l; ++i) {
      std::copy_n(u + static_cast<std::size_t>(left[i]) * lanes, lanes, left_u + i * lanes);
    }
    std::fill_n(v, l * lanes, 0.0);
    kernel.add_products({common.blocks.data() + common.begin[s], 1, algebra_ld(l)}, left_u, lanes, l,
                        l, lanes, 1.0, v, lanes);
    alignas(64) Lanes d, most_v{};
    for (std::size_t lane = 0; lane < lanes; ++lane) d[lane] = whole[lane];
    for (std::size_t i = 0; i < l * lanes; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        d[lane] -= left_u[i + lane] * v[i + lane];
        most_v[lane] = std::max(most_v[lane], std::abs(v[i + lane]));
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) d[lane] = common.start + sign[lane] * d[lane];
    alignas(64) Lanes epsilon;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double inflated = condition[lane];
      if (common.on_features) {
        // What training parts inflate more than all samples do: by the diagonal of (M_LL)^-1.
        double block = 0;
        for (std::size_t i = 0; i < l; ++i) block += v[i * lanes + lane] * v[i * lanes + lane];
        block = std::max(common.unit * (common.most_block[s] + block / d[lane]), 1.0);
        // One inverse for all splits is looked at apart from the blocks of the splits.
        const double feature = inflated * common.inflation / common.condition;
        const double seen = common.is_closed ? std::max(feature, block) : feature * block;
        if (!(seen <= 0.9 * most_inflation)) unsure[lane] = 1;
        inflated *= block;
      }
      epsilon[lane] = rounding * inflated;
      // A quotient whose divisor is rounding alone says nothing.
      if (!(d[lane] > 4 * epsilon[lane] * (common.start + whole[lane]))) unsure[lane] = 1;
    }
    alignas(64) Lanes steady{};  // of the bound, whatever the sample
    for (std::size_t c = 0; c < n_targets; ++c) {
      alignas(64) Lanes e, sum;
      std::copy_n(along + c * lanes, lanes, e);
      std::copy_n(size + c * lanes, lanes, sum);
      for (std::size_t i = 0; i < l; ++i) {
        const double residual = r[i * ld_targets_ + c];
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const double value = left_u[i * lanes + lane] * residual;
          e[lane] -= value;
          sum[lane] += std::abs(value);
        }
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double share = std::abs(e[lane]) / d[lane];
        change[c * lanes + lane] = sign[lane] * e[lane] / d[lane];
        slack[c * lanes + lane] =
            epsilon[lane] *
            (sum[lane] + static_cast<double>(n) * most_x[lane] * common.unit +
             share * (common.start + whole[lane])) / d[lane];
        steady[lane] = std::max(steady[lane], epsilon[lane] * (1 + (most_x[lane] + most_v[lane]) * share));
      }
    }
    decide(common, s, v, change, slack, steady, codes, unsure);
    codes += n_tests * lanes;
  }
  score_flips(common, count, at, scorer, unsure, own, scores, open);
}

}  // namespace bitsieve
