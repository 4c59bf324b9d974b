// The Hessian estimate of adaptive SPSA (Spall 2000, section II) and the direction that it makes of
// a gradient.
//
//   estimate  H_k = (h / 2) (Delta~ Delta' + Delta Delta~'),  h = (s-~ - s-) - (s+~ - s+)
//   mean      M_k = M_{k-1} + (H_k - M_{k-1}) / (k + 1)
//   positive  full:     M + t I, t the first of 2^-10 |M|, 2^-9 |M|, ... (Frobenius) for which a
//                       Cholesky factorisation exists (Nocedal and Wright 2006, algorithm 3.3)
//             diagonal: |M_ff| + their root mean square, feature by feature
//   direction the solution of (positive) x = Delta
//
// Spall minimises a loss, here a score is maximised: h has the sign of the loss's curvature. Signs
// are +1 and -1, so 1 / Delta = Delta. H is in the unit of the scores: that of the mean is by
// 2 c^2 larger than Spall's.
//
// The full form costs O(p^2) to update and O(p^3) for a direction, the diagonal form O(p). One
// thread, every sum in the order of the features: the same bits whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"

namespace bitsieve {

class Curvature {
 public:
  static constexpr std::size_t most_full = 500;  // features; diagonal above

  explicit Curvature(std::size_t n_features);

  // Takes h into the mean as its (k + 1)-th, with the signs of the two perturbations.
  void update(double h, const Word* delta, const Word* second, double k);

  // x, for p features; false, and nothing written, while nothing is known (M = 0).
  bool direction(const Word* delta, double* x);

  // M: p^2 numbers row by row, or p.
  const std::vector<double>& mean() const { return mean_; }
  void set_mean(const double* mean);
  void clear();

 private:
  bool factorise(double shift);

  std::size_t n_features_;
  bool is_full_;
  std::vector<double> mean_;
  AlignedVector<double> factor_;  // L, column by column
};

}  // namespace bitsieve
