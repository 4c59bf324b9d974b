// Logarithms of tail probabilities, also of those that are too small for a float.
#pragma once

#include <cstdint>

namespace bitsieve {

// log P(chi-squared of dof degrees of freedom > x); 0 for x <= 0 or dof 0. Relative error below
// 1e-12 for dof up to 10,000. dof >= 0, x no NaN.
double log_chi_squared_tail(double x, std::int64_t dof);

// log P(|standard normal| > |z|).
double log_normal_tails(double z);

}  // namespace bitsieve
