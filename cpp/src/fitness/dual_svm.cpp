#include "bitsieve/fitness/dual_svm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr double beyond = std::numeric_limits<double>::infinity();
constexpr std::uint64_t steps_between_polls = 10'000;

// Rounding may leave more than the tolerance after all: so often the slack is made afresh.
constexpr int most_renewals = 5;

// The matrices in aligned rows, for all problems.
class SvmMatrices {
 public:
  SvmMatrices(const DualSvm& svm, const SvmKernels& kernel)
      : n(svm.n),
        ld((svm.n + svm_lanes - 1) / svm_lanes * svm_lanes),
        matrix(n * ld),
        inverse(n * ld) {
    AlignedVector<double> diagonal(ld);
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = svm.matrix + i * n;
      double* copy = matrix.data() + i * ld;
      std::copy_n(row, n, copy);
      std::fill(copy + n, copy + ld, 0.0);
      diagonal[i] = row[i];
    }
    kernel.invert(matrix.data(), n, ld, diagonal.data(), inverse.data());
  }

  const std::size_t n, ld;
  AlignedBuffer<double> matrix, inverse;
};

class SvmProblem {
 public:
  SvmProblem(const DualSvm& svm, const SvmMatrices& matrices, const SvmKernels& kernel,
             const std::int8_t* signs, double* coefficients)
      : kernel_(kernel), signs_(signs), values_(3 * matrices.ld + 2 * matrices.n) {
    const std::size_t n = matrices.n, ld = matrices.ld;
    double* at = values_.data();
    double *slack = at, *raise_bar = at + ld, *drop_bar = at + 2 * ld;
    double *lower = at + 3 * ld, *upper = lower + n;
    for (std::size_t i = 0; i < n; ++i) {
      const bool positive = signs[i] > 0;
      slack[i] = positive ? 1.0 : -1.0;
      lower[i] = positive ? 0.0 : -svm.C;
      upper[i] = positive ? svm.C : 0.0;
      raise_bar[i] = positive ? 0.0 : -beyond;
      drop_bar[i] = positive ? beyond : 0.0;
      coefficients[i] = 0.0;
    }
    std::fill(raise_bar + n, raise_bar + ld, -beyond);
    std::fill(drop_bar + n, drop_bar + ld, beyond);
    state_ = {matrices.matrix.data(), matrices.inverse.data(), n, ld, lower, upper, coefficients,
              slack, raise_bar, drop_bar};
  }

  // The violation that is left, measured with a slack that is free of what steps have added up.
  double solve(double tolerance) {
    std::uint64_t steps = 0;
    optimise(tolerance, steps);
    for (int renewal = 1;; ++renewal) {
      renew_slack();
      const std::uint64_t before = steps;
      const bool last = renewal == most_renewals || steps >= most_svm_steps;
      left_ = kernel_.optimise(state_, tolerance, 0, steps);
      if (last || !(left_.most - left_.least > tolerance)) break;
      optimise(tolerance, steps);
      if (steps == before) break;
    }
    return std::max(left_.most - left_.least, 0.0);
  }

  double intercept() const {
    double sum = 0.0;
    std::size_t n_free = 0;
    for (std::size_t i = 0; i < state_.n; ++i) {
      const double b = state_.coefficients[i];
      if (b <= state_.lower[i] || b >= state_.upper[i]) continue;
      sum += state_.slack[i];
      ++n_free;
    }
    if (n_free > 0) return sum / static_cast<double>(n_free);
    if (left_.most == -beyond) return left_.least == beyond ? 0.0 : left_.least;
    return left_.least == beyond ? left_.most : 0.5 * left_.most + 0.5 * left_.least;
  }

 private:
  void optimise(double tolerance, std::uint64_t& steps) {
    do {
      check_interrupt();
      left_ = kernel_.optimise(state_, tolerance, steps_between_polls, steps);
    } while (left_.most - left_.least > tolerance && steps < most_svm_steps);
  }

  void renew_slack() {
    const SvmState& s = state_;
    for (std::size_t i = 0; i < s.n; ++i) s.slack[i] = signs_[i] > 0 ? 1.0 : -1.0;
    for (std::size_t i = 0; i < s.n; ++i) {
      if (s.coefficients[i] != 0) kernel_.subtract(s.matrix + i * s.ld, s.ld, s.coefficients[i], s.slack);
    }
  }

  const SvmKernels& kernel_;
  const std::int8_t* signs_;
  AlignedVector<double> values_;
  SvmState state_{};
  SvmViolation left_{};
};

}  // namespace

void solve_dual_svms(const DualSvm& svm, const std::int8_t* signs, std::size_t n_problems,
                     int n_threads, double* coefficients, double* intercepts, double* violations) {
  const SvmKernels& kernel = *kernels().svm;
  const SvmMatrices matrices(svm, kernel);
  parallel_for(n_problems, n_threads, [&](std::size_t p) {
    SvmProblem problem(svm, matrices, kernel, signs + p * svm.n, coefficients + p * svm.n);
    violations[p] = problem.solve(svm.tolerance);
    intercepts[p] = problem.intercept();
  });
}

}  // namespace bitsieve
