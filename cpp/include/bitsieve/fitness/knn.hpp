// Cross-validated k nearest neighbors of masks, Euclidean: classes or numbers, weights uniform or by
// distance.
//
// One Gram matrix serves every split of a mask. The answer does not depend on where that came from:
// what its error bound leaves open the exact re-check decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/core/mask.hpp"
#include "bitsieve/fitness/exact_distance.hpp"
#include "bitsieve/fitness/gram_fitness.hpp"
#include "bitsieve/fitness/knn_votes.hpp"

namespace bitsieve {

class KnnFitness : public GramFitness {
 public:
  KnnFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
             KnnOptions options);
  ~KnnFitness() override;

  // The shares of the classes among the neighbors, or the mean of their numbers.
  Outputs::Kind kind() const override {
    return target().is_classes() ? Outputs::Kind::probabilities : Outputs::Kind::numbers;
  }
  std::size_t n_values() const override {
    return target().is_classes() ? target().n_classes : 1;
  }

  // The Gram matrix of a mask in fixed point, moved to from wherever the kept state is (tests).
  void state_of(const Word* mask, int n_threads, std::int64_t* gram, double* unit);

 protected:
  std::unique_ptr<Worker> make_worker() const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  bool counts() const override { return target().is_classes(); }
  bool is_certain() const override { return options_.n_neighbors == 1; }
  bool takes_all_threads() const override { return !planner_.has_matrices(); }
  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;
  Counters count() const override;

 private:
  struct Finder;  // a worker
  class BaseDistances;

  void predict_streaming(const Word* mask, const Splits& splits, int n_threads,
                         const Answer& answer);
  void walk(std::size_t i, const float* gram_row, const Splits& splits, Finder& finder,
            const Answer& answer) const;
  void walk_nearest(std::size_t i, const Splits& splits, Finder& finder,
                    const Answer& answer) const;
  void walk_ordered(std::size_t i, const Splits& splits, Finder& finder,
                    const Answer& answer) const;

  // Whether the order of the neighbors counts, not their classes alone.
  bool is_ordered() const { return options_.by_distance || !target().is_classes(); }

  ExactDistance recheck_;
  KnnOptions options_;
  std::uint64_t flips_open_ = 0;
};

}  // namespace bitsieve
