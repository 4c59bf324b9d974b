// One row of a first layer's weights and what its optimiser knows of it, some steps on. Contract as
// in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions; here no
// alignment is asked for. Every operation is rounded by itself (no fused one), so that the bits are
// the same on every instruction set, and those of many steps in one call those of a call a step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// Adam (Kingma and Ba 2015) with the decay as L2 penalty, as torch.optim.Adam has it:
//   g += decay w,  m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
//   w -= rates[t] m / (roots[t] sqrt(v) + epsilon)
// where rates[t] = rate / (1 - b1^t) and roots[t] = 1 / sqrt(1 - b2^t). m and v are rounded to whole
// multiples of 2^-123, so that what fades never becomes subnormal, which is slow.
// Plain descent, w -= rate g, where `rates` is null.
struct RowSteps {
  const float* rates;
  const float* roots;
  std::size_t n_rates;  // the last one holds for all later steps
  float rate, decay, keep_mean, add_mean, keep_square, add_square, epsilon;
};

struct RowKernels {
  // Steps first + 1 to last of n weights whose loss has no gradient. `mean` and `square` are not
  // read where `rates` is null.
  // Limit: a division and a root of a vector each step.
  void (*advance)(float* weight, float* mean, float* square, std::size_t n, std::uint64_t first,
                  std::uint64_t last, const RowSteps& steps);

  // Step `step` with the gradient sum_k gates[k * ld] gradient[k * n + j], in the order of k; gates
  // are 1 where they are null.
  void (*learn)(float* weight, float* mean, float* square, std::size_t n, const float* gates,
                std::size_t ld, const float* gradient, std::size_t n_draws, std::uint64_t step,
                const RowSteps& steps);
};

}  // namespace bitsieve
