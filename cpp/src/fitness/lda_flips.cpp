// All one-flip neighbors of a mask in one pass, 16 features side by side.
//
// With the base mask's scatter A = Q L Q' of a split, its neighbor's matrix is bordered: the shrunken
// A is Q D Q', D = (1 - s) L + d I with the neighbor's own d, and a feature that joins adds a row b
// (in the basis Q) and a diagonal element c. With t = c - b'D^-1 b, m the mean of a class less that of
// the first one and m_f its element at the feature, the solution is
//   w_f = (m_f - b'D^-1 m) / t  and  w = D^-1 (m - b w_f).
// A feature that leaves is a weight that must be zero: b is its row of Q, m_f = c = 0, and w_f, which
// is no weight then, is left out. Two classes differ at x by (x - h)'w + log(prior ratio), h between
// their means.
//
// Both this and the way by which a neighbor alone is answered are solutions of a positive definite
// system but for roundings of its elements, whose effect is bounded; what of a sample's class the
// bound leaves open is answered alone. Scores of classes then have the same bits; others take no
// short way.
#include "lda_flips.hpp"

#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/eigen.hpp"

namespace bitsieve {
namespace lda_detail {

constexpr std::size_t fewest_flips = 32;  // below, they do not pay for the eigenvectors
constexpr std::size_t most_flip_classes = 64;

// out[r][ld] = left[r][.] * right over k columns.
void multiply_rows(const double* left, const double* right, std::size_t n_rows, std::size_t k,
                   std::size_t ld, AlignedVector<double>& out) {
  out.assign(n_rows * ld, 0.0);
  kernels().algebra->add_products({left, ld, 1}, right, ld, k, n_rows, ld, 1.0, out.data(), ld);
}

// Whether Q L Q' is A, and Q'Q one, to rounding.
bool is_decomposed(const double* a, std::size_t k, std::size_t ld, const std::vector<double>& values,
                   const AlignedVector<double>& vectors) {
  AlignedVector<double> scaled(vectors), product(k * ld);
  double trace = 0;
  for (std::size_t i = 0; i < k; ++i) {
    trace += a[i * (ld + 1)];
    for (std::size_t j = 0; j < ld; ++j) scaled[i * ld + j] *= values[i];
  }
  const double most = 32 * static_cast<double>(k) * 0x1p-53;
  multiply_transposed(scaled.data(), ld, vectors.data(), ld, k, k, ld, true, 1.0, product.data(), ld);
  double apart = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      const double left = product[i * ld + j] - a[i * ld + j];
      apart += left * left;
    }
  }
  if (!(std::sqrt(apart) <= most * trace)) return false;
  multiply_transposed(vectors.data(), ld, vectors.data(), ld, k, k, ld, true, 1.0, product.data(), ld);
  apart = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      const double left = product[i * ld + j] - (i == j ? 1 : 0);
      apart += left * left;
    }
  }
  return std::sqrt(apart) <= most * static_cast<double>(k);
}

}  // namespace lda_detail

bool LdaFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                    std::size_t n_masks, const TargetSplits& at,
                                    const Scorer& scorer, int n_threads, double* scores,
                                    bool* declined) {
  using namespace lda_detail;
  if (!is_of_classes(scorer.score().metric) || n_masks < fewest_flips) return false;
  if (target().n_classes > most_flip_classes && !scorer.takes_hits()) return false;
  Flips common;
  list_bits(base, n_words(), common.features);
  const std::size_t k = common.features.size();
  if (k + 1 > table().view().n_samples) return false;
  common.by_moments = is_by_moments(k + 1, at.splits);
  columns_ = &gram_.columns(n_threads);
  auto& owners = workers(n_threads);
  ScaleView base_view{};
  Own& first_own = static_cast<Own&>(*owners[0]);
  if (!scales_.is_none()) {
    std::vector<Word> all(base, base + n_words());
    for (std::size_t m = 0; m < n_masks; ++m) {
      const auto f = static_cast<std::size_t>(flips[m]);
      if (!get_bit(base, f) && !get_bit(all.data(), f)) flip_bit(all.data(), f);
    }
    scales_.prepare(all.data(), 1, &at, n_threads);
    list_bits(all.data(), n_words(), common.scaled);
    common.view = scales_.view(common.scaled, at, common.scales, n_threads);
    base_view = scales_.view(common.features, at, first_own.scales, n_threads);
  }
  common.splits.resize(at.splits.n_splits);
  std::vector<char> fine(at.splits.n_splits, 0);
  parallel_for_worker(at.splits.n_splits, n_threads, [&](std::size_t s, int worker) {
    Own& own = static_cast<Own&>(*owners[static_cast<std::size_t>(worker)]);
    own.features = common.features;
    fine[s] = prepare_flips(at, s, scales_.is_none() ? nullptr : &base_view, own, common.splits[s]);
  });
  if (std::find(fine.begin(), fine.end(), 0) != fine.end()) return false;
  for (const FlipSplit& split : common.splits) {
    common.most_train = std::max(common.most_train, split.train.size());
  }

  const std::size_t n_blocks = (n_masks + lanes - 1) / lanes, n_splits = at.splits.n_splits;
  std::vector<FlipScratch> scratch(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  std::vector<char> open(n_masks, 0);
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int worker) {
    const std::size_t first = b * lanes, count = std::min(lanes, n_masks - first);
    if (b % 64 == 0) check_interrupt();
    flip_block(common, base, flips + first, count, at, scorer,
               scratch[static_cast<std::size_t>(worker)], scores + first * n_splits,
               open.data() + first);
  });
  flips_open_ += static_cast<std::uint64_t>(std::count(open.begin(), open.end(), 1));
  evaluate_marked(base, flips, open, at, scorer, n_threads, scores, declined);
  return true;
}

