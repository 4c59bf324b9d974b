// All one-flip neighbors of a mask in one pass where each training part has a system of its own, by
// its weights or its scales: 16 features side by side, one split after the other.
//
// Of one split, Z are the base's columns less their weighted means, W the weights, A = Z'WZ + alpha I
// = U'U, r what the base leaves of the targets. A feature that joins has the column x, which is
// scaled by g and measured from c (its own weighted mean, or the scaler's center without an
// intercept). With p = U^-T Z'W (x - c), h = U^-1 p and, of a test sample, v = x_t - c - z_t'h, its
// value is that of the base and
//   v * e / d  more, where  e = r'W (x - c),  d = alpha / g^2 + (x - c)'W (x - c) - p'p.
// Features that leave are differences without digits: they stay open.
//
// As in ridge_flips.cpp a bound for the rounding of this and of the other way takes the place of a
// re-check. With the diagonal of A scaled to 1, both solve a system whose elements have errors of at
// most `rounding` (sums over the samples, and over the features of a factorisation); K, the sum of
// the inflations of all features, is above the norm of its inverse. A solution b is then wrong by
// K * rounding * (q |b| + sqrt(q) |y|) of q features, and so are, step by step, e, d and v.
#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "ridge_flips.hpp"

namespace bitsieve {
namespace ridge_detail {

constexpr double most_doubt = 0.1;     // share of a system that its errors may be
constexpr double most_rows = 1u << 25;  // numbers kept of all splits: 256 MiB

}  // namespace ridge_detail

bool RidgeFitness::prepare_fold_flips(const Word* base, const std::int64_t* flips,
                                      std::size_t n_masks, const TargetSplits& at, int n_threads,
                                      FoldFlips& common, Own& own) {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const std::size_t n = table().view().n_samples, k = count_bits(base, n_words());
  std::size_t joining = 0;
  for (std::size_t m = 0; m < n_masks; ++m) joining += !get_bit(base, static_cast<std::size_t>(flips[m]));
  if (joining < fewest_flips) return false;
  const Way way = way_of(k + 1, plan);
  if (way != Way::moments && way != Way::primal && way != Way::primal_each) return false;
  // Of many samples kept moments are as soon.
  if (way == Way::moments && !gram_.has_matrices()) return false;
  common.k = k;
  common.ld_k = algebra_ld(k);
  common.ld_rows = algebra_ld(k + n_targets_);
  common.ld_splits = algebra_ld(plan.n_splits());
  const double rows = static_cast<double>(n * plan.n_splits()) * static_cast<double>(common.ld_rows);
  if (rows > most_rows) return false;
  start_flips(at, common);
  if (!scales_.is_none()) {
    std::vector<Word> all(base, base + n_words());
    for (std::size_t m = 0; m < n_masks; ++m) set_bit(all.data(), static_cast<std::size_t>(flips[m]));
    scales_.prepare(all.data(), 1, &at, n_threads);
  }
  if (!settings_.fit_intercept) table().doubles(n_threads);  // before threads ask
  list_bits(base, n_words(), own.features);
  ScaleView view{};
  if (!scales_.is_none()) view = scales_.view(own.features, at, own.scales, n_threads);
  common.weights.assign(n * common.ld_splits, 0.0);
  common.folds.resize(plan.n_splits());
  for (std::size_t s = 0; s < plan.n_splits(); ++s) {
    check_interrupt();
    for (std::size_t i = plan.train_begin[s]; i < plan.train_begin[s + 1]; ++i) {
      const std::size_t sample = static_cast<std::size_t>(plan.train[i]);
      common.weights[sample * common.ld_splits + s] = plan.weight(sample, s);
    }
    if (!prepare_fold(s, scales_.is_none() ? nullptr : &view, common, own)) return false;
  }
  return true;
}

// The base mask in one split; false where it is too near singular.
bool RidgeFitness::prepare_fold(std::size_t s, const ScaleView* scales, FoldFlips& common,
                                Own& own) const {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const bool centred = settings_.fit_intercept;
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  const std::size_t k = common.k, ld_k = common.ld_k, n_tests = plan.n_tests[s];
  const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
  const double* weights = common.weights.data() + s;
  const auto weight = [&](std::size_t i) { return weights[i * common.ld_splits]; };
  FoldFlips::Fold& fold = common.folds[s];
  fold.total = 0;
  for (std::size_t i = 0; i < n; ++i) fold.total += weight(i);
  const double root = std::sqrt(fold.total);

  // Z of all samples, [k][ld]; the norms of its columns before they are centred, in `plain`.
  double* z = grow(own.columns, k * ld);
  std::vector<double> plain(k), away(k);
  for (std::size_t f = 0; f < k; ++f) {
    const std::size_t feature = static_cast<std::size_t>(own.features[f]);
    double* column = z + f * ld;
    double origin = 0, inverse = 1, mean = columns_->mean(feature);
    if (centred || scales != nullptr) {
      columns_->copy(feature, column);
    } else {
      std::copy_n(table().doubles(1) + feature * ld, n, column);
      std::fill(column + n, column + ld, 0.0);
    }
    if (scales != nullptr) {
      const std::size_t place = static_cast<std::size_t>(scales->place[f]);
      origin = scales->origin_of(s)[place] - mean;
      inverse = scales->inverse_of(s)[place];
    }
    double square = 0, sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      square += weight(i) * column[i] * column[i];
      sum += weight(i) * column[i];
    }
    const double middle = centred ? sum / fold.total : (scales != nullptr ? origin : 0.0);
    for (std::size_t i = 0; i < n; ++i) column[i] = (column[i] - middle) * inverse;
    plain[f] = inverse * (std::sqrt(square) + root * std::abs(origin));
    away[f] = inverse * std::abs(mean);
    if (!centred) plain[f] += root * away[f];
  }

