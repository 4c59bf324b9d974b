// All one-flip neighbors of a mask in one pass over the table, whatever the base distances are of.
//
//   FlipSource  the distances of the base mask, a panel of tests at a time, and the exact re-check.
//   FlipPass    walks the panels: 16 flips a call of a kernel, which decides what its bound lets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/exact_distance.hpp"
#include "bitsieve/fitness/scores.hpp"
#include "bitsieve/fitness/target.hpp"
#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {

inline constexpr std::size_t most_voters = vote_neighbors;  // neighbors that a pass can count

// What the margins of a pass for k neighbors must not be below.
inline double least_margin(std::size_t k) { return k > 1 ? 0x1p-98 : 0x1p-120; }

// The values of a base mask's features, sample by sample, where the base is small beside the flips:
// its distances are then made in float64, and fewer comparisons are left open.
class BaseRows {
 public:
  BaseRows(const ExactDistance& values, const std::vector<std::int32_t>& base, std::size_t n,
           std::size_t n_flips)
      : m_(base.size()), has_(m_ <= n_flips / 64 && n * m_ <= most) {
    if (!has_) return;
    rows_.resize(n * m_);
    for (std::size_t i = 0; i < n; ++i) values.gather(i, base, rows_.data() + i * m_);
  }

  explicit operator bool() const { return has_; }
  double distance(std::size_t i, std::size_t j, const double* factors) const {
    return kernels().neighbor->squared_distance(rows_.data() + i * m_, rows_.data() + j * m_,
                                                factors, m_);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 22;

  std::size_t m_;
  bool has_;
  std::vector<double> rows_;
};

// Tests and candidates in the kernel's layout: for each split its training samples, grouped by
// class and then once more, so that "all other classes" is one run too. Tests are in the order of
// Splits::test_samples; their counters are split * n_classes + class.
struct FlipLayout {
  std::vector<FlipTest> tests;
  std::vector<std::int32_t> candidates;
  std::vector<std::int32_t> class_begin;  // [n_splits][n_classes + 1]
  std::vector<Word> training;             // [n_splits][n_words] samples
  std::size_t n_words = 0;
  std::size_t n_classes;

  static bool fits(const Splits& splits);
  FlipLayout(const Splits& splits, const Target& target);
  // The tests alone, of one class: for a pass that asks the splits who is a candidate.
  explicit FlipLayout(const Splits& splits);
};

// Tests of a panel whose flipped features have the same scales: one call of a kernel.
struct FlipGroup {
  std::size_t first, count;  // of FlipPanel::tests
  std::size_t split;         // of the scales
  std::size_t counter;       // what the counters of its tests count from
  std::size_t n_counters;    // in units of a class of a split
  const std::int32_t* class_begin;
  const float* margin;  // [n_samples]
};

struct FlipPanel {
  std::size_t n_rows = 0;
  AlignedVector<float> distances;  // [n_rows][ld] under the base mask
  std::vector<FlipTest> tests;
  std::vector<std::size_t> places;  // of the tests among Splits::test_samples
  std::vector<FlipGroup> groups;
  std::vector<float> margins;
};

class FlipSource;

// The flips of one call of a kernel, side by side.
class FlipBlock {
 public:
  void load(const TableView& table, const Word* base, const std::int64_t* flips,
            std::size_t lanes);

  // Their values and spreads as a split scales them, until the next call.
  const float* values_in(const FlipSource& source, std::size_t split);

  const float* sign() const { return sign_; }
  const float* spread() const { return spread_; }

 private:
  alignas(cache_line) float sign_[flip_lanes];
  alignas(cache_line) float spread_[flip_lanes];
  alignas(cache_line) float factors_[flip_lanes];
  double widest_[flip_lanes];
  const std::int64_t* flips_ = nullptr;
  std::size_t lanes_ = 0;
  AlignedVector<float> values_, scaled_;
};

// What a thread of a pass owns.
struct FlipScratch {
  FlipBlock block;
  AlignedVector<double> exact;  // values of single features, sample by sample, then by feature
  std::vector<std::int32_t> counts;
  std::vector<std::uint16_t> unsure;
  std::vector<std::int32_t> features, votes;
  std::vector<double> factors;
  std::vector<std::pair<double, std::size_t>> found;
  std::vector<double> approximate;
  ScoreScratch scores;
};

class FlipSource {
 public:
  virtual ~FlipSource() = default;
  virtual std::size_t n_panels() const = 0;
  virtual void make(std::size_t panel, int n_threads, FlipPanel& out) = 0;

