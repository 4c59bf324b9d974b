// Cross-validated balanced error rates of Gaussian naive Bayes of single features and of pairs.
//
// A sample is predicted its own class where that beats every other one. By how much a feature
// prefers it to another class, its margin, is a difference of two log-likelihoods; the margins of two
// features add. The smoothing of a pair is that of the feature of the greater variance in the
// training part, so the margins of the other one depend on its partner. All pairs of a tile are
// counted with the own smoothing of each; where a sum is nearer to 0 than what the smoothing and
// rounding may change, the pair is counted again with its own. The answer is that of the pair's own
// smoothing in every bit.
//
// Two classes tie where their difference is within tie_share of the numbers it is made of; a tie goes
// to the lower class. The ties are part of the margins. A class that the training part lacks is never
// predicted there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "bitsieve/core/aligned.hpp"

namespace bitsieve {

struct PairLine;

// Who is tested where. Tested samples lie class by class, within a class fold by fold; a segment is
// one of those, number class * n_folds + fold.
struct PairTarget {
  std::size_t n_samples = 0, n_classes = 0, n_folds = 0;
  std::vector<std::int64_t> sizes;         // [n_classes] samples
  std::vector<std::int32_t> samples;       // in the order above
  std::vector<std::size_t> begin;          // [n_classes * n_folds + 1] of samples
  std::vector<double> log_prior;           // [n_folds][n_classes], -infinity where none trains
  std::vector<std::vector<std::int32_t>> train;  // [n_folds * n_classes] samples

  std::size_t n_segments() const { return n_classes * n_folds; }
  std::size_t n_rows() const { return n_classes - 1; }  // other classes
};

// Splits of lists, each sample tested once; codes in [0, n_classes).
PairTarget make_pair_target(const std::int32_t* codes, std::size_t n_samples,
                            std::size_t n_classes, const std::int64_t* train,
                            const std::int64_t* train_begin, const std::int64_t* test,
                            const std::int64_t* test_begin, std::size_t n_folds);

class PairErrors {
 public:
  virtual ~PairErrors() = default;
  PairErrors(const PairErrors&) = delete;
  PairErrors& operator=(const PairErrors&) = delete;

  std::size_t n_features() const { return p_; }
  virtual const char* kind() const = 0;

  // out[f] of feature f alone.
  void singles(double* out, int n_threads) const;
  // out[k] of features a[k] and b[k]; of one with itself it is that of the feature alone.
  void pairs(const std::int64_t* a, const std::int64_t* b, std::size_t n, double* out,
             int n_threads) const;
  // out[k * (last - first) + j - first] of features[k] and j, for j in [first, last).
  void rows(const std::int64_t* features, std::size_t n, std::size_t first, std::size_t last,
            double* out, int n_threads) const;
  // out[a * n_features + b] of all.
  void matrix(double* out, int n_threads) const;

 protected:
  static constexpr std::size_t no_feature = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t tile_side = 32;
  static constexpr double tie_share = 0x1p-44;

  // What a training part says of a class.
  struct Part {
    double mean = 0, variance = 0;
    double half = 0, log = 0;  // 1 / 2 (variance + e) and log(variance + e) / 2, e a smoothing
  };

  // The counts of a tile: pair (i, j) has class y at (y * tile_side + i) * tile_side + j.
  struct Tile {
    std::vector<std::int64_t> wrong;
    std::vector<double> nearest;  // least |sum of margins| of any sample
  };

  struct Scratch {
    Tile tile;
    std::vector<Part> parts_a, parts_b;
    std::vector<std::int64_t> wrong;
    std::vector<std::size_t> right;  // samples
    AlignedVector<double> numbers, others, counts, ones, cells;
  };

  PairErrors(std::size_t p, PairTarget target, double var_smoothing);

  // Adds to the tile, which is cleared, the features a[0 .. n_a) by b .. b + n_b, own smoothings.
  virtual void count_tile(const std::int64_t* a, std::size_t n_a, std::size_t b, std::size_t n_b,
                          Scratch& scratch) const = 0;
  // wrong[y] of a pair with its smoothing, or of a alone where b is no_feature.
  virtual void count_pair(std::size_t a, std::size_t b, std::int64_t* wrong,
                          Scratch& scratch) const = 0;

  // The n_classes parts of a feature and fold, with means and variances to be set, then finished:
  // whole_variance is that of the training part, 0 where the feature is constant; `least` and `most`
  // are what values lie within.
  Part* parts(std::size_t f, std::size_t s) {
    return parts_.data() + (f * target_.n_folds + s) * target_.n_classes;
  }
  const Part* parts(std::size_t f, std::size_t s) const {
    return parts_.data() + (f * target_.n_folds + s) * target_.n_classes;
  }
  void finish_part(std::size_t f, std::size_t s, double whole_variance);
  void finish_feature(std::size_t f, double least, double most);

  // Those parts under the smoothing of a pair: kept ones, or made in room.
  const Part* parts_with(std::size_t f, std::size_t s, std::size_t partner,
                         std::vector<Part>& room) const;
  // The margin of class y to its row r, of a feature; or of none, the priors' share alone.
  PairLine line(const Part* parts, bool is_flat, std::size_t s, std::size_t y,
                std::size_t r) const;
  bool is_flat(std::size_t f, std::size_t s) const {
    return f == no_feature || smoothing_[f * target_.n_folds + s] == 0;
  }

  const PairTarget& target() const { return target_; }

 private:
  // What a sum of margins may change by, where a and b get the smoothing of the pair.
  struct Change {
    double slope = 0;  // of a margin, by the smoothing
    double least_smoothing = 0, most_smoothing = 0;
    double rounding = 0;
  };

  double bound(std::size_t a, std::size_t b) const;
  double rate(const std::int64_t* wrong, std::size_t stride) const;
  Scratch make_scratch() const;
  template <typename Store>
  void fill(const std::int64_t* a, std::size_t n_a, std::size_t b, std::size_t n_b,
            Scratch& scratch, Store&& store) const;

  std::size_t p_;
  PairTarget target_;
  double var_smoothing_;
  std::vector<Part> parts_;        // [p][n_folds][n_classes]
  std::vector<double> smoothing_;  // [p][n_folds], 0: constant in the training part
  std::vector<Change> changes_;
};

// x is samples by features, finite. Where each feature has at most two values they are kept as bits.
std::unique_ptr<PairErrors> make_pair_errors(const double* x, std::size_t p, PairTarget target,
                                             double var_smoothing, int n_threads);

}  // namespace bitsieve
