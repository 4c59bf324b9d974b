// A table of discrete features, feature-major: bit planes where a feature has few levels, a byte a
// sample where it has many; of a sparse table the entries alone where they are few.
//
//   codes uint8 (n, p) --tile by tile--> DiscreteTable     one Feature a column
//   target, feature, several together -> Variable          planes and codes of one variable
//   Counter (contingency.hpp): Feature x Variable -> contingency table
//
// Memory: (levels - 1) * n / 8 bytes a feature, or n from most_plane_levels on; 5 bytes an entry of
// features that few_entries says, which are counted in time proportional to their entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/discrete/variable.hpp"
#include "bitsieve/isa/information_kernels.hpp"

namespace bitsieve {

class DiscreteTable {
 public:
  // codes[i * p + f] < bounds[f] <= 256.
  DiscreteTable(const std::uint8_t* codes, std::size_t n, std::size_t p,
                const std::int32_t* bounds, int n_threads);

  // Whether a feature of so many entries is kept as these.
  static bool few_entries(std::int64_t entries, std::size_t n) {
    return static_cast<std::size_t>(entries) <= n / 32;
  }

  // By columns: feature f has code values[k] in sample rows[k] for k in [begin[f], begin[f + 1]),
  // and rest[f] in all others.
  DiscreteTable(const std::int64_t* begin, const std::int32_t* rows, const std::uint8_t* values,
                const std::uint8_t* rest, std::size_t n, std::size_t p,
                const std::int32_t* bounds, int n_threads);

  std::size_t n() const { return n_; }
  std::size_t p() const { return p_; }
  std::size_t words() const { return (n_ + 63) / 64; }
  std::size_t levels(std::size_t f) const { return levels_[f]; }
  bool by_planes(std::size_t f) const {
    return !by_entries(f) && levels_[f] <= most_plane_levels;
  }
  bool by_entries(std::size_t f) const {
    return !entry_begin_.empty() && entry_begin_[f] < entry_begin_[f + 1];
  }
  // Samples of a feature by entries, their levels, and the level of all others.
  struct Entries {
    const std::int32_t* rows;
    const std::uint8_t* levels;
    std::size_t count;
    std::uint8_t rest;
  };
  Entries entries(std::size_t f) const {
    const auto begin = static_cast<std::size_t>(entry_begin_[f]);
    return {entry_rows_.data() + begin, entry_levels_.data() + begin,
            static_cast<std::size_t>(entry_begin_[f + 1]) - begin, entry_rest_[f]};
  }
  PlaneView view(std::size_t f) const {
    return {planes_[f / block].data() + plane_at_[f], margins_[f / block].data() + margin_at_[f],
            levels_[f]};
  }
  const std::uint32_t* margins(std::size_t f) const {
    return margins_[f / block].data() + margin_at_[f];
  }
  // The code of each of the levels of a feature that occur, ascending.
  const std::uint8_t* values(std::size_t f) const {
    return values_[f / block].data() + margin_at_[f];
  }
  // Of each sample its place among these levels.
  void codes(std::size_t f, std::uint8_t* out) const;
  Variable variable(std::size_t f) const;

  static constexpr std::size_t block = 64;  // features a tile, and a piece of memory

 private:
  // Sets up the features of a block, each by add(first, count, scratch).
  template <typename Add>
  void build(int n_threads, const Add& add);
  // Each adds to the pieces of the feature's block.
  void add_entries(std::size_t f, std::size_t bound);
  void add_column(std::size_t f, std::uint8_t* codes, std::size_t bound, std::uint64_t* found);
  // `values`: what the codes stood for; nullptr for themselves.
  void add_planes(std::size_t f, const std::uint8_t* codes, std::size_t bound,
                  const std::uint8_t* values, std::uint64_t* found);
  void add_codes(std::size_t f, std::uint8_t* codes, std::size_t bound);

  std::size_t n_, p_;
  std::vector<std::uint16_t> levels_;
  std::vector<std::uint32_t> plane_at_, margin_at_;  // within the block; bytes of codes as words
  std::vector<AlignedVector<std::uint64_t>> planes_;
  std::vector<std::vector<std::uint32_t>> margins_;
  std::vector<std::vector<std::uint8_t>> values_;  // of each margin
  std::vector<std::int64_t> entry_begin_;  // a feature and one; empty ranges: not by entries
  std::vector<std::int32_t> entry_rows_;
  std::vector<std::uint8_t> entry_levels_, entry_rest_;
};

}  // namespace bitsieve