  // What differences of a feature are multiplied by in a split; none: by 1.
  virtual bool is_scaled() const { return false; }
  virtual double factor(std::size_t, std::size_t) const { return 1; }

  // What the exact re-check multiplies differences of features by in a split; none: nothing.
  virtual void exact_factors(const std::vector<std::int32_t>&, std::size_t,
                             std::vector<double>&) const {}

  // What the exact re-check measures with.
  virtual const ExactDistance& exact() const = 0;

  // The exact squared distance over features in ascending order.
  virtual double distance(std::size_t i, std::size_t j, std::size_t split,
                          FlipScratch& scratch) const = 0;
};

// Whether a pass for k neighbors can count what they vote for: shares of several are no counts of
// classes, and a kernel tells few classes apart.
bool counts_flips(const Splits& splits, const Target& target, const Scorer& scorer, std::size_t k);

// The samples of each row of a panel by their distance under the base mask, with their codes where
// there are any: flips move it little, so that most candidates of a test are farther than those
// found before they are looked at.
void order_candidates(const TableView& table, const std::vector<std::int32_t>& codes,
                      const FlipPanel& panel, int n_threads, std::vector<VoteCandidate>& out);

// Beyond what approximate distance no candidate can be among the k nearest: `about` holds those of
// all candidates of a test, `own` is its value of the flipped feature.
double reach_of_nearest(const std::vector<double>& about, std::size_t k, double own, double widest,
                        double margin, std::vector<double>& scratch);

// The greatest magnitude of a feature's values as a split scales them.
double widest_in(const FlipSource& source, const TableView& table, std::size_t feature,
                 std::size_t split);

class FlipPass {
 public:
  FlipPass(const TableView& table, const Target& target, const TargetSplits& at,
           const Scorer& scorer, const FlipLayout& layout, const Word* base, std::size_t n_words,
           std::size_t n_neighbors);

  // Scores of base XOR each flip but where the mask is empty then: score_empty writes those.
  // Returns how many (test, flip) pairs the exact re-check had to decide.
  std::uint64_t run(FlipSource& source, const std::int64_t* flips, std::size_t n_masks,
                    int n_threads, double* scores, FunctionRef<double*> score_empty);

 private:
  std::uint64_t block(const FlipSource& source, const FlipPanel& panel, const std::int64_t* flips,
                      std::size_t lanes, FlipScratch& worker, std::int32_t* hits) const;
  void single(const FlipSource& source, const FlipPanel& panel, const std::int64_t* flips,
              std::size_t lanes, FlipScratch& worker, std::int32_t* hits) const;
  void add_counts(const FlipGroup& group, std::size_t lanes, const FlipScratch& worker,
                  std::int32_t* hits) const;
  void count_group(const FlipPanel& panel, const FlipGroup& group, const float* values,
                   const float* sign, const float* spread, FlipScratch& worker) const;
  std::size_t recheck(const FlipSource& source, const FlipPanel& panel, const FlipGroup& group,
                      const FlipTest& test, std::size_t flip, const float* values,
                      std::size_t lane, float sign, FlipScratch& worker) const;

  const TableView& table_;
  const Target& target_;
  TargetSplits at_;
  const Splits& splits_;
  const Scorer& scorer_;
  const FlipLayout& layout_;
  const Word* base_;
  bool hits_only_;
  std::size_t n_neighbors_, n_classes_, width_, n_counters_;
  std::vector<std::int32_t> base_features_, hits_;
  std::vector<VoteCandidate> order_;  // [n_rows][n_samples], nearest first
};

}  // namespace bitsieve
