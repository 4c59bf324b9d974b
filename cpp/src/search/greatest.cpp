#include "bitsieve/search/greatest.hpp"

#include <algorithm>
#include <array>

namespace bitsieve {

std::size_t greatest_at(const double* values, std::size_t n, double place) {
  constexpr std::size_t n_lanes = 8;  // side by side, for the vectoriser
  std::array<double, n_lanes> high;
  high.fill(values[0]);
  std::size_t i = 0;
  for (; i + n_lanes <= n; i += n_lanes) {
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
      const double value = values[i + lane];
      high[lane] = value > high[lane] ? value : high[lane];
    }
  }
  for (; i < n; ++i) high[0] = std::max(high[0], values[i]);
  const double best = *std::max_element(high.begin(), high.end());
  const auto ties = static_cast<std::size_t>(std::count(values, values + n, best));
  auto left = static_cast<std::size_t>(place * static_cast<double>(ties));
  std::size_t at = 0;
  for (;; ++at) {
    if (values[at] == best && left-- == 0) return at;
  }
}

}  // namespace bitsieve
