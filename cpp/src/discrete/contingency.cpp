#include "bitsieve/discrete/contingency.hpp"

#include <algorithm>
#include <limits>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_counts = std::size_t{1} << 22;  // 16 MB of counts a thread

}  // namespace

Contingency::Contingency(const DiscreteTable& table)
    : table_(table), decoded_(std::numeric_limits<std::size_t>::max()) {}

bool Contingency::by_planes(std::size_t f, const Variable& v) const {
  return table_.by_planes(f) && (v.levels == 1 || !v.planes.empty()) &&
         (table_.levels(f) - 1) * (v.levels - 1) * table_.words() <= 2 * table_.n() + 64;
}

void Contingency::count_entries(std::size_t f, const Variable& v, std::uint32_t* out) const {
  const DiscreteTable::Entries own = table_.entries(f);
  std::uint32_t* rest = out + own.rest * v.levels;
  std::copy(v.margins.begin(), v.margins.end(), rest);
  for (std::size_t k = 0; k < own.count; ++k) {
    const std::uint32_t level = v.codes[static_cast<std::size_t>(own.rows[k])];
    --rest[level];
    ++out[own.levels[k] * v.levels + level];
  }
}

const std::uint8_t* Contingency::codes(std::size_t f) {
  if (codes_.empty()) codes_.resize(table_.n());
  if (decoded_ != f) {
    table_.codes(f, codes_.data());
    decoded_ = f;
  }
  return codes_.data();
}

void Contingency::counts(std::size_t f, const Variable& v, std::uint32_t* out) {
  if (table_.by_entries(f)) {
    count_entries(f, v, out);
  } else if (by_planes(f, v)) {
    kernels().information->plane_counts(table_.view(f), v.view(), table_.words(), out);
  } else {
    const std::uint8_t* own = codes(f);
    for (std::size_t i = 0; i < table_.n(); ++i) ++out[own[i] * v.levels + v.codes[i]];
  }
}

Counter::Counter(const DiscreteTable& table, const EntropyTable& entropy)
    : table_(table), entropy_(entropy), cells_(table) {}

std::int64_t Counter::single(std::size_t f) {
  return entropy_.sum(table_.margins(f), table_.levels(f), table_.levels(f));
}

std::int64_t Counter::joint(std::size_t f, const Variable& v) {
  const std::size_t levels = table_.levels(f), n = table_.n(), words = table_.words();
  const std::size_t cells = levels * v.cells, size = levels * v.levels;
  const std::int64_t* plain = entropy_.plain();
  if (table_.by_entries(f) && size <= most_counts) {
    if (counts_.size() < size) counts_.resize(size);
    cells_.count_entries(f, v, counts_.data());
    const std::int64_t sum = entropy_.sum(counts_.data(), size, cells);
    std::fill_n(counts_.begin(), size, 0u);
    return sum;
  }
  if (cells_.by_planes(f, v)) {
    const InformationKernels& kernel = *kernels().information;
    if (plain) return kernel.plane_sum(table_.view(f), v.view(), words, plain);
    if (counts_.size() < size) counts_.resize(size);
    kernel.plane_counts(table_.view(f), v.view(), words, counts_.data());
    const std::int64_t sum = entropy_.sum(counts_.data(), size, cells);
    std::fill_n(counts_.begin(), size, 0u);
    return sum;
  }
  const std::uint8_t* codes = cells_.codes(f);
  if (size > most_counts) {  // a wide table of few samples: count by sorting
    keys_.resize(n);
    for (std::size_t i = 0; i < n; ++i) keys_[i] = std::uint64_t{codes[i]} * v.levels + v.codes[i];
    std::sort(keys_.begin(), keys_.end());
    std::vector<std::uint32_t> runs;
    for (std::size_t i = 0, start = 0; i < n; ++i) {
      if (i + 1 == n || keys_[i + 1] != keys_[i]) {
        runs.push_back(static_cast<std::uint32_t>(i + 1 - start));
        start = i + 1;
      }
    }
    return entropy_.sum(runs.data(), runs.size(), cells);
  }
  if (counts_.size() < size) counts_.resize(size);
  std::uint32_t* counts = counts_.data();
  for (std::size_t i = 0; i < n; ++i) ++counts[codes[i] * v.levels + v.codes[i]];
  std::int64_t sum = 0;
  if (plain && size > n) {  // most cells are empty: look at those that are not, and clear them
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t& count = counts[codes[i] * v.levels + v.codes[i]];
      sum += plain[count];
      count = 0;
    }
    return sum;
  }
  sum = entropy_.sum(counts, size, cells);
  std::fill_n(counts, size, 0u);
  return sum;
}

}  // namespace bitsieve
