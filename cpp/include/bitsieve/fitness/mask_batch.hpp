// Masks that are evaluated together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitsieve/core/mask.hpp"

namespace bitsieve {

struct MaskBatch {
  const Word* masks;
  std::size_t n_masks;
  const std::uint64_t* seeds;  // one a mask
  // Where they are part of a neighborhood: the mask that they are near, and how many are.
  const Word* base = nullptr;
  std::size_t n_neighbors = 0;
  bool wants_values = false;  // not only which classes are predicted
};

}  // namespace bitsieve