bool LdaFitness::prepare_flips(const TargetSplits& at, std::size_t s, const ScaleView* scales,
                               Own& own, FlipSplit& out) const {
  using namespace lda_detail;
  if (!begin_split(at, s, own)) return false;
  list_training(at, s, own);
  const std::size_t k = own.features.size(), ld = algebra_ld(k), n = table().view().n_samples;
  const std::size_t n_train = own.train.size(), n_present = own.present.size();
  const bool shrinks = settings_.shrinkage > 0;
  if (!shrinks && k + 1 > n_train - n_present) return false;
  out.present = own.present;
  out.train = own.train;
  out.tests = own.tests;
  out.begin = own.begin;
  out.weight = own.weight;
  out.prior = own.prior;
  for (std::size_t c = 1; c < n_present; ++c) {
    out.log_ratio.push_back(own.log_prior[c] - own.log_prior[0]);
  }
  if (k == 0) return true;
  fill_values(scales, s, own);
  scatter(own);
  double* a = own.system.data();
  out.scale.assign(k, 1.0);
  out.spread.resize(k);
  for (std::size_t f = 0; f < k; ++f) {
    const double square = out.spread[f] = a[f * (ld + 1)];
    out.raw_trace += square;
    out.least_spread = f == 0 ? square : std::min(out.least_spread, square);
    if (!shrinks) {
      if (!(square > 2 * least_within_spread * own.amplitude[f] * own.amplitude[f])) return false;
      out.scale[f] = 1 / std::sqrt(square);
    }
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::abs(own.values[i * ld + f]));
    out.reach += (most * out.scale[f]) * (most * out.scale[f]);
  }
  // Diagonalized in units of its size, in which its squares are numbers.
  const double unit = shrinks ? out.raw_trace : 1.0;
  if (!(unit >= 0x1p-900 && unit <= 0x1p900)) return false;
  for (std::size_t f = 0; f < k; ++f) {
    for (std::size_t g = 0; g < k; ++g) a[f * ld + g] *= out.scale[f] * out.scale[g] / unit;
    for (std::size_t g = k; g < ld; ++g) a[f * ld + g] = 0;
  }
  const AlignedVector<double> given(a, a + k * ld);
  if (!diagonalize(a, k, ld, out.values, out.vectors)) return false;
  if (!is_decomposed(given.data(), k, ld, out.values, out.vectors)) return false;
  out.trace = shrinks ? out.raw_trace : static_cast<double>(k);
  for (double& value : out.values) value = std::max(value * unit, 0.0);
  if (!shrinks) {
    for (std::size_t j = 0; j < k; ++j) {
      out.inflations += 1 / out.values[j];
      for (std::size_t f = 0; f < k; ++f) {
        const double element = out.vectors[j * ld + f] * out.scale[f];
        out.raw_inverse += element * element / out.values[j];
      }
    }
    if (!(out.inflations < most_covariance_condition)) return false;
  }

  AlignedVector<double> basis(k * ld, 0.0);  // Q, in units of the user's features
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t f = 0; f < k; ++f) basis[f * ld + j] = out.vectors[j * ld + f] * out.scale[f];
  }
  multiply_rows(own.rows.data(), basis.data(), n_train, k, ld, out.rows);
  const double* first = own.means.data();
  own.rows.resize(std::max(out.tests.size(), n_present) * ld);
  for (std::size_t t = 0; t < out.tests.size(); ++t) {
    const double* x = own.values.data() + static_cast<std::size_t>(out.tests[t]) * ld;
    for (std::size_t f = 0; f < ld; ++f) own.rows[t * ld + f] = x[f] - first[f];
  }
  multiply_rows(own.rows.data(), basis.data(), out.tests.size(), k, ld, out.test_rows);
  for (std::size_t c = 1; c < n_present; ++c) {
    const double* mean = own.means.data() + c * ld;
    for (std::size_t f = 0; f < ld; ++f) own.rows[(c - 1) * ld + f] = mean[f] - first[f];
  }
  multiply_rows(own.rows.data(), basis.data(), n_present - 1, k, ld, out.apart);
  return true;
}

}  // namespace bitsieve
