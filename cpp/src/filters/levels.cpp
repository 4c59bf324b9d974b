#include "bitsieve/filters/levels.hpp"

#include <algorithm>
#include <vector>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t lanes = 64;  // features a tile
constexpr double whole_limit = 2147483647.0;

bool is_whole(double value) { return value == static_cast<double>(static_cast<std::int32_t>(value)); }

// Columns of whole numbers far apart: find each value's place among the distinct ones.
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

}  // namespace

template <typename T>
void encode_levels(const T* x, std::size_t n, std::size_t p, std::size_t most,
                   std::uint8_t* codes, std::int32_t* n_levels, int n_threads) {
  parallel_for((p + lanes - 1) / lanes, n_threads, [&](std::size_t chunk) {
    const std::size_t first = chunk * lanes, count = std::min(lanes, p - first);
    T least[lanes], greatest[lanes];
    std::copy_n(x + first, count, least);
    std::copy_n(x + first, count, greatest);
    for (std::size_t i = 1; i < n; ++i) {
      const T* row = x + i * p + first;
      for (std::size_t l = 0; l < count; ++l) {
        least[l] = row[l] < least[l] ? row[l] : least[l];
        greatest[l] = row[l] > greatest[l] ? row[l] : greatest[l];
      }
    }
    enum Kind : std::uint8_t { table, search, left };
    Kind kind[lanes];
    std::int32_t base[lanes];
    bool any = false;
    for (std::size_t l = 0; l < count; ++l) {
      const double low = static_cast<double>(least[l]), high = static_cast<double>(greatest[l]);
      kind[l] = left;
      n_levels[first + l] = fractional;
      if (low < -whole_limit || high > whole_limit || !is_whole(low) || !is_whole(high)) continue;
      kind[l] = high - low < 256 ? table : search;
      base[l] = static_cast<std::int32_t>(low);
      any = true;
    }
    if (!any) return;
    std::vector<std::uint8_t> place(lanes * 256, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const T* row = x + i * p + first;
      for (std::size_t l = 0; l < count; ++l) {
        if (kind[l] == left) continue;
        const std::int32_t whole = static_cast<std::int32_t>(row[l]);
        if (static_cast<T>(whole) != row[l]) {
          kind[l] = left;
        } else if (kind[l] == table) {
          place[l * 256 + static_cast<std::size_t>(whole - base[l])] = 1;
        }
      }
    }
    for (std::size_t l = 0; l < count; ++l) {
      if (kind[l] == search) {
        n_levels[first + l] = encode_by_search(x + first + l, n, p, most, codes + first + l);
      } else if (kind[l] == table) {
        std::size_t levels = 0;
        for (std::size_t v = 0; v < 256; ++v) {
          std::uint8_t& code = place[l * 256 + v];
          if (code) code = static_cast<std::uint8_t>(levels++);
        }
        n_levels[first + l] = levels > most ? too_many : static_cast<std::int32_t>(levels);
        if (levels > most) kind[l] = left;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const T* row = x + i * p + first;
      std::uint8_t* out = codes + i * p + first;
      for (std::size_t l = 0; l < count; ++l) {
        if (kind[l] != table) continue;
        out[l] = place[l * 256 + static_cast<std::size_t>(static_cast<std::int32_t>(row[l]) - base[l])];
      }
    }
  });
}

template void encode_levels(const float*, std::size_t, std::size_t, std::size_t, std::uint8_t*,
                            std::int32_t*, int);
template void encode_levels(const double*, std::size_t, std::size_t, std::size_t, std::uint8_t*,
                            std::int32_t*, int);

}  // namespace bitsieve
