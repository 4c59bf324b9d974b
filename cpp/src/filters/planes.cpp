#include "bitsieve/filters/planes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_variable_planes = 64;  // beyond them counting sample by sample is faster
constexpr std::size_t most_counts = std::size_t{1} << 22;  // 16 MB of counts a thread

}  // namespace

// ---- variables ----------------------------------------------------------------------------

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
  for (std::size_t i = 0; i < n; ++i) {
    v.codes[i] = place[codes[i]];
    ++v.margins[v.codes[i]];
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

// ---- the table ----------------------------------------------------------------------------

// column(first, count, out): codes of `count` features from `first` on, n bytes each.
template <typename Column>
void DiscreteTable::build(const std::int32_t* bounds, int n_threads, const Column& column) {
  const std::size_t n_blocks = (p_ + block - 1) / block;
  levels_.resize(p_);
  plane_at_.resize(p_);
  margin_at_.resize(p_);
  planes_.resize(n_blocks);
  margins_.resize(n_blocks);
  const std::size_t w = words(), bytes = (n_ + 7) / 8;
  std::vector<std::vector<std::uint8_t>> scratch(
      static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t chunk, int worker) {
    std::vector<std::uint8_t>& codes = scratch[static_cast<std::size_t>(worker)];
    codes.resize(block * n_);
    const std::size_t first = chunk * block, count = std::min(block, p_ - first);
    column(first, count, codes.data());
    // Levels that do not occur are left out, and their numbers with them.
    std::vector<std::uint32_t>& margins = margins_[chunk];
    std::size_t total = 0;
    for (std::size_t k = 0; k < count; ++k) {
      std::uint8_t* own = codes.data() + k * n_;
      std::uint32_t counts[256] = {};
      for (std::size_t i = 0; i < n_; ++i) ++counts[own[i]];
      const std::size_t bound = static_cast<std::size_t>(bounds[first + k]);
      for (std::size_t level = bound; level < 256; ++level) {
        if (counts[level]) {
          throw std::invalid_argument("codes must lie below n_levels, but feature " +
                                      std::to_string(first + k) + " has " + std::to_string(level) +
                                      " and " + std::to_string(bound) + " levels");
        }
      }
      std::uint8_t place[256] = {};
      std::size_t levels = 0;
      margin_at_[first + k] = static_cast<std::uint32_t>(margins.size());
      for (std::size_t level = 0; level < bound; ++level) {
        if (counts[level] == 0) continue;
        place[level] = static_cast<std::uint8_t>(levels++);
        margins.push_back(counts[level]);
      }
      if (levels < bound) {
        for (std::size_t i = 0; i < n_; ++i) own[i] = place[own[i]];
      }
      levels_[first + k] = static_cast<std::uint16_t>(levels);
      plane_at_[first + k] = static_cast<std::uint32_t>(total);
      total += levels <= most_plane_levels ? (levels - 1) * w : bytes;
    }
    AlignedVector<std::uint64_t>& planes = planes_[chunk];
    planes.assign(total, 0);
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint8_t* own = codes.data() + k * n_;
      std::uint64_t* to = planes.data() + plane_at_[first + k];
      const std::size_t levels = levels_[first + k];
      if (levels > most_plane_levels) {
        std::memcpy(to, own, n_);
        continue;
      }
      for (std::size_t j = 0; j < w; ++j) {
        std::uint64_t word[most_plane_levels] = {};
        const std::size_t begin = j * 64, end = std::min(n_, begin + 64);
        for (std::size_t i = begin; i < end; ++i) word[own[i]] |= std::uint64_t{1} << (i - begin);
        for (std::size_t level = 0; level + 1 < levels; ++level) to[level * w + j] = word[level];
      }
    }
  });
}

DiscreteTable::DiscreteTable(const std::uint8_t* codes, std::size_t n, std::size_t p,
                             const std::int32_t* bounds, int n_threads)
    : n_(n), p_(p) {
  build(bounds, n_threads, [&](std::size_t first, std::size_t count, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* row = codes + i * p + first;
      for (std::size_t k = 0; k < count; ++k) out[k * n + i] = row[k];
    }
  });
}

