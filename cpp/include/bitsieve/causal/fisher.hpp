// Fisher's z of partial correlations, two-sided.
//
// Correlations are computed when a test asks for them: one product of two columns each, or all of a
// variable once so many were asked that this pays. Both have the same bits. A variable that the set
// explains but for `explained` of its variance has nothing left to be dependent with: p is 1; in the
// set, one that those before it explain adds nothing. Constant variables are independent of all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/causal/independence.hpp"
#include "bitsieve/core/aligned.hpp"

namespace bitsieve {

class FisherTest : public IndependenceTest {
 public:
  // x: n samples by p variables, sample-major, finite. most_bytes: of kept correlations.
  FisherTest(const double* x, std::size_t n, std::size_t p, std::size_t most_kept,
             std::size_t most_bytes, int n_threads);
  ~FisherTest() override;

  static constexpr double explained = 1e-10;

  double correlation(std::size_t a, std::size_t b);
  // Centred, of length 1 (0 where it is constant), `ld` values with zeros at the end.
  const double* column(std::size_t f) const { return columns_.data() + f * ld_; }
  std::size_t ld() const { return ld_; }

  // Of given variables in ascending order, and what is left of two others.
  Independence of_correlation(double r, std::size_t given) const;

  std::unique_ptr<PairTests> make_worker() override;

 protected:
  void compute_many(const std::vector<std::size_t>& xs, std::size_t y,
                    const std::vector<std::size_t>& given, Independence* out,
                    int n_threads) override;
  bool worth_keeping() const override { return false; }

 private:
  const double* row(std::size_t f) const { return rows_[f].load(std::memory_order_acquire); }
  void make_row(std::size_t f, int n_threads);

  std::size_t ld_, most_rows_;
  AlignedVector<double> columns_;
  std::vector<std::atomic<double*>> rows_;        // correlations of one variable with all
  std::vector<std::atomic<std::uint32_t>> asked_;  // how many were computed one by one
  std::atomic<std::size_t> n_rows_{0};
};

}  // namespace bitsieve
