// Pairs and ranks: one feature's samples against one another.
//
//   a chunk of features -> float32 keys with the class in their lowest bits -> one network sorts 16
//   of them at a time -> sums of ranks a class
//
// Where a bit that the class took, or that float32 does not have, could have told two neighbors
// apart, values with a few decimals get keys that are whole numbers; where they are not of this kind
// either, pairs are counted, or the values sorted in full. All ways are exact.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/univariate.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t block = 256;  // features a chunk: rows of a kilobyte or two

// The network costs n (log2 n)^2 / 4 exchanges of 8 features each; from here on sorting one feature
// after another is cheaper.
constexpr std::size_t network_limit = 4096;
constexpr std::size_t keys_limit = 1024;       // what rank_classes takes
constexpr std::size_t key_classes_limit = 8;   // three bits of a key
constexpr std::size_t few_pairs = 400;         // counting them is quicker than sorting

// A float32 value is exact in a float64 with 29 bits to spare: they hold the sample's number, so
// that one sort of plain numbers carries it along. Zero has no spare bits; the smallest float32 is
// 2^-149, so 2^-200 stands for it.
constexpr std::uint64_t number_mask = (std::uint64_t{1} << 29) - 1;

double packed(float value, std::size_t number) {
  const double wide = value == 0 ? 0x1p-200 : static_cast<double>(value);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(wide) | number);
}

template <typename T>
const MomentKernels<T>& typed_kernels() {
  if constexpr (sizeof(T) == sizeof(float)) {
    return kernels().univariate->single;
  } else {
    return kernels().univariate->twofold;
  }
}

// Rows of a sort of n.
std::size_t padded(std::size_t n) { return (n + sort_padding - 1) / sort_padding * sort_padding; }

std::size_t workers(int n_threads) {
  return static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads));
}

// Copies the listed features, lane for lane, the samples in the given order (all of them where it
// is null); the last one fills what is left of pair_lanes.
template <typename T>
void gather(SampleRows<T> x, const std::size_t* order, const std::size_t* features, std::size_t m,
            T* tile) {
  const bool neighbors = m == pair_lanes && features[m - 1] - features[0] == m - 1;
  for (std::size_t k = 0; k < x.n; ++k) {
    const T* row = x.data + (order == nullptr ? k : order[k]) * x.p;
    T* to = tile + k * pair_lanes;
    if (neighbors) {
      std::copy(row + features[0], row + features[0] + pair_lanes, to);
    } else {
      for (std::size_t lane = 0; lane < pair_lanes; ++lane) {
        to[lane] = row[features[std::min(lane, m - 1)]];
      }
    }
  }
}

// Ranks of one chunk of features by their keys, as far as these tell.
template <typename T>
class KeyRanks {
 public:
  // Of features [begin, begin + width): calls known(f, lane, twice, ties) for those whose ranks the
  // keys tell, with twice[c * rank_lanes + lane]; gives the others, in ascending order.
  template <typename Known>
  const std::vector<std::size_t>& operator()(SampleRows<T> x, const std::int32_t* codes,
                                             std::size_t n_classes, std::size_t begin,
                                             std::size_t width, const Known& known) {
    const std::size_t n = x.n;
    mask_ = n_classes <= 2 ? 1u : n_classes <= 4 ? 3u : 7u;
    keys_.resize(padded(n) * block);
    open_.clear();
    typed_kernels<T>().rank_keys(x.data + begin, x.p, n, width, codes, mask_,
                                 keys_.data(), lossy_, poison_);
    for (std::size_t tile = 0; tile < width; tile += rank_lanes) {
      const std::size_t m = std::min(rank_lanes, width - tile);
      // Values of a few decimals fill all bits and tie: these keys do not help there.
      if (tile >= 2 * rank_lanes && 2 * open_.size() > tile) {
        for (std::size_t f = tile; f < tile + m; ++f) open_.push_back(begin + f);
        continue;
      }
      rank(keys_.data() + tile * padded(n), n, n_classes);
      for (std::size_t lane = 0; lane < m; ++lane) {
        if (lossy_[tile + lane] != 0 && ties_[lane] != 0) {
          open_.push_back(begin + tile + lane);
        } else {
          known(begin + tile + lane, lane, twice_, ties_);
        }
      }
    }
    decimals(x, codes, n_classes, known);
    return open_;
  }

  double poison(std::size_t offset) const { return static_cast<double>(poison_[offset]); }

 private:
  void rank(float* keys, std::size_t n, std::size_t n_classes) {
    kernels().univariate->rank_classes(keys, n, static_cast<std::uint32_t>(n_classes), mask_,
                                       twice_, ties_);
  }

