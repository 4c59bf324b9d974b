// Squared distances of test samples under a scaler that is fitted to each training part: they differ
// from split to split, so that a matrix serves one split alone, and only test x all is made of it, in
// float32 with an error bound. The distance itself is ExactDistance's, of differences times the
// inverse of the split's scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/fold_scales.hpp"
#include "bitsieve/fitness/splits.hpp"

namespace bitsieve {

// The inverse of a scale in float32, NaN where products of values of size `most`, so scaled, might
// leave its range.
float scaled_weight(double inverse, double most);

// Some tests of one split: places [first, first + count) of Splits::test_samples.
struct ScaledPart {
  std::size_t split;
  std::size_t first, count;
};

// The parts of all splits, small enough that the products of one stay near.
std::vector<ScaledPart> scaled_parts(const Splits& splits, std::size_t ld);

class ScaledProducts {
 public:
  explicit ScaledProducts(const TableView& table) : table_(table) {}

  // Products of several parts over the features of a mask, whose blocks are read once for all.
  // Cost: n multiply-adds a (test, feature), rows rounded up to eights.
  void make(const std::vector<std::int32_t>& features, const ScaleView& scales,
            const Splits& splits, const ScaledPart* parts, std::size_t n_parts);

  // Of part p: the squared distance of its test t and sample j,
  // squares[i] + squares[j] - 2 row[j] with i the sample of t, is wrong by
  // (sqrt(bounds[i]) + sqrt(bounds[j]))^2 at most. Nothing is known of a part that is not finite.
  const float* row(std::size_t p, std::size_t t) const {
    return products_.data() + begin_[p] + t * table_.ld;
  }
  const double* squares(std::size_t p) const { return squares_.data() + p * table_.ld; }
  const double* bounds(std::size_t p) const { return bounds_.data() + p * table_.ld; }
  bool is_finite(std::size_t p) const { return finite_[p] != 0; }

  // Parts that are made together: their products take no more memory than this many floats.
  static std::size_t size_of(const ScaledPart& part, std::size_t ld);
  static constexpr std::size_t most_floats = std::size_t{1} << 18;

 private:
  const TableView& table_;
  std::vector<std::size_t> begin_;  // [n_parts] of products_
  std::vector<std::int32_t> rows_;
  std::vector<std::size_t> rows_begin_;
  std::vector<float> weights_;
  AlignedVector<float> products_, partial_, scaled_, sums_;
  std::vector<double> squares_, bounds_;
  std::vector<std::uint8_t> finite_;
};

}  // namespace bitsieve
