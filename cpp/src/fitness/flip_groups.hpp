// Masks of a compact batch that share a flip: the one-flip neighbors of the base with that flipped.
//
// A mask of one flip is a neighbor of the base itself. One of two joins the flip that more masks of
// two have, the lower feature of equals: so all m (p - m) swaps of a mask of m features are the
// neighborhoods of m bases (or of p - m, where these are fewer). What is in a group that is too
// small, or changes more features or none, is left over.
// Cost: O(flips + features), in time and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitsieve {

struct FlipGroups {
  static constexpr std::int64_t none = -1;

  struct Group {
    std::int64_t shared;       // feature that all of them flip, or none
    std::size_t first, count;  // of masks and flips
  };

  // Mask m flips flips[begin[m] .. begin[m + 1]).
  FlipGroups(const std::int64_t* flips, const std::int64_t* begin, std::size_t n_masks,
             std::size_t n_features, std::size_t least);

  std::vector<Group> groups;         // by the shared feature, none first
  std::vector<std::size_t> masks;    // of all groups, ascending in each
  std::vector<std::int64_t> others;  // what else each of them flips
  std::vector<std::size_t> left;     // masks of no group, ascending
};

}  // namespace bitsieve
