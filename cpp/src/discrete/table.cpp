#include "bitsieve/discrete/table.hpp"

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

void refuse_code(std::size_t feature, std::size_t code, std::size_t bound) {
  throw std::invalid_argument("codes must lie below n_levels, but feature " +
                              std::to_string(feature) + " has " + std::to_string(code) + " and " +
                              std::to_string(bound) + " levels");
}

// Which of up to 64 bytes equal `value`, eight at a time.
std::uint64_t equal_bits(const std::uint8_t* bytes, std::size_t count, std::uint8_t value) {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7fu, ones = 0x0101010101010101u;
  std::uint64_t out = 0;
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    if constexpr (std::endian::native == std::endian::big) {
      std::uint64_t turned = 0;
      for (int k = 0; k < 8; ++k) turned |= (word >> (8 * k) & 0xff) << (56 - 8 * k);
      word = turned;
    }
    word ^= ones * value;
    const std::uint64_t zeros = ~(((word & low) + low) | word | low) >> 7;  // a one for each
    out |= (zeros * 0x0102040810204080u >> 56) << i;
  }
  for (; i < count; ++i) out |= std::uint64_t{bytes[i] == value} << i;
  return out;
}

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

template <typename Add>
void DiscreteTable::build(int n_threads, const Add& add) {
  const std::size_t n_blocks = (p_ + block - 1) / block;
  levels_.resize(p_);
  plane_at_.resize(p_);
  margin_at_.resize(p_);
  planes_.resize(n_blocks);
  margins_.resize(n_blocks);
  std::vector<std::vector<std::uint8_t>> scratch(
      static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t chunk, int worker) {
    const std::size_t first = chunk * block;
    add(first, std::min(block, p_ - first), scratch[static_cast<std::size_t>(worker)],
        margins_[chunk], planes_[chunk]);
  });
}

void DiscreteTable::add_column(std::size_t f, std::uint8_t* codes, std::size_t bound,
                               std::uint64_t* found, std::vector<std::uint32_t>& margins,
                               AlignedVector<std::uint64_t>& planes) {
  margin_at_[f] = static_cast<std::uint32_t>(margins.size());
  plane_at_[f] = static_cast<std::uint32_t>(planes.size());
  if (bound <= most_plane_levels) {
    add_planes(f, codes, bound, found, margins, planes);
  } else {
    add_codes(f, codes, bound, margins, planes);
  }
}

// From codes to levels that occur.
void DiscreteTable::add_entries(std::size_t f, std::size_t bound,
                                std::vector<std::uint32_t>& margins) {
  const auto begin = static_cast<std::size_t>(entry_begin_[f]);
  const auto end = static_cast<std::size_t>(entry_begin_[f + 1]);
  std::uint32_t counts[256] = {};
  for (std::size_t at = begin; at < end; ++at) ++counts[entry_levels_[at]];
  counts[entry_rest_[f]] += static_cast<std::uint32_t>(n_ - (end - begin));
  std::uint8_t place[256] = {};
  std::size_t levels = 0;
  margin_at_[f] = static_cast<std::uint32_t>(margins.size());
  for (std::size_t level = 0; level < 256; ++level) {
    if (counts[level] == 0) continue;
    if (level >= bound) refuse_code(f, level, bound);
    place[level] = static_cast<std::uint8_t>(levels++);
    margins.push_back(counts[level]);
  }
  levels_[f] = static_cast<std::uint16_t>(levels);
  for (std::size_t at = begin; at < end; ++at) entry_levels_[at] = place[entry_levels_[at]];
  entry_rest_[f] = place[entry_rest_[f]];
}

// Levels that do not occur are left out, and their numbers with them.
void DiscreteTable::add_planes(std::size_t f, const std::uint8_t* codes, std::size_t bound,
                               std::uint64_t* found, std::vector<std::uint32_t>& margins,
                               AlignedVector<std::uint64_t>& planes) {
  const std::size_t w = words();
  std::size_t total = 0, levels = 0, sizes[most_plane_levels];
  for (std::size_t level = 0; level < bound; ++level) {
    std::uint64_t* plane = found + levels * w;
    std::size_t size = 0;
    for (std::size_t j = 0; j < w; ++j) {
      plane[j] = equal_bits(codes + j * 64, std::min<std::size_t>(64, n_ - j * 64),
                            static_cast<std::uint8_t>(level));
      size += static_cast<std::size_t>(std::popcount(plane[j]));
    }
    total += size;
    if (size) sizes[levels++] = size;
  }
  if (total < n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (codes[i] >= bound) refuse_code(f, codes[i], bound);
    }
  }
  levels_[f] = static_cast<std::uint16_t>(levels);
  for (std::size_t level = 0; level < levels; ++level) {
    margins.push_back(static_cast<std::uint32_t>(sizes[level]));
  }
  planes.insert(planes.end(), found, found + (levels - 1) * w);
}