  // A = U'U.
  std::vector<double> roots(n);
  for (std::size_t i = 0; i < n; ++i) roots[i] = std::sqrt(weight(i));
  double* samples = grow(own.rows, n * ld_k);
  transpose(z, ld, k, nullptr, n, roots.data(), samples, ld_k);
  fold.factor.assign(k * ld_k, 0.0);
  fold.inverse_diagonal.assign(ld_k, 0.0);
  multiply_self(samples, n, k, ld_k, fold.factor.data());
  fold.diagonal.resize(k);
  for (std::size_t f = 0; f < k; ++f) {
    fold.factor[f * (ld_k + 1)] += settings_.alpha;
    fold.diagonal[f] = fold.factor[f * (ld_k + 1)];
  }
  if (!(cholesky(fold.factor.data(), k, ld_k, fold.inverse_diagonal.data()) <= most_inflation)) {
    return false;
  }
  fold.condition = 1 + trace_of_inverse(fold.factor.data(), fold.inverse_diagonal.data(), k, ld_k,
                                        fold.diagonal.data(), grow(own.work, k * ld_k));
  if (!(fold.condition <= most_inflation / 2)) return false;
  fold.lost = 1;
  double squares_away = 0;
  for (std::size_t f = 0; f < k; ++f) {
    fold.lost = std::max(fold.lost, plain[f] * plain[f] / fold.diagonal[f]);
    squares_away += away[f] * away[f] / fold.diagonal[f];
  }

  // Coefficients b, and what they leave.
  std::vector<double> offsets(ld_targets_, 0.0);
  for (std::size_t i = 0; centred && i < n; ++i) {
    for (std::size_t c = 0; c < n_targets_; ++c) offsets[c] += weight(i) * own.targets[i * ld_targets_ + c];
  }
  for (double& offset : offsets) offset /= fold.total;
  AlignedVector<double> b(k * ld_targets_, 0.0), left(n * ld_targets_, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < n_targets_; ++c) {
      left[i * ld_targets_ + c] = own.targets[i * ld_targets_ + c] - offsets[c];
    }
  }
  for (std::size_t f = 0; f < k; ++f) {
    for (std::size_t i = 0; i < n; ++i) {
      const double value = weight(i) * z[f * ld + i];
      for (std::size_t c = 0; c < n_targets_; ++c) b[f * ld_targets_ + c] += value * left[i * ld_targets_ + c];
    }
  }
  solve_symmetric(fold.factor.data(), fold.inverse_diagonal.data(), k, ld_k, b.data(), ld_targets_,
                  ld_targets_);
  multiply_transposed(z, ld, b.data(), ld_targets_, k, n, ld_targets_, false, -1.0, left.data(),
                      ld_targets_);
  fold.slopes.assign(n_targets_, 0.0);
  for (std::size_t c = 0; c < n_targets_; ++c) {
    for (std::size_t f = 0; f < k; ++f) {
      const double slope = b[f * ld_targets_ + c];
      fold.slopes[c] += slope * slope * fold.diagonal[f];
    }
    fold.slopes[c] = std::sqrt(fold.slopes[c]);
  }

  // Tests.
  const std::size_t ld_tests = algebra_ld(n_tests);
  fold.across.assign(k * ld_tests, 0.0);
  double reach = 0;
  for (std::size_t t = 0; t < n_tests; ++t) {
    const std::size_t sample = static_cast<std::size_t>(tests[t]);
    double square = 0;
    for (std::size_t f = 0; f < k; ++f) {
      const double value = z[f * ld + sample];
      fold.across[f * ld_tests + t] = value;
      square += value * value / fold.diagonal[f];
    }
    reach = std::max(reach, square);
    double* fitted = common.fitted.data() + (plan.test_begin[s] + t) * ld_targets_;
    for (std::size_t c = 0; c < n_targets_; ++c) {
      fitted[c] = own.targets[sample * ld_targets_ + c] - left[sample * ld_targets_ + c];
    }
  }
  fold.reach = 1 + std::sqrt(reach) + std::sqrt(squares_away);

  // Rows of products with the columns that join.
  for (std::size_t f = 0; f < k; ++f) {
    for (std::size_t i = 0; i < n; ++i) z[f * ld + i] *= weight(i);
  }
  solve_lower(fold.factor.data(), fold.inverse_diagonal.data(), k, ld_k, z, ld, ld);
  const std::size_t width = k + n_targets_;
  fold.rows.assign(n * common.ld_rows, 0.0);
  fold.sums.assign(width, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double* row = fold.rows.data() + i * common.ld_rows;
    for (std::size_t f = 0; f < k; ++f) row[f] = z[f * ld + i];
    for (std::size_t c = 0; c < n_targets_; ++c) row[k + c] = weight(i) * left[i * ld_targets_ + c];
    for (std::size_t r = 0; !centred && r < width; ++r) fold.sums[r] += row[r];
  }
  return true;
}

