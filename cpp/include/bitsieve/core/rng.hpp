// Philox4x64-10, the one source of randomness (Salmon et al. 2011, "Parallel random numbers: as
// easy as 1, 2, 3"). A block is a function of (key, counter) alone, so any thread may draw any
// block and the stream is the same. Never std:: distributions: their output differs by library.
#pragma once

#include <array>
#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace bitsieve {

using PhiloxBlock = std::array<std::uint64_t, 4>;

// Streams under one user seed: key = (seed, stream).
enum class Stream : std::uint64_t { search = 1, folds = 2, measurement = 3 };

inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b, std::uint64_t& low) {
#if defined(_MSC_VER) && !defined(__clang__)
#if defined(_M_X64)
  std::uint64_t high;
  low = _umul128(a, b, &high);
  return high;
#else
  low = a * b;
  return __umulh(a, b);
#endif
#else
  __extension__ typedef unsigned __int128 wide;
  const wide product = static_cast<wide>(a) * b;
  low = static_cast<std::uint64_t>(product);
  return static_cast<std::uint64_t>(product >> 64);
#endif
}

inline PhiloxBlock philox4x64(std::uint64_t key0, std::uint64_t key1, PhiloxBlock counter) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t low0, low1;
    const std::uint64_t high0 = multiply_high(0xD2E7470EE14C6C93ULL, counter[0], low0);
    const std::uint64_t high1 = multiply_high(0xCA5A826395121157ULL, counter[2], low1);
    counter = {high1 ^ counter[1] ^ key0, low1, high0 ^ counter[3] ^ key1, low0};
    key0 += 0x9E3779B97F4A7C15ULL;
    key1 += 0xBB67AE8584CAA73BULL;
  }
  return counter;
}

// Words of one stream in order, beginning at a block.
class PhiloxStream {
 public:
  PhiloxStream(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block = 0,
               std::uint64_t lane = 0)
      : seed_(seed), stream_(stream), block_(first_block), lane_(lane) {}

  std::uint64_t next() {
    if (used_ == 4) {
      words_ = philox4x64(seed_, stream_, {block_++, lane_, 0, 0});
      used_ = 0;
    }
    return words_[used_++];
  }

  // Uniform in [0, bound), without bias (Lemire 2019, by rejection).
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t low;
    std::uint64_t high = multiply_high(next(), bound, low);
    if (low < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (low < threshold) high = multiply_high(next(), bound, low);
    }
    return high;
  }

 private:
  std::uint64_t seed_, stream_, block_, lane_;
  PhiloxBlock words_{};
  int used_ = 4;
};

}  // namespace bitsieve