  // Takes out of the open features those that are decimals.
  template <typename Known>
  void decimals(SampleRows<T> x, const std::int32_t* codes, std::size_t n_classes,
                const Known& known) {
    static_assert(rank_lanes == pair_lanes);
    std::size_t left = 0;
    tile_.resize(x.n * pair_lanes);
    for (std::size_t first = 0; first < open_.size(); first += rank_lanes) {
      const std::size_t m = std::min(rank_lanes, open_.size() - first);
      std::uint32_t lossy[rank_lanes], all = 1;
      std::fill(lossy, lossy + rank_lanes, 1u);
      if (2 * left <= first) {  // where they seldom are, no more are looked for
        gather(x, nullptr, open_.data() + first, m, tile_.data());
        typed_kernels<T>().decimal_keys(tile_.data(), x.n, codes, mask_, keys_.data(),
                                        lossy);
        for (std::size_t lane = 0; lane < m; ++lane) all &= lossy[lane] != 0 ? 1u : 0u;
        if (all == 0) rank(keys_.data(), x.n, n_classes);
      }
      for (std::size_t lane = 0; lane < m; ++lane) {
        const std::size_t f = open_[first + lane];
        if (lossy[lane] != 0) {
          open_[left++] = f;
        } else {
          known(f, lane, twice_, ties_);
        }
      }
    }
    open_.resize(left);
  }

  AlignedVector<float> keys_;
  AlignedVector<T> tile_;
  std::vector<std::size_t> open_;
  std::uint32_t mask_ = 1;
  std::uint32_t lossy_[block];
  T poison_[block];
  std::uint32_t twice_[key_classes_limit * rank_lanes], ties_[rank_lanes];
};

// One feature's sorted samples, and what is asked about their ranks.
struct Walk {
  const std::int32_t* codes;
  std::size_t n_classes;
  const double* y;  // or null
  std::size_t n_samples;

  // value(k) and number(k): of the k-th smallest. twice[c] gathers doubled ranks.
  template <typename Value, typename Number>
  void operator()(Value&& value, Number&& number, std::int64_t* twice, double* ties,
                  double* cross) const {
    std::fill(twice, twice + n_classes, 0);
    std::size_t equal = 0;
    for (std::size_t k = 1; k < n_samples; ++k) equal += value(k) == value(k - 1) ? 1u : 0u;
    if (equal == 0) {
      *ties = 0.0;
      without_ties(number, twice, cross);
      return;
    }
    double tied = 0.0, product = 0.0;
    for (std::size_t begin = 0; begin < n_samples;) {
      const auto here = value(begin);
      std::size_t end = begin + 1;
      while (end < n_samples && value(end) == here) ++end;
      const std::int64_t rank = static_cast<std::int64_t>(begin + end + 1);  // doubled
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t i = number(k);
        twice[codes[i]] += rank;
        if (y != nullptr) product += y[i] * static_cast<double>(rank);
      }
      const double t = static_cast<double>(end - begin);
      tied += t * (t * t - 1);
      begin = end;
    }
    *ties = tied;
    if (y != nullptr) *cross = product / 2;
  }

 private:
  // Two sums a turn, as one has to wait for itself.
  template <typename Number>
  void without_ties(const Number& number, std::int64_t* twice, double* cross) const {
    if (y != nullptr) {
      double even = 0.0, odd = 0.0;
      std::size_t k = 0;
      for (; k + 2 <= n_samples; k += 2) {
        even += y[number(k)] * static_cast<double>(k + 1);
        odd += y[number(k + 1)] * static_cast<double>(k + 2);
      }
      if (k < n_samples) even += y[number(k)] * static_cast<double>(k + 1);
      *cross = even + odd;
    }
    if (n_classes == 1) {
      twice[0] = static_cast<std::int64_t>(n_samples * (n_samples + 1));
    } else if (n_classes == 2) {
      std::int64_t high = 0;
      for (std::size_t k = 0; k < n_samples; ++k) {
        high += codes[number(k)] * static_cast<std::int64_t>(2 * k + 2);
      }
      twice[1] = high;
      twice[0] = static_cast<std::int64_t>(n_samples * (n_samples + 1)) - high;
    } else {
      for (std::size_t k = 0; k < n_samples; ++k) {
        twice[codes[number(k)]] += static_cast<std::int64_t>(2 * k + 2);
      }
    }
  }
};

// Ranks of listed features, by a full sort of their values.
template <typename T>
class FullRanks {
 public:
  explicit FullRanks(std::size_t n_classes) : twice_(n_classes) {}

