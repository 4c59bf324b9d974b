// Manhattan distances of samples over features divided by their ranges, in fixed point.
//
// A feature's values become whole numbers of a grid (2^24 steps a range; 4095 or 255 where a
// coarse grid was asked for), so sums are exact integers: the same whatever the order of the
// features, the blocks or the threads. What a distance is off by is known, `error` a sample:
//   |distance - unit * value| <= unit * (error[i] + error[j]).
// The work is n^2 p / 2 columns, in tiles that stay in registers, blocks that stay in cache; the
// table itself is read once and never copied whole. Where the differences of all features have a
// common denominator of at most 2^24 steps (FeatureScale::common), that is the grid and the
// distances are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/filters/ranges.hpp"

namespace bitsieve {

enum class Precision { exact, word, byte };

// Distances from the first `rows` samples of an order to all samples of that order.
struct Distances {
  std::size_t rows = 0, n = 0, ld = 0;
  double unit = 0.0;
  AlignedBuffer<std::int64_t> values;
  std::vector<double> error;  // in units, a place of the order

  const std::int64_t* row(std::size_t i) const { return values.data() + i * ld; }
};

// `order` lists all samples; the part whose columns are among the rows is computed once and
// mirrored.
template <typename T>
void l1_distances(const SampleRows<T>& samples, const FeatureScale& scale,
                  const std::vector<std::int32_t>& order, std::size_t rows, Precision precision,
                  int n_threads, Distances* distances);

// Distances to decide close calls by: float64 differences of the user's numbers, each rounded to
// 2^-bits of a range (or coarser, for very many features), so equal differences count equal and
// the order of features is free.
class ExactManhattan {
 public:
  // Bits of neighbors, and of sums over pairs.
  static constexpr int finest = 50, summable = 40;

  ExactManhattan(const FeatureScale& scale, int bits);
  template <typename T>
  std::int64_t operator()(const SampleRows<T>& samples, std::size_t a, std::size_t b) const;
  double unit() const { return unit_; }
  // How far a distance may be off, in units; 0 where differences have a common denominator.
  double error() const { return error_; }
  // What the exact re-check multiplies differences of a feature by.
  double scale(std::size_t f) const { return scale_[f]; }
  // In steps of 2^-30 of a range: what ties but for the roundings of its terms ties here, as
  // 1/7 + 2/7 and 3/7 do.
  std::int64_t in_steps(std::int64_t distance) const {
    return (distance + (std::int64_t{1} << (bits_ - 31))) >> (bits_ - 30);
  }

 private:
  int bits_;
  std::vector<double> cap_, scale_;
  double unit_, error_;
};

}  // namespace bitsieve
