#include "bitsieve/discrete/levels.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t lanes = 64;      // features a tile
constexpr std::size_t rows_ahead = 6;  // to be read soon

// The value as an int32, or any other number where it is none.
template <typename T>
std::int32_t as_int(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  } else {
    constexpr T reach = 2e9f;
    return static_cast<std::int32_t>(value >= -reach && value <= reach ? value : T{0});
  }
}

// Whole numbers far apart: find each value's place among the distinct ones.
template <typename T>
std::int32_t encode_by_search(const T* x, std::size_t n, std::size_t p, std::size_t most,
                              std::uint8_t* codes) {
  std::vector<T> levels;
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = std::lower_bound(levels.begin(), levels.end(), x[i * p]);
    if (at != levels.end() && *at == x[i * p]) continue;
    if (levels.size() == most) return too_many;
    levels.insert(at, x[i * p]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = std::lower_bound(levels.begin(), levels.end(), x[i * p]);
    codes[i * p] = static_cast<std::uint8_t>(at - levels.begin());
  }
  return static_cast<std::int32_t>(levels.size());
}

// Whether a column holds whole numbers alone. From 2^53 on every float64 is one, which says nothing.
template <typename T>
bool is_whole(const T* x, std::size_t n, std::size_t p) {
  constexpr double reach = 9007199254740992.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i * p]);
    if (!(value > -reach && value < reach && value == std::floor(value))) return false;
  }
  return true;
}

struct Tile {
  std::vector<std::uint8_t> offsets;  // n x lanes: from 128 below the first sample's value
  std::vector<std::uint8_t> place;    // lanes x 256: whether an offset occurs, then its code
};

// Offsets of `count` columns; bits past the eighth in `beyond` where one does not fit, anything in
// `wrong` where a value is no whole number; false if that is so in all of them.
template <typename T, typename Count>
bool offsets_of(const T* x, std::size_t n, std::size_t p, Count count, std::uint8_t* offsets,
                std::uint32_t* beyond, std::uint32_t* wrong) {
  std::uint32_t base[lanes];
  for (std::size_t l = 0; l < count; ++l) {
    base[l] = static_cast<std::uint32_t>(as_int(x[l])) - 128u;
    beyond[l] = wrong[l] = 0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = x + i * p;
    if (i + rows_ahead < n) {
      for (std::size_t l = 0; l < count; l += cache_line / sizeof(T)) {
        prefetch(row + rows_ahead * p + l);
      }
    }
    std::uint8_t* out = offsets + i * lanes;
    for (std::size_t l = 0; l < count; ++l) {
      const std::int32_t whole = as_int(row[l]);
      const std::uint32_t offset = static_cast<std::uint32_t>(whole) - base[l];
      wrong[l] |= static_cast<std::uint32_t>(static_cast<T>(whole) != row[l]);
      beyond[l] |= offset;
      out[l] = static_cast<std::uint8_t>(offset);
    }
    if (i == 15 || i + 1 == n) {
      bool any = false;
      for (std::size_t l = 0; l < count; ++l) any = any || wrong[l] == 0;
      if (!any) return false;
    }
  }
  return true;
}

}  // namespace

template <typename T>
void encode_levels(const T* x, std::size_t n, std::size_t p, std::size_t most,
                   std::uint8_t* codes, std::int32_t* n_levels, int n_threads) {
  std::vector<Tile> tiles(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  parallel_for_worker((p + lanes - 1) / lanes, n_threads, [&](std::size_t chunk, int worker) {
    const std::size_t first = chunk * lanes, count = std::min(lanes, p - first);
    Tile& tile = tiles[static_cast<std::size_t>(worker)];
    tile.offsets.resize(n * lanes);
    std::uint32_t beyond[lanes], wrong[lanes];
    const auto read = [&](auto width) {
      return offsets_of(x + first, n, p, width, tile.offsets.data(), beyond, wrong);
    };
    const auto far_apart = [&](std::size_t l) {  // beyond int32, or no levels
      const T* column = x + first + l;
      return is_whole(column, n, p) ? encode_by_search(column, n, p, most, codes + first + l)
                                    : fractional;
    };
    if (!(count == lanes ? read(std::integral_constant<std::size_t, lanes>()) : read(count))) {
      for (std::size_t l = 0; l < count; ++l) n_levels[first + l] = far_apart(l);
      return;
    }
    tile.place.assign(lanes * 256, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* row = tile.offsets.data() + i * lanes;
      for (std::size_t l = 0; l < count; ++l) tile.place[l * 256 + row[l]] = 1;
    }
    std::size_t n_coded = 0;
    bool coded[lanes] = {};
    for (std::size_t l = 0; l < count; ++l) {
      std::int32_t& levels = n_levels[first + l];
      if (wrong[l]) {
        levels = far_apart(l);
        continue;
      }
      if (beyond[l] > 255) {
        levels = encode_by_search(x + first + l, n, p, most, codes + first + l);
        continue;
      }
      levels = 0;
      for (std::size_t v = 0; v < 256; ++v) {
        std::uint8_t& code = tile.place[l * 256 + v];
        if (code) code = static_cast<std::uint8_t>(levels++);
      }
      coded[l] = static_cast<std::size_t>(levels) <= most;
      n_coded += coded[l];
      if (!coded[l]) levels = too_many;
    }
    if (n_coded == 0) return;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* row = tile.offsets.data() + i * lanes;
      std::uint8_t* out = codes + i * p + first;
      if (n_coded == lanes) {
        for (std::size_t l = 0; l < lanes; ++l) out[l] = tile.place[l * 256 + row[l]];
      } else {
        for (std::size_t l = 0; l < count; ++l) {
          if (coded[l]) out[l] = tile.place[l * 256 + row[l]];
        }
      }
    }
  });
}

#define BITSIEVE_ENCODE(T)                                                                \
  template void encode_levels(const T*, std::size_t, std::size_t, std::size_t,            \
                              std::uint8_t*, std::int32_t*, int)
BITSIEVE_ENCODE(float);
BITSIEVE_ENCODE(double);
BITSIEVE_ENCODE(std::int8_t);
BITSIEVE_ENCODE(std::uint8_t);
BITSIEVE_ENCODE(std::int16_t);
BITSIEVE_ENCODE(std::int32_t);
BITSIEVE_ENCODE(std::int64_t);
#undef BITSIEVE_ENCODE

}  // namespace bitsieve