  // done(f, twice, ties, cross, poison) for each feature.
  template <typename Done>
  void operator()(SampleRows<T> x, const Walk& walk, const std::size_t* features, std::size_t count,
                  const Done& done) {
    for (std::size_t k = 0; k < count; k += sort_lanes) {
      const std::size_t m = std::min(sort_lanes, count - k);
      if (x.n <= network_limit) {
        together(x, walk, features + k, m, done);
      } else {
        for (std::size_t lane = 0; lane < m; ++lane) alone(x, walk, features[k + lane], done);
      }
    }
  }

 private:
  static constexpr bool single = sizeof(T) == sizeof(float);

  template <typename Done>
  void together(SampleRows<T> x, const Walk& walk, const std::size_t* features, std::size_t m,
                const Done& done) {
    const std::size_t n = x.n;
    keys_.resize(padded(n) * sort_lanes);
    std::fill(keys_.begin() + static_cast<std::ptrdiff_t>(n * sort_lanes), keys_.end(),
              std::numeric_limits<double>::infinity());
    T poison[sort_lanes] = {};
    for (std::size_t i = 0; i < n; ++i) {
      const T* row = x.data + i * x.p;
      for (std::size_t lane = 0; lane < sort_lanes; ++lane) {
        const T value = row[features[std::min(lane, m - 1)]];
        poison[lane] += value * T{0};
        if constexpr (single) {
          keys_[i * sort_lanes + lane] = packed(value, i);
        } else {
          keys_[i * sort_lanes + lane] = value;
        }
      }
    }
    if constexpr (single) {
      kernels().univariate->sort(keys_.data(), padded(n));
    } else {
      carried_.resize(padded(n) * sort_lanes);
      for (std::size_t i = 0; i < n; ++i) {
        std::fill_n(carried_.begin() + static_cast<std::ptrdiff_t>(i * sort_lanes), sort_lanes,
                    static_cast<double>(i));
      }
      kernels().univariate->sort_with(keys_.data(), carried_.data(), padded(n));
    }
    for (std::size_t lane = 0; lane < m; ++lane) {
      const double* key = keys_.data() + lane;
      double ties = 0, cross = 0;
      if constexpr (single) {
        const auto bits = [key](std::size_t k) {
          return std::bit_cast<std::uint64_t>(key[k * sort_lanes]);
        };
        walk([&](std::size_t k) { return bits(k) & ~number_mask; },
             [&](std::size_t k) { return static_cast<std::size_t>(bits(k) & number_mask); },
             twice_.data(), &ties, &cross);
      } else {
        const double* number = carried_.data() + lane;
        walk([&](std::size_t k) { return key[k * sort_lanes]; },
             [&](std::size_t k) { return static_cast<std::size_t>(number[k * sort_lanes]); },
             twice_.data(), &ties, &cross);
      }
      done(features[lane], twice_.data(), ties, cross, static_cast<double>(poison[lane]));
    }
  }

  template <typename Done>
  void alone(SampleRows<T> x, const Walk& walk, std::size_t feature, const Done& done) {
    const std::size_t n = x.n;
    keys_.resize(n);
    order_.resize(n);
    double poison = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double value = static_cast<double>(x.data[i * x.p + feature]);
      poison += value * 0.0;
      keys_[i] = std::isfinite(value) ? value : 0.0;
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [this](std::int32_t i, std::int32_t j) {
      const double a = keys_[static_cast<std::size_t>(i)], b = keys_[static_cast<std::size_t>(j)];
      return a < b || (a == b && i < j);
    });
    double ties = 0, cross = 0;
    const auto number = [this](std::size_t k) { return static_cast<std::size_t>(order_[k]); };
    walk([&](std::size_t k) { return keys_[number(k)]; }, number, twice_.data(), &ties, &cross);
    done(feature, twice_.data(), ties, cross, poison);
  }

  AlignedVector<double> keys_, carried_;
  std::vector<std::int32_t> order_;
  std::vector<std::int64_t> twice_;
};

}  // namespace

