// A mask fitness that solves on float64 Gram matrices: it keeps a SolverGram, and predict() takes
// the matrix of its mask by gram_.make(masks, index, n_threads, worker's own matrix).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bitsieve/fitness/mask_fitness.hpp"
#include "bitsieve/fitness/solver_gram.hpp"

namespace bitsieve {

class SolverFitness : public MaskFitness {
 public:
  SolverFitness(std::shared_ptr<const Table> table, Target target, SplitSource source)
      : MaskFitness(std::move(table), std::move(target), std::move(source)), gram_(this->table()) {}

 protected:
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override {
    gram_.plan(batch, n_threads, costs);
  }
  std::size_t most_masks() const override { return gram_.most_masks(); }
  void forget_states() override { gram_.forget(); }
  Counters count() const override {
    return {{"solver_features", gram_.features_made()},
            {"state_features", gram_.features_moved()},
            {"tabled_features", gram_.features_tabled()}};
  }

  SolverGram gram_;
};

}  // namespace bitsieve
