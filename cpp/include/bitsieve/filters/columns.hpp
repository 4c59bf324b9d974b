// Features as unit vectors: centred, of length one, so that a product of two is Pearson's
// correlation (Spearman's where values were replaced by their ranks first). A constant feature is
// the zero vector.
//
//   X (n, p) sample-major, or by columns --16 features a tile--> moments: F, mean, length
//                                                            \-> the unit vectors, feature-major
//
// Dense tables keep the vectors, n rounded up to 16 float64 values a feature. Sparse ones keep
// mean and length alone and make a vector again when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/core/aligned.hpp"

namespace bitsieve {

// What the F of each feature is taken against: classes or numbers.
struct FTarget {
  const std::int32_t* codes = nullptr;  // in [0, n_classes), n_classes < n
  std::size_t n_classes = 0;
  const double* numbers = nullptr;
};

// A table by columns: feature f has values[k] in sample rows[k] for k in [begin[f], begin[f + 1]),
// ascending, and zero in all others.
struct SparseColumns {
  const std::int64_t* begin;
  const std::int32_t* rows;
  const double* values;
};

class UnitColumns {
 public:
  template <typename T>
  UnitColumns(const T* x, std::size_t n, std::size_t p, bool ranks, const FTarget& target,
              int n_threads);
  UnitColumns(const SparseColumns& x, std::size_t n, std::size_t p, bool ranks,
              const FTarget& target, int n_threads);

  std::size_t n() const { return n_; }
  std::size_t p() const { return p_; }
  std::size_t ld() const { return ld_; }

  // ld values, zero past n. Of a sparse table they are written to scratch, ld aligned doubles.
  const double* column(std::size_t f, double* scratch) const;

  // A hint that the column will be read soon.
  void fetch(std::size_t f) const {
    if (sparse_) return;
    const double* from = units_.data() + f * ld_;
    for (std::size_t i = 0; i < ld_ && i < 512; i += 8) prefetch(from + i);
  }

  // F of one-way analysis of variance, or of the linear regression on the target; 0 for a constant
  // feature, infinite for one that the target determines.
  const std::vector<double>& f_values() const { return f_values_; }

  // Whether all values were finite, and no square of one too great; if not, nothing else holds.
  bool is_finite() const { return finite_; }

 private:
  template <typename Fill>
  void build(bool ranks, const FTarget& target, int n_threads, const Fill& fill);

  std::size_t n_, p_, ld_;
  AlignedBuffer<double> units_;  // n_features x ld
  std::vector<double> f_values_;
  std::unique_ptr<SparseColumns> sparse_;
  bool ranks_ = false, finite_ = true;
  std::vector<double> mean_, scale_;
};

}  // namespace bitsieve
