#include "bitsieve/discrete/table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

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

template <typename Add>
void DiscreteTable::build(int n_threads, const Add& add) {
  const std::size_t n_blocks = (p_ + block - 1) / block;
  levels_.resize(p_);
  plane_at_.resize(p_);
  margin_at_.resize(p_);
  planes_.resize(n_blocks);
  margins_.resize(n_blocks);
  values_.resize(n_blocks);
  std::vector<std::vector<std::uint8_t>> scratch(
      static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker(n_blocks, n_threads, [&](std::size_t chunk, int worker) {
    const std::size_t first = chunk * block;
    margins_[chunk].reserve(2 * block);
    values_[chunk].reserve(2 * block);
    add(first, std::min(block, p_ - first), scratch[static_cast<std::size_t>(worker)]);
  });
}

void DiscreteTable::add_column(std::size_t f, std::uint8_t* codes, std::size_t bound,
                               std::uint64_t* found) {
  margin_at_[f] = static_cast<std::uint32_t>(margins_[f / block].size());
  plane_at_[f] = static_cast<std::uint32_t>(planes_[f / block].size());
  if (bound <= most_plane_levels) {
    add_planes(f, codes, bound, nullptr, found);
  } else {
    add_codes(f, codes, bound);
  }
}

// From codes to levels that occur.
void DiscreteTable::add_entries(std::size_t f, std::size_t bound) {
  std::vector<std::uint32_t>& margins = margins_[f / block];
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
    values_[f / block].push_back(static_cast<std::uint8_t>(level));
  }
  levels_[f] = static_cast<std::uint16_t>(levels);
  for (std::size_t at = begin; at < end; ++at) entry_levels_[at] = place[entry_levels_[at]];
  entry_rest_[f] = place[entry_rest_[f]];
}

// Levels that do not occur are left out, and their numbers with them.
void DiscreteTable::add_planes(std::size_t f, const std::uint8_t* codes, std::size_t bound,
                               const std::uint8_t* values, std::uint64_t* found) {
  AlignedVector<std::uint64_t>& planes = planes_[f / block];
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
    if (size == 0) continue;
    sizes[levels++] = size;
    values_[f / block].push_back(values ? values[level] : static_cast<std::uint8_t>(level));
  }
  if (total < n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (codes[i] >= bound) refuse_code(f, codes[i], bound);
    }
  }
  levels_[f] = static_cast<std::uint16_t>(levels);
  for (std::size_t level = 0; level < levels; ++level) {
    margins_[f / block].push_back(static_cast<std::uint32_t>(sizes[level]));
  }
  planes.insert(planes.end(), found, found + (levels - 1) * w);
}

void DiscreteTable::add_codes(std::size_t f, std::uint8_t* codes, std::size_t bound) {
  std::uint32_t counts[256] = {};
  for (std::size_t i = 0; i < n_; ++i) ++counts[codes[i]];
  std::uint8_t place[256] = {}, values[256];
  std::size_t levels = 0;
  for (std::size_t level = 0; level < 256; ++level) {
    if (counts[level] == 0) continue;
    if (level >= bound) refuse_code(f, level, bound);
    values[levels] = static_cast<std::uint8_t>(level);
    place[level] = static_cast<std::uint8_t>(levels++);
  }
  for (std::size_t i = 0; i < n_; ++i) codes[i] = place[codes[i]];
  if (levels <= most_plane_levels) {  // fewer occur than there might be
    std::vector<std::uint64_t> found(most_plane_levels * words());
    add_planes(f, codes, levels, values, found.data());
    return;
  }
  levels_[f] = static_cast<std::uint16_t>(levels);
  for (std::size_t level = 0; level < 256; ++level) {
    if (counts[level]) margins_[f / block].push_back(counts[level]);
  }
  values_[f / block].insert(values_[f / block].end(), values, values + levels);
  AlignedVector<std::uint64_t>& planes = planes_[f / block];
  const std::size_t begin = planes.size();
  planes.resize(begin + (n_ + 7) / 8, 0);
  std::memcpy(planes.data() + begin, codes, n_);
}

DiscreteTable::DiscreteTable(const std::uint8_t* codes, std::size_t n, std::size_t p,
                             const std::int32_t* bounds, int n_threads)
    : n_(n), p_(p) {
  build(n_threads, [&](std::size_t first, std::size_t count, std::vector<std::uint8_t>& scratch) {
    scratch.resize(block * n_);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* row = codes + i * p + first;
      for (std::size_t k = 0; k < count; ++k) scratch[k * n + i] = row[k];
    }
    planes_[first / block].reserve(count * words() * 2);
    std::vector<std::uint64_t> found(most_plane_levels * words());
    for (std::size_t k = 0; k < count; ++k) {
      add_column(first + k, scratch.data() + k * n, static_cast<std::size_t>(bounds[first + k]),
                 found.data());
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
  build(n_threads, [&](std::size_t first, std::size_t count, std::vector<std::uint8_t>& scratch) {
    std::vector<std::uint64_t> found(most_plane_levels * words());
    for (std::size_t f = first; f < first + count; ++f) {
      const auto bound = static_cast<std::size_t>(bounds[f]);
      if (few_entries(begin[f + 1] - begin[f], n)) {
        add_entries(f, bound);
        continue;
      }
      scratch.assign(n, rest[f]);
      for (std::int64_t at = begin[f]; at < begin[f + 1]; ++at) scratch[rows[at]] = values[at];
      add_column(f, scratch.data(), bound, found.data());
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

}  // namespace bitsieve
