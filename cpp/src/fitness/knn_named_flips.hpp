// All one-flip neighbors of a mask whose nearest samples must be known by name: where their
// distances are weights, their numbers are averaged, or their shares are probabilities.
//
// A kernel names the neighbors of 16 flips at a time as far as its bound lets it; the rest goes to
// the exact re-check. What they say is then computed as for a single mask (KnnVotes), from
// distances of the exact re-check where distances count, or where the order of numbers is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bitsieve/fitness/knn_votes.hpp"
#include "knn_flips.hpp"

namespace bitsieve {

class NamedFlips {
 public:
  static bool fits(const Splits& splits, std::size_t n_neighbors);

  // n_values: of a test sample, or 0 where its class alone is wanted.
  NamedFlips(const TableView& table, const ExactDistance& exact, const Target& target,
             const TargetSplits& at, const Word* base, std::size_t n_words, KnnOptions options,
             std::size_t n_values);

  // score(m, classes, values, worker) of each mask base XOR flips[m], one of both lists by n_values;
  // neither where that mask is empty. False, before anything was scored, where too few masks could
  // be kept while the panels pass. Adds to n_open the (test, flip) pairs that were decided exactly.
  bool run(FlipSource& source, const std::int64_t* flips, std::size_t n_masks, int n_threads,
           std::uint64_t& n_open,
           FunctionRef<std::size_t, const std::int32_t*, const double*, int> score);

 private:
  struct Scratch;
  struct Call;  // of the kernel

  std::uint64_t block(const FlipSource& source, const FlipPanel& panel, const std::int64_t* flips,
                      std::size_t lanes, Scratch& own, std::size_t first);
  std::uint64_t decide(const Call& call, Scratch& own, std::size_t mask);
  void begin_lane(const Call& call, Scratch& own) const;
  bool name(const Call& call, std::size_t t, Scratch& own) const;
  void name_exactly(const Call& call, std::size_t t, Scratch& own) const;
  const double* row_of(const Call& call, std::size_t i, Scratch& own) const;
  double measure(const Call& call, std::size_t i, std::size_t j, Scratch& own) const;
  void measure_found(const Call& call, std::size_t i, Scratch& own) const;

  const TableView& table_;
  const ExactDistance& exact_;
  const Target& target_;
  const Splits& splits_;
  const Word* base_;
  KnnOptions options_;
  std::size_t n_tests_, n_values_;
  std::vector<std::int32_t> features_;  // of the base
  std::vector<double> rows_;            // their values, sample by sample, where rows are kept
  std::size_t stride_;                  // of the rows of a flip: a multiple of 8, zeros at the end
  std::size_t kept_;                    // flips whose rows a thread keeps: all of a call, one, none
  std::vector<VoteCandidate> order_;
  std::vector<std::int32_t> classes_;  // of the masks at hand, or
  std::vector<double> values_;
};

}  // namespace bitsieve
