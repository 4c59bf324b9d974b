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

constexpr std::size_t lanes = 16;
constexpr std::size_t fewest_flips = 32;  // below, they do not pay for the eigenvectors
constexpr std::size_t most_flip_classes = 64;
constexpr double rounding_steps = 64;  // roundings of size 1 behind each of n + k additions

using Lanes = double[lanes];

double* grow(AlignedVector<double>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

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
  if (common.features.size() + 1 > table().view().n_samples) return false;
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
    common.most_tests = std::max(common.most_tests, split.tests.size());
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
  if (common.features.size() == 1) {  // nothing is left of it
    for (std::size_t m = 0; m < n_masks; ++m) {
      if (get_bit(base, static_cast<std::size_t>(flips[m]))) open[m] = 1;
    }
  }
  flips_open_ += static_cast<std::uint64_t>(std::count(open.begin(), open.end(), 1));
  evaluate_marked(base, flips, open, at, scorer, n_threads, scores, declined);
  return true;
}

bool LdaFitness::prepare_flips(const TargetSplits& at, std::size_t s, const ScaleView* scales,
                               Own& own, FlipSplit& out) const {
  using namespace lda_detail;
  if (!begin_split(at, s, own)) return false;
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

void LdaFitness::flip_block(const Flips& common, const Word* base, const std::int64_t* flips,
                            std::size_t count, const TargetSplits& at, const Scorer& scorer,
                            FlipScratch& own, double* scores, char* open) const {
  using namespace lda_detail;
  const AlgebraKernels& kernel = *kernels().algebra;
  const std::size_t n = table().view().n_samples, k = common.features.size(), ld = algebra_ld(k);
  const std::size_t n_classes = target().n_classes, n_splits = at.splits.n_splits;
  const double share = 1 - settings_.shrinkage;
  const bool shrinks = settings_.shrinkage > 0;
  const double roundings =
      rounding_steps * static_cast<double>(common.most_train + k + 1) * 0x1p-53;
  const double cut = settings_.tol * settings_.tol * (1 + lda_rank_margin);

  // The values, less a mean or behind a scaler; what is past the last feature is zero.
  const bool is_scaled = !scales_.is_none();
  double* raw = grow(own.raw, n * lanes);
  double* x = grow(own.x, n * lanes);
  double* z = grow(own.z, common.most_train * lanes);
  double* beta = grow(own.beta, k * lanes);
  double* inverse = grow(own.inverse, k * lanes);
  double* solved = grow(own.solved, k * lanes);
  std::fill_n(raw, n * lanes, 0.0);
  bool joins[lanes];
  std::size_t member[lanes] = {}, place[lanes] = {};
  alignas(64) Lanes unsure{}, most_raw{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    joins[lane] = true;
    if (lane >= count) continue;
    const auto f = static_cast<std::size_t>(flips[lane]);
    joins[lane] = !get_bit(base, f);
    if (!joins[lane]) {
      member[lane] = static_cast<std::size_t>(
          std::lower_bound(common.features.begin(), common.features.end(), flips[lane]) -
          common.features.begin());
      continue;
    }
    if (is_scaled) {
      const std::size_t listed = static_cast<std::size_t>(
          std::lower_bound(common.scaled.begin(), common.scaled.end(), flips[lane]) -
          common.scaled.begin());
      place[lane] = static_cast<std::size_t>(common.view.place[listed]);
    }
    const double* from = table().doubles(1) + f * table().view().ld;
    const double mean = is_scaled ? 0 : columns_->mean(f);
    for (std::size_t i = 0; i < n; ++i) {
      raw[i * lanes + lane] = is_scaled ? from[i] : from[i] - mean;
      most_raw[lane] = std::max(most_raw[lane], std::abs(from[i]));
    }
  }

  const bool by_hits = scorer.takes_hits();
  own.hits.assign(by_hits ? n_splits * n_classes * lanes : 0, 0);
  own.codes.resize(at.splits.test_samples.size() * lanes);
  std::int32_t* codes = own.codes.data();
  for (std::size_t s = 0; s < n_splits; ++s) {
    const FlipSplit& split = common.splits[s];
    const std::size_t n_train = split.train.size(), n_tests = split.tests.size();
    const std::size_t n_present = split.present.size(), n_pairs = n_present - 1;
    const double* values = raw;
    alignas(64) Lanes amplitude;
    std::copy_n(most_raw, lanes, amplitude);
    if (is_scaled) {
      const double *origins = common.view.origin_of(s), *factors = common.view.inverse_of(s);
      alignas(64) Lanes origin, factor;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const bool is_read = lane < count && joins[lane];
        origin[lane] = is_read ? origins[place[lane]] : 0;
        factor[lane] = is_read ? factors[place[lane]] : 0;
        amplitude[lane] *= std::abs(factor[lane]);
      }
      for (std::size_t i = 0; i < n * lanes; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          x[i + lane] = (raw[i + lane] - origin[lane]) * factor[lane];
        }
      }
      values = x;
    }
    alignas(64) Lanes most{}, square{}, first_mean{};
    for (std::size_t i = 0; i < n * lanes; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        most[lane] = std::max(most[lane], std::abs(values[i + lane]));
      }
    }
    // Rows of the feature within the classes, and its class means less the first.
    double* along = grow(own.along, n_present * lanes);
    for (std::size_t c = 0; c < n_present; ++c) {
      alignas(64) Lanes mean{};
      for (std::size_t a = split.begin[c]; a < split.begin[c + 1]; ++a) {
        const double* from = values + static_cast<std::size_t>(split.train[a]) * lanes;
        for (std::size_t lane = 0; lane < lanes; ++lane) mean[lane] += from[lane];
      }
      const auto size = static_cast<double>(split.begin[c + 1] - split.begin[c]);
      for (std::size_t lane = 0; lane < lanes; ++lane) mean[lane] /= size;
      for (std::size_t a = split.begin[c]; a < split.begin[c + 1]; ++a) {
        const double* from = values + static_cast<std::size_t>(split.train[a]) * lanes;
        double* to = z + a * lanes;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const double value = split.weight[c] * (from[lane] - mean[lane]);
          to[lane] = value;
          square[lane] += value * value;
        }
      }
      if (c == 0) std::copy_n(mean, lanes, first_mean);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        along[c * lanes + lane] = mean[lane] - first_mean[lane];
      }
    }
    std::fill_n(beta, k * lanes, 0.0);
    kernel.add_products({split.rows.data(), 1, ld}, z, lanes, n_train, k, lanes, 1.0, beta, lanes);

    // The diagonal: what is added to it, the feature's own, and the unit of the feature.
    alignas(64) Lanes ridge{}, corner, unit, trace, reach, factor;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool is_in = joins[lane];
      unit[lane] = shrinks ? 1 : 1 / std::sqrt(square[lane]);
      factor[lane] = is_in ? share * unit[lane] : 0;
      corner[lane] = square[lane] * unit[lane] * unit[lane];
      trace[lane] = split.trace + (is_in ? corner[lane] : 0);
      reach[lane] = split.reach + (is_in ? most[lane] * unit[lane] * most[lane] * unit[lane] : 0);
      if (shrinks) {
        const double total = is_in ? trace[lane] : split.trace - split.spread[member[lane]];
        ridge[lane] = settings_.shrinkage * total / static_cast<double>(is_in ? k + 1 : k - 1);
        if (!(total >= 0x1p-900 && total <= 0x1p900)) unsure[lane] = 1;
      } else if (is_in) {
        const double least = 2 * least_within_spread * amplitude[lane] * amplitude[lane];
        if (!(square[lane] > least && square[lane] >= 0x1p-900)) unsure[lane] = 1;
      }
      corner[lane] = is_in ? share * corner[lane] + ridge[lane] : 0;
    }
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        beta[j * lanes + lane] *= factor[lane];
        inverse[j * lanes + lane] = 1 / (share * split.values[j] + ridge[lane]);
      }
    }
    for (std::size_t lane = 0; lane < count; ++lane) {
      if (joins[lane]) continue;
      for (std::size_t j = 0; j < k; ++j) {
        beta[j * lanes + lane] = split.vectors[j * ld + member[lane]];
      }
    }
    alignas(64) Lanes pivot, long_step{};
    std::copy_n(corner, lanes, pivot);
    for (std::size_t j = 0; j < k * lanes; j += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double part = beta[j + lane] * inverse[j + lane];
        pivot[lane] -= beta[j + lane] * part;
        long_step[lane] += part * part;
      }
    }

    // How large an eigenvalue of the matrix surely is, and what roundings are multiplied by.
    alignas(64) Lanes least, inflation, shifts;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      least[lane] = ridge[lane];
      if (!shrinks) {
        const double added = joins[lane] ? 1 / pivot[lane] : 0;
        const double total = split.inflations + added * (1 + long_step[lane]);
        least[lane] = 1 / total;
        bool fine = total < most_covariance_condition / 2;
        if (settings_.svd) {
          fine = fine && total * cut < 0.5;
        } else {
          const double inverse_trace =
              split.raw_inverse +
              (joins[lane] ? added * (long_step[lane] / (k > 0 ? split.least_spread : 1) + 1 / square[lane])
                           : 0);
          const double whole = split.raw_trace + (joins[lane] ? square[lane] : 0);
          fine = fine && whole * inverse_trace < most_covariance_condition / 2;
        }
        if (!fine) unsure[lane] = 1;
      }
      const double scale = share * std::sqrt(reach[lane] * trace[lane]) + share * trace[lane] + ridge[lane];
      const double condition = scale / least[lane];
      inflation[lane] = 1 + condition;
      if (joins[lane]) {
        inflation[lane] += corner[lane] / pivot[lane] * (1 + 2 * std::sqrt(share * trace[lane] / least[lane]));
        if (!(pivot[lane] > 0)) unsure[lane] = 1;
      } else if (!(pivot[lane] < 0)) {
        unsure[lane] = 1;
      }
      if (!(roundings * inflation[lane] < 1e-3)) unsure[lane] = 1;
      shifts[lane] = reach[lane] / least[lane];
    }

    // Class after class beside the first.
    double* change = grow(own.change, n_pairs * lanes);  // m_f - b'D^-1 m
    double* bound = grow(own.bound, n_pairs * lanes);
    double* differences = grow(own.scores, n_pairs * n_tests * lanes);
    std::fill_n(differences, n_pairs * n_tests * lanes, 0.0);
    alignas(64) Lanes most_bound{};
    for (std::size_t c = 0; c < n_pairs; ++c) {
      const double* apart = split.apart.data() + c * ld;
      alignas(64) Lanes whole{}, left, weight;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        left[lane] = joins[lane] ? along[(c + 1) * lanes + lane] * unit[lane] : 0;
      }
      for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const double part = apart[j] * inverse[j * lanes + lane];
          whole[lane] += apart[j] * part;
          left[lane] -= beta[j * lanes + lane] * part;
        }
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) weight[lane] = left[lane] / pivot[lane];
      for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          solved[j * lanes + lane] =
              inverse[j * lanes + lane] * (apart[j] - beta[j * lanes + lane] * weight[lane]);
        }
      }
      double* out = differences + c * n_tests * lanes;
      kernel.add_products({split.test_rows.data(), ld, 1}, solved, lanes, k, n_tests, lanes, 1.0, out,
                          lanes);
      alignas(64) Lanes offset, feature;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double step = left[lane] * weight[lane];
        const double distance = whole[lane] + std::max(step, 0.0);
        offset[lane] = split.log_ratio[c] - 0.5 * (whole[lane] + step);
        feature[lane] = joins[lane] ? weight[lane] * unit[lane] : 0;
        const double size = std::sqrt(shifts[lane] * distance) * inflation[lane] + shifts[lane];
        bound[c * lanes + lane] =
            roundings * (size + distance) + 0x1p-49 * (std::abs(split.log_ratio[c]) + 1);
        most_bound[lane] = std::max(most_bound[lane], bound[c * lanes + lane]);
        change[c * lanes + lane] = left[lane];
      }
      for (std::size_t t = 0; t < n_tests; ++t) {
        const double* from = values + static_cast<std::size_t>(split.tests[t]) * lanes;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const double apart_f = from[lane] - first_mean[lane];
          out[t * lanes + lane] += apart_f * feature[lane] + offset[lane];
        }
      }
    }
    if (settings_.svd && n_present > 2) {
      find_short(split, k, ld, inverse, pivot, change, most_bound, cut, own, unsure);
    }
    decide(split, differences, bound, codes, unsure);
    for (std::size_t t = 0; by_hits && t < n_tests; ++t) {
      const std::int32_t truth = target().codes[static_cast<std::size_t>(split.tests[t])];
      std::int32_t* hits = own.hits.data() + (s * n_classes + static_cast<std::size_t>(truth)) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) hits[lane] += codes[t * lanes + lane] == truth;
    }
    codes += n_tests * lanes;
  }
  const std::size_t width = n_splits * n_classes * (by_hits ? 1 : n_classes);
  own.counts.resize(width);
  for (std::size_t lane = 0; lane < count; ++lane) {
    open[lane] = unsure[lane] > 0;
    if (open[lane] != 0) continue;
    double* out = scores + lane * n_splits;
    if (by_hits) {
      for (std::size_t w = 0; w < width; ++w) own.counts[w] = own.hits[w * lanes + lane];
      scorer.of_hits(at, own.counts.data(), own.scores_scratch, out);
      continue;
    }
    std::fill(own.counts.begin(), own.counts.end(), 0);
    const std::int32_t* given = own.codes.data() + lane;
    for (std::size_t s = 0; s < n_splits; ++s) {
      for (const std::int32_t sample : common.splits[s].tests) {
        const auto truth = static_cast<std::size_t>(target().codes[static_cast<std::size_t>(sample)]);
        ++own.counts[(s * n_classes + truth) * n_classes + static_cast<std::size_t>(*given)];
        given += lanes;
      }
    }
    scorer.of_confusion(at, own.counts.data(), own.scores_scratch, out);
  }
}

