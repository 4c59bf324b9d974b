// Support vector machines of two classes on one kernel matrix, by their dual.
//
// With signs y and kernel matrix K the coefficients b minimise  b' K b / 2 - y' b  over sum b = 0,
// 0 <= y_i b_i <= C: those that scikit-learn's SVC calls dual_coef_. A decision is K_test b + intercept.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

struct DualSvm {
  const double* matrix;  // [n][n], symmetric and positive semi-definite; values up to most_svm_value
  std::size_t n;
  double C;          // up to most_svm_value
  double tolerance;  // of the optimality conditions, in units of the decision
};

inline constexpr double most_svm_value = 1e150;        // no product of two overflows
inline constexpr double least_svm_tolerance = 1e-12;  // below it rounding decides

// Steps after which a problem is given up as it is: its coefficients are allowed ones, not the best.
inline constexpr std::uint64_t most_svm_steps = 1'000'000;

// For each problem p, signs[p * n + i] > 0 or not: coefficients[p * n + i], intercepts[p] (the mean
// over samples between the bounds, else the middle of what the others allow) and violations[p], how
// far the optimality conditions are from holding, measured afresh: at most the tolerance, but for a
// problem that was given up. Where all signs are equal, the intercept is that sign.
void solve_dual_svms(const DualSvm& svm, const std::int8_t* signs, std::size_t n_problems,
                     int n_threads, double* coefficients, double* intercepts, double* violations);

}  // namespace bitsieve
