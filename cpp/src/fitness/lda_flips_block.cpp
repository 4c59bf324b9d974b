// 16 one-flip neighbors side by side: their systems, and what a class differs from the first by.
#include <algorithm>
#include <cmath>

#include "bitsieve/core/isa.hpp"
#include "lda_flips.hpp"

namespace bitsieve {

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
      if (k == 1) unsure[lane] = 1;  // nothing is left of the base
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
      // Moments are sums about the means of all samples, whose squares are up to 4 times what is
      // measured from a scaler's origin.
      const double sums = common.by_moments ? 4 * reach[lane] : std::sqrt(reach[lane] * trace[lane]);
      const double scale = share * (sums + trace[lane]) + ridge[lane];
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
      find_short(split, k, ld, inverse, pivot, change, most_bound, joins, cut, own, unsure);
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

}  // namespace bitsieve