DiscreteTable::DiscreteTable(const std::int64_t* begin, const std::int32_t* rows,
                             const std::uint8_t* values, const std::uint8_t* rest, std::size_t n,
                             std::size_t p, const std::int32_t* bounds, int n_threads)
    : n_(n), p_(p) {
  build(bounds, n_threads, [&](std::size_t first, std::size_t count, std::uint8_t* out) {
    for (std::size_t k = 0; k < count; ++k) {
      std::uint8_t* own = out + k * n;
      std::memset(own, rest[first + k], n);
      for (std::int64_t at = begin[first + k]; at < begin[first + k + 1]; ++at) {
        own[rows[at]] = values[at];
      }
    }
  });
}

void DiscreteTable::codes(std::size_t f, std::uint8_t* out) const {
  const std::uint64_t* from = planes_[f / block].data() + plane_at_[f];
  if (!by_planes(f)) {
    std::memcpy(out, from, n_);
    return;
  }
  const std::size_t w = words(), last = levels_[f] - 1u;
  std::memset(out, static_cast<int>(last), n_);
  for (std::size_t level = 0; level < last; ++level) {
    for (std::size_t j = 0; j < w; ++j) {
      for (std::uint64_t word = from[level * w + j]; word != 0; word &= word - 1) {
        out[j * 64 + static_cast<std::size_t>(std::countr_zero(word))] =
            static_cast<std::uint8_t>(level);
      }
    }
  }
}

Variable DiscreteTable::variable(std::size_t f) const {
  std::vector<std::uint8_t> bytes(n_);
  codes(f, bytes.data());
  const std::vector<std::uint32_t> wide(bytes.begin(), bytes.end());
  return make_variable(wide.data(), n_, levels_[f]);
}

// ---- counting -----------------------------------------------------------------------------

Counter::Counter(const DiscreteTable& table, const EntropyTable& entropy)
    : table_(table), entropy_(entropy), decoded_(std::numeric_limits<std::size_t>::max()) {}

std::int64_t Counter::single(std::size_t f) {
  return entropy_.sum(table_.margins(f), table_.levels(f), table_.levels(f));
}

std::int64_t Counter::joint(std::size_t f, const Variable& v) {
  const std::size_t levels = table_.levels(f), n = table_.n(), words = table_.words();
  const std::size_t cells = levels * v.cells, size = levels * v.levels;
  const std::int64_t* plain = entropy_.plain();
  if (table_.by_planes(f) && (v.levels == 1 || !v.planes.empty()) &&
      (levels - 1) * (v.levels - 1) * words <= 2 * n + 64) {
    const InformationKernels& kernel = *kernels().information;
    if (plain) return kernel.plane_sum(table_.view(f), v.view(), words, plain);
    if (counts_.size() < size) counts_.resize(size);
    kernel.plane_counts(table_.view(f), v.view(), words, counts_.data());
    const std::int64_t sum = entropy_.sum(counts_.data(), size, cells);
    std::fill_n(counts_.begin(), size, 0u);
    return sum;
  }
  if (codes_.empty()) codes_.resize(n);
  if (decoded_ != f) {
    table_.codes(f, codes_.data());
    decoded_ = f;
  }
  if (size > most_counts) {  // a wide table of few samples: count by sorting
    keys_.resize(n);
    for (std::size_t i = 0; i < n; ++i) keys_[i] = std::uint64_t{codes_[i]} * v.levels + v.codes[i];
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
  for (std::size_t i = 0; i < n; ++i) ++counts[codes_[i] * v.levels + v.codes[i]];
  std::int64_t sum = 0;
  if (plain && size > n) {  // most cells are empty: look at those that are not, and clear them
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t& count = counts[codes_[i] * v.levels + v.codes[i]];
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