// Lanes in which a direction between the classes may be too short beside the longest.
void LdaFitness::find_short(const FlipSplit& split, std::size_t k, std::size_t ld,
                            const double* inverse, const double* pivot, const double* change,
                            const double* bound, double cut, FlipScratch& own, double* unsure) const {
  using namespace lda_detail;
  const std::size_t n_present = split.present.size(), n_pairs = n_present - 1;
  own.products.assign(n_present * n_present * lanes, 0.0);
  for (std::size_t c = 0; c < n_pairs; ++c) {
    for (std::size_t d = c; d < n_pairs; ++d) {
      double* out = own.products.data() + ((c + 1) * n_present + d + 1) * lanes;
      for (std::size_t j = 0; j < k; ++j) {
        const double product = split.apart[c * ld + j] * split.apart[d * ld + j];
        for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] += product * inverse[j * lanes + lane];
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        out[lane] += change[c * lanes + lane] * change[d * lanes + lane] / pivot[lane];
      }
      std::copy_n(out, lanes, own.products.data() + ((d + 1) * n_present + c + 1) * lanes);
    }
  }
  std::vector<double> middle(n_present);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (unsure[lane] > 0) continue;
    const auto product = [&](std::size_t c, std::size_t d) {
      return own.products[(c * n_present + d) * lanes + lane];
    };
    double whole = 0;
    for (std::size_t c = 0; c < n_present; ++c) {
      middle[c] = 0;
      for (std::size_t d = 0; d < n_present; ++d) middle[c] += split.prior[d] * product(c, d);
      whole += split.prior[c] * middle[c];
    }
    own.between.resize(n_present * n_present);
    for (std::size_t c = 0; c < n_present; ++c) {
      for (std::size_t d = 0; d < n_present; ++d) {
        own.between[c * n_present + d] = std::sqrt(split.prior[c] * split.prior[d]) *
                                         (product(c, d) - middle[c] - middle[d] + whole);
      }
    }
    diagonalize_classes(own.between, n_present);
    std::vector<double>& lengths = middle;
    for (std::size_t c = 0; c < n_present; ++c) lengths[c] = own.between[c * (n_present + 1)];
    std::sort(lengths.begin(), lengths.end());
    const double least = 2 * cut * lengths.back() + 8 * static_cast<double>(n_present) * bound[lane];
    if (!(lengths[1] > least)) unsure[lane] = 1;
  }
}

