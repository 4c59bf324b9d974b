// Exact sums of a mask, some blocks of features at a time.
#include <algorithm>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "gaussian_folds.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t summed_blocks = 8;      // at a time
constexpr std::size_t summed_samples = 1024;  // of more samples a block at a time

}  // namespace

// Lanes are added up over the blocks, each at its place, and to one another last: how many blocks and
// splits are taken together changes no bit.
void GaussianBayesFitness::add_sums(const State& state, const TargetSplits& at,
                                    const std::vector<std::int32_t>& features,
                                    const double* params, const std::vector<std::size_t>& splits,
                                    SumScratch& scratch, double* sums) const {
  const Folds& folds = static_cast<const Folds&>(state);
  const AdditiveKernels& kernel = *kernels().additive;
  const std::size_t n_classes = target().n_classes, rows = n_classes * lanes;
  const std::size_t n = table().view().n_samples, n_splits = splits.size();
  const std::size_t most_blocks = n > summed_samples ? 1 : summed_blocks;
  std::vector<std::size_t> begin(n_splits + 1, 0);
  for (std::size_t i = 0; i < n_splits; ++i) {
    begin[i + 1] = begin[i] + state.exact.begin[splits[i] + 1] - state.exact.begin[splits[i]];
  }
  // By lanes: the sums of all columns, and means and factors of [split][block][2][class].
  scratch.terms.assign(begin[n_splits] * lanes, 0.0);
  scratch.numbers.resize((2 * n_splits * most_blocks + 1) * rows);
  double *added = scratch.terms.data(), *logs = scratch.numbers.data(), *parts = logs + rows;
  scratch.block.resize(most_blocks * n * lanes + block_size(state));
  FeatureBlock block;
  block.kept = scratch.block.data() + most_blocks * n * lanes;
  for (std::size_t first = 0; first < features.size(); first += most_blocks * lanes) {
    check_interrupt();
    const std::size_t n_left = std::min(most_blocks * lanes, features.size() - first);
    const std::size_t n_blocks = (n_left + lanes - 1) / lanes;
    for (std::size_t b = 0; b < n_blocks; ++b) {
      const std::size_t from = first + b * lanes, to = std::min(from + lanes, features.size());
      double* values = scratch.block.data() + b * n * lanes;
      gather(features.data() + from, to - from, block, values);
      begin_block(state, block);
      prefetch_rows(features.data() + to, std::min(lanes, features.size() - to));
      for (std::size_t i = 0; i < n_splits; ++i) {
        const std::size_t s = splits[i];
        double *mean = parts + (i * most_blocks + b) * 2 * rows, *variance = mean + rows;
        measure_parts(folds, block, s, mean, variance);
        kernel.weigh_parts(mean, variance, folds.classes.weights_of(s), n_classes,
                           params[gaussian_params * s],
                           scaler_.is_none() ? nullptr : inverses_of(folds, block, s), block.n,
                           logs, added + begin[i + 1] * lanes - rows);
      }
      for (std::size_t k = 0; block.n < lanes && k < n; ++k) {
        std::fill(values + k * lanes + block.n, values + (k + 1) * lanes, 0.0);
      }
    }
    for (std::size_t i = 0; i < n_splits; ++i) {
      const std::int32_t* tests = at.splits.test_samples.data() + at.splits.test_begin[splits[i]];
      const auto n_tests = static_cast<std::size_t>(at.splits.test_begin[splits[i] + 1] -
                                                    at.splits.test_begin[splits[i]]);
      const double* mean = parts + i * most_blocks * 2 * rows;
      for (std::size_t c = 0; c < n_classes; ++c, mean += lanes) {
        if (folds.classes.weight(splits[i], c) == 0) continue;
        kernel.add_parts(scratch.block.data(), n_blocks, n * lanes, mean, mean + rows, 2 * rows,
                         tests, n_tests, added + (begin[i] + c * n_tests) * lanes);
      }
    }
  }
  std::fill(sums, sums + begin[n_splits], 0.0);
  kernel.add_lanes(added, begin[n_splits], lanes, sums);
}

}  // namespace bitsieve
