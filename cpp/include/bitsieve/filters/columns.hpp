// Features as unit vectors: centred, of length one, so that a product of two is Pearson's
// correlation (Spearman's where values were replaced by their ranks first). A constant feature is
// the zero vector.
//
//   X (n, p) sample-major, or by columns --16 features a tile--> moments: F, mean, length
//                                                            \-> the unit vectors, feature-major
//
// Dense tables keep the vectors rounded to float32, n rounded up to 16 values a feature: half of
// the memory and of the reading, and products with other unit vectors are right to `rounding`. The
// exact vectors, and those of sparse tables, are made again from X when they are asked for.
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

// X must outlive it.
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

  // ld values to aligned memory, zero past n.
  void exact(std::size_t f, double* out) const;

  // The same rounded; nullptr for sparse tables.
  const float* rounded(std::size_t f) const {
    return sparse_ ? nullptr : rounded_.data() + f * ld_;
  }

  // Bound on the error of a product of a rounded column and an exact one: 2^-24 of the sum of
  // the products' absolute values, which is at most 1, and as much again for the additions.
  static constexpr double rounding = 0x1p-23;

  bool is_constant(std::size_t f) const { return scale_[f] == 0; }

  // A hint that the column will be read soon.
  void fetch(std::size_t f) const {
    if (sparse_) return;
    const float* from = rounded_.data() + f * ld_;
    for (std::size_t i = 0; i < ld_ && i < 1024; i += 16) prefetch(from + i);
  }

  // F of one-way analysis of variance, or of the linear regression on the target; 0 for a constant
  // feature and where rounding is all there is, infinite for one that the target determines.
  const std::vector<double>& f_values() const { return f_values_; }

  // Whether all values were finite, and no square of one too great; if not, nothing else holds.
  bool is_finite() const { return finite_; }

 private:
  template <typename Fill>
  void build(bool ranks, const FTarget& target, int n_threads, const Fill& fill);

  std::size_t n_, p_, ld_;
  AlignedBuffer<float> rounded_;  // n_features x ld
  std::vector<double> f_values_;
  std::unique_ptr<SparseColumns> sparse_;
  const float* floats_ = nullptr;  // X
  const double* doubles_ = nullptr;
  bool ranks_ = false, finite_ = true;
  std::vector<double> mean_, scale_;
};

}  // namespace bitsieve