template <typename T>
void pair_wins(SampleRows<T> x, const std::int32_t* codes, int n_threads, double* wins) {
  const std::size_t n = x.n, p = x.p;
  std::vector<std::size_t> order;  // the samples of code 1, then the others
  for (std::size_t i = 0; i < n; ++i) {
    if (codes[i] == 1) order.push_back(i);
  }
  const std::size_t n_high = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (codes[i] != 1) order.push_back(i);
  }
  const bool by_keys = n <= keys_limit && n_high * (n - n_high) > few_pairs;
  const double least = static_cast<double>(n_high * (n_high + 1));  // doubled ranks of the lowest
  struct Scratch {
    KeyRanks<T> ranks;
    AlignedVector<T> tile;
    std::vector<std::size_t> all;
  };
  std::vector<Scratch> scratches(workers(n_threads));
  parallel_for_worker((p + block - 1) / block, n_threads, [&](std::size_t chunk, int worker) {
    Scratch& scratch = scratches[static_cast<std::size_t>(worker)];
    const std::size_t begin = chunk * block, width = std::min(block, p - begin);
    const std::vector<std::size_t>* open = &scratch.all;
    if (by_keys) {
      const auto known = [&](std::size_t f, std::size_t lane, const std::uint32_t* twice,
                             const std::uint32_t*) {
        wins[f] = (static_cast<double>(twice[rank_lanes + lane]) - least) / 2 +
                  scratch.ranks.poison(f - begin);
      };
      open = &scratch.ranks(x, codes, 2, begin, width, known);
    } else {
      scratch.all.resize(width);
      std::iota(scratch.all.begin(), scratch.all.end(), begin);
    }
    scratch.tile.resize(n * pair_lanes);
    for (std::size_t first = 0; first < open->size(); first += pair_lanes) {
      const std::size_t m = std::min(pair_lanes, open->size() - first);
      const std::size_t* features = open->data() + first;
      gather(x, order.data(), features, m, scratch.tile.data());
      T poison[pair_lanes] = {};
      for (std::size_t k = 0; k < n; ++k) {
        const T* values = scratch.tile.data() + k * pair_lanes;
        for (std::size_t lane = 0; lane < pair_lanes; ++lane) poison[lane] += values[lane] * T{0};
      }
      std::uint32_t twice[pair_lanes];
      typed_kernels<T>().pairs(scratch.tile.data(), n_high,
                               scratch.tile.data() + n_high * pair_lanes, n - n_high, twice);
      for (std::size_t lane = 0; lane < m; ++lane) {
        wins[features[lane]] =
            static_cast<double>(twice[lane]) / 2 + static_cast<double>(poison[lane]);
      }
    }
  });
}

template <typename T>
void rank_sums(SampleRows<T> x, const std::int32_t* codes, std::size_t n_classes, const double* y,
               int n_threads, double* sums, double* ties, double* cross) {
  const std::size_t n = x.n, p = x.p;
  const Walk walk{codes, n_classes, y, n};
  const bool by_keys = n <= keys_limit && n_classes <= key_classes_limit && y == nullptr;
  struct Scratch {
    KeyRanks<T> ranks;
    FullRanks<T> full;
    std::vector<std::size_t> all;
  };
  std::vector<Scratch> scratches(workers(n_threads), Scratch{{}, FullRanks<T>(n_classes), {}});
  // A long sort is a small chunk, so that an interrupt is seen in time.
  const std::size_t wide =
      by_keys ? block : std::clamp<std::size_t>(block * 256 / n / sort_lanes, 1, 8) * sort_lanes;
  parallel_for_worker((p + wide - 1) / wide, n_threads, [&](std::size_t chunk, int worker) {
    Scratch& scratch = scratches[static_cast<std::size_t>(worker)];
    const std::size_t begin = chunk * wide, width = std::min(wide, p - begin);
    const std::vector<std::size_t>* open = &scratch.all;
    if (by_keys) {
      const auto known = [&](std::size_t f, std::size_t lane, const std::uint32_t* twice,
                             const std::uint32_t* tied) {
        for (std::size_t c = 0; c < n_classes; ++c) {
          sums[c * p + f] = static_cast<double>(twice[c * rank_lanes + lane]) / 2 +
                            scratch.ranks.poison(f - begin);
        }
        ties[f] = static_cast<double>(tied[lane]);
      };
      open = &scratch.ranks(x, codes, n_classes, begin, width, known);
    } else {
      scratch.all.resize(width);
      std::iota(scratch.all.begin(), scratch.all.end(), begin);
    }
    scratch.full(x, walk, open->data(), open->size(),
                 [&](std::size_t f, const std::int64_t* twice, double tied, double product,
                     double poison) {
                   for (std::size_t c = 0; c < n_classes; ++c) {
                     sums[c * p + f] = static_cast<double>(twice[c]) / 2 + poison;
                   }
                   ties[f] = tied;
                   if (cross != nullptr) cross[f] = product;
                 });
  });
}

template void pair_wins(SampleRows<float>, const std::int32_t*, int, double*);
template void pair_wins(SampleRows<double>, const std::int32_t*, int, double*);
template void rank_sums(SampleRows<float>, const std::int32_t*, std::size_t, const double*, int,
                        double*, double*, double*);
template void rank_sums(SampleRows<double>, const std::int32_t*, std::size_t, const double*, int,
                        double*, double*, double*);

}  // namespace bitsieve