void RidgeFitness::flip_block_of_folds(const FoldFlips& common, const Word* base,
                                       const std::int64_t* flips, std::size_t count,
                                       const TargetSplits& at, const Scorer& scorer,
                                       FlipScratch& own, double* scores, char* open) const {
  using namespace ridge_detail;
  const RidgePlan& plan = common.plan;
  const AlgebraKernels& kernel = *kernels().algebra;
  const bool centred = settings_.fit_intercept, is_scaled = !scales_.is_none();
  const std::size_t n = table().view().n_samples, ld = table().view().ld, k = common.k;
  const std::size_t n_splits = plan.n_splits(), n_targets = n_targets_, width = k + n_targets;
  double* x = grow(own.x, n * lanes);
  double* squared = grow(own.u, n * lanes);
  double* column = grow(own.left, ld);
  std::fill_n(x, n * lanes, 0.0);
  alignas(64) Lanes unsure{}, mean{};
  own.features.resize(count);
  for (std::size_t lane = 0; lane < count; ++lane) {
    const std::size_t f = static_cast<std::size_t>(flips[lane]);
    own.features[lane] = static_cast<std::int32_t>(f);
    if (get_bit(base, f)) unsure[lane] = 1;
    const double* values = column;
    if (centred || is_scaled) {
      columns_->copy(f, column);
    } else {
      values = table().doubles(1) + f * ld;
    }
    for (std::size_t i = 0; i < n; ++i) x[i * lanes + lane] = values[i];
    mean[lane] = columns_->mean(f);
  }
  for (std::size_t i = 0; i < n * lanes; ++i) squared[i] = x[i] * x[i];
  ScaleView view{};
  if (is_scaled) view = scales_.view(own.features, at, own.scales);

  // Weighted sums of the columns and of their squares, by split.
  double* sums = grow(own.squares, 2 * n_splits * lanes);
  std::fill_n(sums, 2 * n_splits * lanes, 0.0);
  const AlgebraLeft weights{common.weights.data(), 1, common.ld_splits};
  kernel.add_products(weights, x, lanes, n, n_splits, lanes, 1.0, sums, lanes);
  kernel.add_products(weights, squared, lanes, n, n_splits, lanes, 1.0, sums + n_splits * lanes, lanes);

  double* products = grow(own.along, width * lanes);
  double* v = grow(own.moved, plan.most_left * lanes);
  double* change = grow(own.change, n_targets * lanes);
  double* slack = grow(own.slack, n_targets * lanes);
  own.codes.resize(at.splits.test_samples.size() * lanes);
  std::int32_t* codes = own.codes.data();
  const double q = static_cast<double>(k + 1), root_q = std::sqrt(q);
  const double unit = 4 * (static_cast<double>(n + k) + 8) * 0x1p-53;
  for (std::size_t s = 0; s < n_splits; ++s) {
    const FoldFlips::Fold& fold = common.folds[s];
    const std::int32_t* tests = plan.left.data() + plan.left_begin[s];
    const std::size_t n_tests = plan.n_tests[s];
    std::fill_n(products, width * lanes, 0.0);
    kernel.add_products({fold.rows.data(), 1, common.ld_rows}, x, lanes, n, width, lanes, 1.0,
                        products, lanes);
    const double* sum = sums + s * lanes;
    const double* square = sums + (n_splits + s) * lanes;
    const double size = std::sqrt(fold.total);  // of the targets
    alignas(64) Lanes from, penalty, plain, whole, explained{}, slope{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      from[lane] = centred ? sum[lane] / fold.total : 0;
      penalty[lane] = settings_.alpha;
      plain[lane] = std::sqrt(square[lane]);
      if (!centred) plain[lane] += size * std::abs(mean[lane]);
      if (!is_scaled || lane >= count) continue;
      const std::size_t place = static_cast<std::size_t>(view.place[lane]);
      const double origin = view.origin_of(s)[place] - mean[lane];
      const double inverse = view.inverse_of(s)[place];
      penalty[lane] = settings_.alpha / (inverse * inverse);
      if (!centred) from[lane] = origin;
      plain[lane] += size * std::abs(origin);
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double moved = from[lane] * (centred ? sum[lane] : 2 * sum[lane] - fold.total * from[lane]);
      whole[lane] = penalty[lane] + std::max(square[lane] - moved, 0.0);
    }
    for (std::size_t r = 0; !centred && r < width; ++r) {
      for (std::size_t lane = 0; lane < lanes; ++lane) products[r * lanes + lane] -= from[lane] * fold.sums[r];
    }
    for (std::size_t f = 0; f < k; ++f) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = products[f * lanes + lane];
        explained[lane] += value * value;
      }
    }
    solve_upper(fold.factor.data(), fold.inverse_diagonal.data(), k, common.ld_k, products, lanes,
                lanes);
    for (std::size_t f = 0; f < k; ++f) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = products[f * lanes + lane];
        slope[lane] += value * value * fold.diagonal[f];
      }
    }
    alignas(64) Lanes most{};
    for (std::size_t t = 0; t < n_tests; ++t) {
      const double* row = x + static_cast<std::size_t>(tests[t]) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = row[lane] - from[lane];
        v[t * lanes + lane] = value;
        most[lane] = std::max(most[lane], std::abs(value));
      }
    }
    kernel.add_products({fold.across.data(), 1, algebra_ld(n_tests)}, products, lanes, k, n_tests,
                        lanes, -1.0, v, lanes);

    alignas(64) Lanes d, rounding, condition, reach, norm, of_d, of_v, steady{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      d[lane] = whole[lane] - explained[lane];
      norm[lane] = std::sqrt(whole[lane]);
      const double h = std::sqrt(slope[lane]), before = fold.condition;
      const double lost = std::max(fold.lost, plain[lane] * plain[lane] / whole[lane]);
      rounding[lane] = unit * lost;
      condition[lane] = 2 * (before + (slope[lane] + whole[lane]) / d[lane]);
      reach[lane] = fold.reach + (most[lane] + std::abs(mean[lane])) / norm[lane] +
                    root_q * std::sqrt(lost) / size;
      of_d[lane] = 2 * rounding[lane] *
                   (q * slope[lane] + 2 * q * std::sqrt(before) * plain[lane] * norm[lane] +
                    plain[lane] * plain[lane]);
      of_v[lane] = rounding[lane] * reach[lane] * (before * q * (h + 2 * plain[lane]) + 2 * norm[lane]);
      const bool is_fine = condition[lane] <= most_inflation / 2 && d[lane] > 4 * of_d[lane] &&
                           rounding[lane] * q * condition[lane] <= most_doubt;
      if (!is_fine) unsure[lane] = 1;
    }
    for (std::size_t c = 0; c < n_targets; ++c) {
      const double* e = products + (k + c) * lanes;
      const double of_rest = fold.condition * (q * fold.slopes[c] + root_q * size) * root_q + 2 * size;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double share = std::abs(e[lane]) / d[lane];
        const double of_e = rounding[lane] * plain[lane] * of_rest;
        const double slopes = fold.slopes[c] + share * (norm[lane] + std::sqrt(slope[lane]));
        const double of_fit = rounding[lane] * (1 + reach[lane] * condition[lane] * (q * slopes + root_q * size));
        change[c * lanes + lane] = e[lane] / d[lane];
        slack[c * lanes + lane] = 2 * (of_e + share * of_d[lane]) / d[lane];
        steady[lane] = std::max(steady[lane], 2 * of_fit + 2 * (share + of_e / d[lane]) * of_v[lane]);
      }
    }
    decide(common, s, v, change, slack, steady, codes, unsure);
    codes += n_tests * lanes;
  }
  score_flips(common, count, at, scorer, unsure, own, scores, open);
}

}  // namespace bitsieve