// The classes of the test samples of a split, codes[t][lanes], and which lanes are unsure of one;
// differences[pair][t][lanes] to the first class.
void LdaFitness::decide(const FlipSplit& split, const double* differences, const double* bound,
                        std::int32_t* codes, double* unsure) const {
  using namespace lda_detail;
  const std::size_t n_tests = split.tests.size(), n_pairs = split.present.size() - 1;
  if (n_pairs == 1) {
    for (std::size_t t = 0; t < n_tests * lanes; t += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = differences[t + lane];
        codes[t + lane] = value > 0 ? split.present[1] : split.present[0];
        unsure[lane] = std::abs(value) > bound[lane] ? unsure[lane] : 1.0;  // NaN is unsure
      }
    }
    return;
  }
  for (std::size_t t = 0; t < n_tests; ++t) {
    alignas(64) Lanes best{}, best_bound{}, second, sum{};
    std::int32_t* out = codes + t * lanes;
    std::fill_n(out, lanes, split.present[0]);
    std::fill_n(second, lanes, -HUGE_VAL);
    for (std::size_t c = 0; c < n_pairs; ++c) {
      const double* values = differences + (c * n_tests + t) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = values[lane], slack = bound[c * lanes + lane];
        const bool wins = value > best[lane];
        second[lane] = std::max(second[lane], wins ? best[lane] + best_bound[lane] : value + slack);
        best_bound[lane] = wins ? slack : best_bound[lane];
        best[lane] = wins ? value : best[lane];
        out[lane] = wins ? split.present[c + 1] : out[lane];
        sum[lane] += (value + slack) * 0;  // NaN stays
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool sure = best[lane] - best_bound[lane] + sum[lane] > second[lane];
      unsure[lane] = sure ? unsure[lane] : 1.0;
    }
  }
}

}  // namespace bitsieve
