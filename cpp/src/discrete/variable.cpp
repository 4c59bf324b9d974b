#include "bitsieve/discrete/variable.hpp"

#include <algorithm>

namespace bitsieve {
namespace {

constexpr std::size_t most_variable_planes = 64;  // beyond them counting sample by sample is faster

}  // namespace

Variable make_variable(const std::uint32_t* codes, std::size_t n, std::size_t bound,
                       std::size_t cells) {
  Variable v;
  std::vector<std::uint32_t> place(bound, 0);
  for (std::size_t i = 0; i < n; ++i) place[codes[i]] = 1;
  std::uint32_t levels = 0;
  for (std::uint32_t& level : place) level = level ? levels++ : 0;
  v.levels = levels;
  v.cells = cells ? cells : levels;
  v.codes.resize(n);
  v.margins.assign(levels, 0);
  v.values.resize(levels);
  for (std::size_t i = 0; i < n; ++i) {
    v.codes[i] = place[codes[i]];
    ++v.margins[v.codes[i]];
    v.values[v.codes[i]] = codes[i];
  }
  if (levels > most_variable_planes) return v;
  const std::size_t words = (n + 63) / 64;
  v.planes.assign((levels - 1) * words, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (v.codes[i] + 1 < levels) {
      v.planes[v.codes[i] * words + i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
  return v;
}

Variable combine(const Variable& a, const Variable& b, std::size_t n) {
  const std::size_t bound = a.levels * b.levels;
  std::vector<std::uint32_t> codes(n);
  if (bound <= std::max<std::size_t>(4 * n, 1024)) {
    for (std::size_t i = 0; i < n; ++i) {
      codes[i] = static_cast<std::uint32_t>(a.codes[i] * b.levels + b.codes[i]);
    }
    return make_variable(codes.data(), n, bound, a.cells * b.cells);
  }
  std::vector<std::uint64_t> pairs(n);  // few of the combinations occur: number them by sorting
  for (std::size_t i = 0; i < n; ++i) {
    pairs[i] = std::uint64_t{a.codes[i]} * b.levels + b.codes[i];
  }
  std::vector<std::uint64_t> sorted = pairs;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<std::uint32_t>(
        std::lower_bound(sorted.begin(), sorted.end(), pairs[i]) - sorted.begin());
  }
  return make_variable(codes.data(), n, sorted.size(), a.cells * b.cells);
}

}  // namespace bitsieve
