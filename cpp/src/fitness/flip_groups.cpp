#include "flip_groups.hpp"

#include <algorithm>

namespace bitsieve {

FlipGroups::FlipGroups(const std::int64_t* flips, const std::int64_t* begin, std::size_t n_masks,
                       std::size_t n_features, std::size_t least) {
  const auto is_pair = [&](std::size_t m) {
    const std::int64_t* list = flips + begin[m];
    return begin[m + 1] == begin[m] + 2 && list[0] != list[1];
  };
  std::vector<std::size_t> shared(n_features, 0);  // masks of two that flip a feature
  for (std::size_t m = 0; m < n_masks; ++m) {
    if (!is_pair(m)) continue;
    ++shared[static_cast<std::size_t>(flips[begin[m]])];
    ++shared[static_cast<std::size_t>(flips[begin[m] + 1])];
  }
  // Group 0 is the base's, f + 1 that of feature f, the last those that have none.
  const std::size_t last = n_features + 1;
  const auto group_of = [&](std::size_t m, std::int64_t& other) {
    const std::int64_t* list = flips + begin[m];
    if (begin[m + 1] == begin[m] + 1) {
      other = list[0];
      return std::size_t{0};
    }
    if (!is_pair(m)) return last;
    const std::int64_t low = std::min(list[0], list[1]), high = std::max(list[0], list[1]);
    const bool by_low =
        shared[static_cast<std::size_t>(low)] >= shared[static_cast<std::size_t>(high)];
    other = by_low ? high : low;
    return static_cast<std::size_t>(by_low ? low : high) + 1;
  };
  std::vector<std::size_t> next(last + 1, 0);  // first sizes, then where the next mask goes
  std::int64_t other = 0;
  for (std::size_t m = 0; m < n_masks; ++m) ++next[group_of(m, other)];
  std::size_t n_grouped = 0;
  constexpr std::size_t too_small = static_cast<std::size_t>(-1);
  for (std::size_t g = 0; g <= last; ++g) {
    const std::size_t size = next[g];
    if (size < least || size == 0 || g == last) {
      next[g] = too_small;
      continue;
    }
    groups.push_back({static_cast<std::int64_t>(g) - 1, n_grouped, size});
    next[g] = n_grouped;
    n_grouped += size;
  }
  masks.resize(n_grouped);
  others.resize(n_grouped);
  for (std::size_t m = 0; m < n_masks; ++m) {
    const std::size_t g = group_of(m, other);
    if (next[g] == too_small) {
      left.push_back(m);
      continue;
    }
    masks[next[g]] = m;
    others[next[g]++] = other;
  }
}

}  // namespace bitsieve
