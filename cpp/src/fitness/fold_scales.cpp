#include "bitsieve/fitness/fold_scales.hpp"

#include <algorithm>
#include <numeric>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t kept_numbers = std::size_t{1} << 25;  // origins, and as many inverses: 512 MB
constexpr std::size_t scales_at_once = 1024;             // between two looks at Ctrl-C

}  // namespace

void FoldScales::measure(const std::vector<std::int32_t>& features, const Splits& splits,
                         int n_threads, std::size_t stride, const std::int32_t* place,
                         double* origin, double* inverse) const {
  const std::size_t n_splits = splits.n_splits;
  std::vector<double> centers, scales, middles;
  for (std::size_t begin = 0; begin < features.size(); begin += scales_at_once) {
    const std::size_t m = std::min(scales_at_once, features.size() - begin);
    centers.resize(m * n_splits);
    scales.resize(m * n_splits);
    const bool amid = origin_ == Origin::middle;
    if (amid) middles.resize(m * n_splits);
    scaler_.measure(features.data() + begin, m, splits, centers.data(), scales.data(), n_threads,
                    amid ? middles.data() : nullptr);
    const std::vector<double>& origins = amid ? middles : centers;
    for (std::size_t s = 0; s < n_splits; ++s) {
      for (std::size_t k = 0; k < m; ++k) {
        const std::size_t at = s * stride + static_cast<std::size_t>(place[begin + k]);
        origin[at] = origins[k * n_splits + s];
        inverse[at] = 1.0 / scales[k * n_splits + s];
      }
    }
  }
}

void FoldScales::prepare(const Word* masks, std::size_t n_masks, const TargetSplits* at,
                         int n_threads) {
  const std::size_t p = table_.view().n_features, n_words = words_for(p);
  if (is_none()) return;
  if (at == nullptr || p > kept_numbers / at->splits.n_splits) {
    known_.clear();
    return;
  }
  if (known_.empty() || seed_ != at->seed) {
    known_.assign(n_words, 0);
    seed_ = at->seed;
    origins_.resize(at->splits.n_splits * p);
    inverses_.resize(at->splits.n_splits * p);
  }
  std::vector<Word> wanted(n_words);
  for (std::size_t m = 0; m < n_masks; ++m) {
    for (std::size_t w = 0; w < n_words; ++w) wanted[w] |= masks[m * n_words + w] & ~known_[w];
  }
  std::vector<std::int32_t> features;
  list_bits(wanted.data(), n_words, features);
  if (features.empty()) return;
  measure(features, at->splits, n_threads, p, features.data(), origins_.data(), inverses_.data());
  for (std::size_t w = 0; w < n_words; ++w) known_[w] |= wanted[w];
}

void FoldScales::forget() {
  leave_behind(known_);
  leave_behind(origins_);
  leave_behind(inverses_);
}

bool FoldScales::knows(const std::vector<std::int32_t>& features, const TargetSplits& at) const {
  return !known_.empty() && seed_ == at.seed &&
         std::all_of(features.begin(), features.end(), [&](std::int32_t f) {
           return get_bit(known_.data(), static_cast<std::size_t>(f));
         });
}

ScaleView FoldScales::view(const std::vector<std::int32_t>& features, const TargetSplits& at,
                           Own& own, int n_threads) const {
  if (knows(features, at)) {
    return {origins_.data(), inverses_.data(), table_.view().n_features, features.data()};
  }
  const std::size_t m = features.size();
  own.place.resize(m);
  std::iota(own.place.begin(), own.place.end(), 0);
  own.origin.resize(at.splits.n_splits * m);
  own.inverse.resize(at.splits.n_splits * m);
  measure(features, at.splits, n_threads, m, own.place.data(), own.origin.data(),
          own.inverse.data());
  return {own.origin.data(), own.inverse.data(), m, own.place.data()};
}

}  // namespace bitsieve
