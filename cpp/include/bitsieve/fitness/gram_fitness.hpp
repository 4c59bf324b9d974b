// A mask fitness that sees the table through Gram matrices alone. It keeps a planner.
//
// make() of the planner serves a predict() that compares, as nearest neighbors and centroids do:
// its float32 matrix depends on the plan within its error bound, so what the bound leaves open is
// decided in float64. A solver (ridge, support vectors) cannot decide so, and its answer would depend
// on the plan: it takes the integers of the kept state (state(), moved to the
// mask), which are the same wherever they came from.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bitsieve/fitness/gram_planner.hpp"
#include "bitsieve/fitness/mask_fitness.hpp"

namespace bitsieve {

class GramFitness : public MaskFitness {
 public:
  GramFitness(std::shared_ptr<const Table> table, Target target, SplitSource source)
      : MaskFitness(std::move(table), std::move(target), std::move(source)),
        planner_(this->table()) {}

 protected:
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override {
    planner_.plan(batch, n_threads, costs);
  }
  void forget_states() override { planner_.forget(); }
  Counters count() const override {
    return {{"float_features", planner_.float_features()},
            {"fixed_features", planner_.fixed_features()}};
  }

  GramPlanner planner_;
};

}  // namespace bitsieve
