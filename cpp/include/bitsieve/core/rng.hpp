// Philox4x64-10, the one source of randomness (Salmon et al. 2011, "Parallel random numbers: as
// easy as 1, 2, 3"). A block is a function of (key, counter) alone, so any thread may draw any
// block and the stream is the same. Never std:: distributions: their output differs by library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace bitsieve {

using PhiloxBlock = std::array<std::uint64_t, 4>;

// What is drawn under one user seed, each from words of its own: key = (seed, stream). Numbers are
// never reused, or two things would be drawn alike. Python has the same enum.
enum class Stream : std::uint64_t {
  search = 1,        // what a search draws
  folds = 2,         // fresh folds
  measurement = 3,   // the last measurement, on folds that no search has seen
  estimators = 4,    // random_state of estimators that have none
  bootstrap = 5,     // samples of an ensemble of rankers
  rankers = 6,       // the rankers' own seeds
  outer_folds = 7,   // selectors in nested cross-validation
  start = 8,         // where a search begins
  tests = 9,         // tables of the tests
  instances = 10,    // the samples that a filter looks at where it does not take all
  probes = 11,       // random features that a filter measures features by
  microarray = 12,   // made tables
  restarts = 13,     // the keys of the restarts of a search
  gates = 14,        // noise of stochastic gates, sampled masks; a lane for each step
  batches = 15,      // the order of the samples; a lane for each epoch
  weights = 16,      // initial weights; a lane for each layer
  holdout = 17,      // the samples of a validation part
  dropout = 18,      // seeds of what torch draws; a word for each step
  permutations = 19,  // orders of the samples under independence; a lane for each test
};

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

// The number of a standard normal distribution that stands where a word stands among all words.
double normal_of(std::uint64_t word);

// Numbers from the words of one stream in order. A lane is a stream of its own under the same key:
// one for each repeat, sample or iteration makes parallel work draw alike for any number of
// threads, and what is drawn a function of (key, stream, lane, word number) alone.
class PhiloxStream {
 public:
  PhiloxStream(std::uint64_t key, Stream stream, std::uint64_t lane = 0,
               std::uint64_t first_word = 0)
      : key_(key), stream_(static_cast<std::uint64_t>(stream)), lane_(lane) {
    seek(first_word);
  }

  std::uint64_t next() {
    if (used_ == 4) refill();
    return words_[used_++];
  }

  // Number of the word that comes next, modulo 2^64.
  std::uint64_t position() const { return 4 * block_ - (4 - used_); }

  void seek(std::uint64_t word) {
    block_ = word / 4;
    used_ = 4;
    if (word % 4 != 0) {
      refill();
      used_ = static_cast<unsigned>(word % 4);
    }
  }

  // Uniform in [0, 1), a multiple of 2^-53. One word.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Standard normal. One word.
  double normal() { return normal_of(next()); }

  // Uniform in [0, bound), bound >= 1, without bias (Lemire 2019, by rejection): one word, another
  // in less than bound of 2^64 cases.
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t low;
    std::uint64_t high = multiply_high(next(), bound, low);
    if (low < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (low < threshold) high = multiply_high(next(), bound, low);
    }
    return high;
  }

  // Fisher-Yates from the end (Durstenfeld 1964): all orders are equally likely.
  template <typename T>
  void shuffle(T* values, std::size_t n) {
    for (std::size_t i = n; i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

  // k of 0, ..., n - 1 without replacement, k <= n, in the order drawn: what shuffle would put
  // last, last but one and so on, so that fewer are the beginning of more. O(k) memory.
  void choose(std::uint64_t n, std::size_t k, std::int64_t* chosen);

 private:
  void refill() {
    words_ = philox4x64(key_, stream_, {block_++, lane_, 0, 0});
    used_ = 0;
  }

  std::uint64_t key_, stream_, lane_, block_ = 0;
  PhiloxBlock words_{};
  unsigned used_ = 4;
};

}  // namespace bitsieve
