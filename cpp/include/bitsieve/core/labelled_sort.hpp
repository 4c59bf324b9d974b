// Sorts values with a label each, by value alone: radix passes over the bits where there are many.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bitsieve {

struct Labelled {
  double value;
  std::int32_t label;
};

// Sorts without scratch memory of its own: `spare` is resized once and kept by the caller. Values
// must be no NaN; which of two equal values comes first is left open.
class LabelledSort {
 public:
  void operator()(std::vector<Labelled>& items) {
    if (items.size() < radix_from) {
      std::sort(items.begin(), items.end(),
                [](const Labelled& a, const Labelled& b) { return a.value < b.value; });
      return;
    }
    for (auto& counts : counts_) counts.fill(0);
    for (const Labelled& item : items) {
      const std::uint64_t key = ordered(item.value);
      for (std::size_t d = 0; d < n_digits; ++d) ++counts_[d][digit(key, d)];
    }
    spare_.resize(items.size());
    for (std::size_t d = 0; d < n_digits; ++d) {
      auto& counts = counts_[d];
      // All alike in this digit: nothing to do (the low bits of what was float32, for one).
      if (counts[digit(ordered(items[0].value), d)] == items.size()) continue;
      std::uint32_t begin = 0;
      for (std::uint32_t& count : counts) begin += std::exchange(count, begin);
      for (const Labelled& item : items) spare_[counts[digit(ordered(item.value), d)]++] = item;
      items.swap(spare_);
    }
  }

 private:
  static constexpr std::size_t radix_from = 256;
  static constexpr unsigned digit_bits = 11;
  static constexpr std::size_t n_digits = 6;

  // Bits that ascend as the numbers do; both zeros are one.
  static std::uint64_t ordered(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return (bits & sign) != 0 ? ~bits : bits | sign;
  }
  static std::size_t digit(std::uint64_t key, std::size_t d) {
    return (key >> (d * digit_bits)) & ((std::size_t{1} << digit_bits) - 1);
  }

  std::array<std::array<std::uint32_t, std::size_t{1} << digit_bits>, n_digits> counts_;
  std::vector<Labelled> spare_;
};

}  // namespace bitsieve