void DiscreteTable::add_codes(std::size_t f, std::uint8_t* codes, std::size_t bound,
                              std::vector<std::uint32_t>& margins,
                              AlignedVector<std::uint64_t>& planes) {
  std::uint32_t counts[256] = {};
  for (std::size_t i = 0; i < n_; ++i) ++counts[codes[i]];
  std::uint8_t place[256] = {};
  std::size_t levels = 0;
  for (std::size_t level = 0; level < 256; ++level) {
    if (counts[level] == 0) continue;
    if (level >= bound) refuse_code(f, level, bound);
    place[level] = static_cast<std::uint8_t>(levels++);
  }
  for (std::size_t i = 0; i < n_; ++i) codes[i] = place[codes[i]];
  if (levels <= most_plane_levels) {  // fewer occur than there might be
    std::vector<std::uint64_t> found(most_plane_levels * words());
    add_planes(f, codes, levels, found.data(), margins, planes);
    return;
  }
  levels_[f] = static_cast<std::uint16_t>(levels);
  for (std::size_t level = 0; level < 256; ++level) {
    if (counts[level]) margins.push_back(counts[level]);
  }
  const std::size_t begin = planes.size();
  planes.resize(begin + (n_ + 7) / 8, 0);
  std::memcpy(planes.data() + begin, codes, n_);
}

DiscreteTable::DiscreteTable(const std::uint8_t* codes, std::size_t n, std::size_t p,
                             const std::int32_t* bounds, int n_threads)
    : n_(n), p_(p) {
  build(n_threads, [&](std::size_t first, std::size_t count, std::vector<std::uint8_t>& scratch,
                       std::vector<std::uint32_t>& margins, AlignedVector<std::uint64_t>& planes) {
    scratch.resize(block * n_);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* row = codes + i * p + first;
      for (std::size_t k = 0; k < count; ++k) scratch[k * n + i] = row[k];
    }
    planes.reserve(count * words() * 2);
    std::vector<std::uint64_t> found(most_plane_levels * words());
    for (std::size_t k = 0; k < count; ++k) {
      add_column(first + k, scratch.data() + k * n, static_cast<std::size_t>(bounds[first + k]),
                 found.data(), margins, planes);
    }
  });
}

DiscreteTable::DiscreteTable(const std::int64_t* begin, const std::int32_t* rows,
                             const std::uint8_t* values, const std::uint8_t* rest, std::size_t n,
                             std::size_t p, const std::int32_t* bounds, int n_threads)
    : n_(n), p_(p), entry_rest_(rest, rest + p) {
  entry_begin_.push_back(0);
  for (std::size_t f = 0; f < p; ++f) {
    if (few_entries(begin[f + 1] - begin[f], n)) {
      entry_rows_.insert(entry_rows_.end(), rows + begin[f], rows + begin[f + 1]);
      entry_levels_.insert(entry_levels_.end(), values + begin[f], values + begin[f + 1]);
    }
    entry_begin_.push_back(static_cast<std::int64_t>(entry_rows_.size()));
  }
  build(n_threads, [&](std::size_t first, std::size_t count, std::vector<std::uint8_t>& scratch,
                       std::vector<std::uint32_t>& margins, AlignedVector<std::uint64_t>& planes) {
    std::vector<std::uint64_t> found(most_plane_levels * words());
    for (std::size_t f = first; f < first + count; ++f) {
      const auto bound = static_cast<std::size_t>(bounds[f]);
      if (few_entries(begin[f + 1] - begin[f], n)) {
        add_entries(f, bound, margins);
        continue;
      }
      scratch.assign(n, rest[f]);
      for (std::int64_t at = begin[f]; at < begin[f + 1]; ++at) scratch[rows[at]] = values[at];
      add_column(f, scratch.data(), bound, found.data(), margins, planes);
    }
  });
}

void DiscreteTable::codes(std::size_t f, std::uint8_t* out) const {
  if (levels_[f] == 1) {
    std::memset(out, 0, n_);
    return;
  }
  if (by_entries(f)) {
    const Entries own = entries(f);
    std::memset(out, own.rest, n_);
    for (std::size_t k = 0; k < own.count; ++k) out[own.rows[k]] = own.levels[k];
    return;
  }
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
  if (table_.by_entries(f) && size <= most_counts) {
    const DiscreteTable::Entries own = table_.entries(f);
    if (counts_.size() < size) counts_.resize(size);
    std::uint32_t* counts = counts_.data();
    std::uint32_t* rest = counts + own.rest * v.levels;
    std::copy(v.margins.begin(), v.margins.end(), rest);
    for (std::size_t k = 0; k < own.count; ++k) {
      const std::uint32_t level = v.codes[static_cast<std::size_t>(own.rows[k])];
      --rest[level];
      ++counts[own.levels[k] * v.levels + level];
    }
    const std::int64_t sum = entropy_.sum(counts, size, cells);
    std::fill_n(counts, size, 0u);
    return sum;
  }
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
