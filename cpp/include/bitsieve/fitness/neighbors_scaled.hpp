// Squared distances of test samples under a scaler that is fitted to each training part: they differ
// from split to split, so that a matrix serves one split alone, and only test x all is made of it.
//
//   FoldScales      the scales of features under a set of splits, measured once and kept.
//   ScaledProducts  float32 products of test samples with all samples, with an error bound.
//
// The distance itself is ExactDistance's, of differences divided by the split's scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/fold_scaler.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

class FoldScales {
 public:
  FoldScales(const Table& table, const ScalerOptions& options) : table_(table), scaler_(table, options) {}

  // Measure what is not known yet of these features, ascending, under these splits.
  // keep(): scales of all features asked for under a seed stay, in memory for all there are.
  // Else those of the last list alone.
  static bool can_keep(std::size_t n_features, std::size_t n_splits) {
    return n_features * n_splits <= most_kept;
  }
  void keep(const std::vector<std::int32_t>& features, const TargetSplits& at, int n_threads);
  void measure(const std::vector<std::int32_t>& features, const TargetSplits& at, int n_threads);

  // Of features[k] of a list that was measured: [n_splits] scales, and their inverses in float32,
  // NaN where products of values so scaled might leave the range of float32.
  const double* scales(std::size_t k, std::int32_t feature) const {
    return scales_.data() + place(k, feature);
  }
  const float* weights(std::size_t k, std::int32_t feature) const {
    return weights_.data() + place(k, feature);
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{1} << 25;  // 400 MB

  std::size_t place(std::size_t k, std::int32_t feature) const {
    return (kept_ ? static_cast<std::size_t>(feature) : k) * n_splits_;
  }
  void weigh(std::int32_t feature, std::size_t place);

  const Table& table_;
  FoldScaler scaler_;
  bool kept_ = false;
  std::uint64_t seed_ = 0;
  std::size_t n_splits_ = 0;
  std::vector<double> scales_, centers_, new_scales_;
  std::vector<float> weights_;
  std::vector<Word> known_;
  std::vector<std::int32_t> missing_;
};

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
  void make(const std::vector<std::int32_t>& features, const FoldScales& scales,
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
