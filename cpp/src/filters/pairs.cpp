#include "bitsieve/filters/pairs.hpp"

#include <algorithm>
#include <type_traits>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

// relief_features columns of all samples, divided by their ranges; nominal codes stay codes.
template <typename T>
void pack(const SampleRows<T>& samples, const std::vector<std::int32_t>& order, std::size_t begin,
          std::size_t count, const double* low, const double* inverse, double* block) {
  const ReliefKernels& kernel = *kernels().relief;
  for (std::size_t k = 0; k < samples.n; ++k) {
    const T* row = samples.row(static_cast<std::size_t>(order[k])) + begin;
    double* out = block + k * relief_features;
    if constexpr (std::is_same_v<T, float>) {
      kernel.normalise_float(row, low, inverse, count, out);
    } else {
      kernel.normalise_double(row, low, inverse, count, out);
    }
  }
}

}  // namespace

template <typename T>
void add_pair_weights(const SampleRows<T>& samples, const FeatureScale& scale,
                      const std::vector<std::int32_t>& order, const std::vector<PairPanel>& panels,
                      int n_threads, double* weights) {
  const ReliefKernels& kernel = *kernels().relief;
  std::vector<double> share(samples.n, 0.0);  // of every sample in the sum of coefficients
  for (const PairPanel& panel : panels) {
    for (const PairSegment& segment : panel.segments) {
      double own = 0.0;
      for (std::size_t e = segment.begin; e < segment.end; ++e) {
        own += panel.coefficients[e];
        share[static_cast<std::size_t>(panel.others[e])] += panel.coefficients[e];
      }
      share[static_cast<std::size_t>(segment.sample)] += own;
    }
  }
  std::vector<double> inverse(samples.p);
  for (std::size_t f = 0; f < samples.p; ++f) {
    inverse[f] = scale.range[f] <= 0.0 ? 0.0 : scale.is_nominal(f) ? 1.0 : 1.0 / scale.range[f];
  }
  // Several blocks a chunk: a sample's part of the table is read in one go.
  const std::size_t blocks = samples.n <= 1024 ? 4 : 2;
  const std::size_t step = blocks * relief_features;
  const int threads = std::min(n_threads, max_threads);
  std::vector<AlignedVector<double>> scratch(static_cast<std::size_t>(threads));
  parallel_for_worker((samples.p + step - 1) / step, threads, [&](std::size_t chunk, int worker) {
    AlignedVector<double>& packed = scratch[static_cast<std::size_t>(worker)];
    packed.resize(blocks * samples.n * relief_features);
    alignas(64) double totals[relief_features], cap[relief_features];
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t begin = chunk * step + b * relief_features;
      if (begin >= samples.p) break;
      const std::size_t count = std::min(relief_features, samples.p - begin);
      pack(samples, order, begin, count, scale.low.data() + begin, inverse.data() + begin,
           packed.data() + b * samples.n * relief_features);
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t begin = chunk * step + b * relief_features;
      if (begin >= samples.p) break;
      const std::size_t count = std::min(relief_features, samples.p - begin);
      const double* block = packed.data() + b * samples.n * relief_features;
      bool has_nominal = false;
      for (std::size_t f = 0; f < relief_features; ++f) {
        totals[f] = 0.0;
        cap[f] = 1e300;
        if (f < count && scale.is_nominal(begin + f)) {
          cap[f] = 1.0;
          has_nominal = true;
        }
      }
      for (const PairPanel& panel : panels) {
        if (has_nominal) {
          kernel.weigh_capped(block, panel.segments.data(), panel.segments.size(),
                              panel.others.data(), panel.coefficients.data(), cap, totals);
        } else {
          kernel.weigh_max(block, panel.segments.data(), panel.segments.size(),
                           panel.others.data(), panel.coefficients.data(), totals);
        }
      }
      if (!has_nominal) {
        for (std::size_t f = 0; f < relief_features; ++f) totals[f] *= 2.0;
        for (std::size_t k = 0; k < samples.n; ++k) {
          const double* values = block + k * relief_features;
          for (std::size_t f = 0; f < relief_features; ++f) totals[f] -= share[k] * values[f];
        }
      }
      for (std::size_t f = 0; f < count; ++f) weights[begin + f] += totals[f];
    }
  });
}

template void add_pair_weights<float>(const SampleRows<float>&, const FeatureScale&,
                                      const std::vector<std::int32_t>&,
                                      const std::vector<PairPanel>&, int, double*);
template void add_pair_weights<double>(const SampleRows<double>&, const FeatureScale&,
                                       const std::vector<std::int32_t>&,
                                       const std::vector<PairPanel>&, int, double*);

}  // namespace bitsieve
