// A mask fitness that sees the table through Gram matrices alone. It keeps a planner.
//
// make() of the planner serves a predict() that compares, as nearest neighbors and centroids do:
// its float32 matrix depends on the plan within its error bound, so what the bound leaves open is
// decided in float64. A solver (ridge, LDA) cannot decide so, and its answer would depend on the
// plan: it is a SolverFitness (solver_fitness.hpp), whose matrices do not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
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

  // The matrices of a batch as an evaluation would make them, mirrored, with all that is known of
  // them: gram[n_masks][n][n], squares and bounds [n_masks][n], the rest by mask (tests).
  void matrices_of(const Word* masks, std::size_t n_masks, int n_threads, float* gram,
                   double* squares, double* bounds, bool* exact, std::uint8_t* origins) {
    const Session session(*this);
    if (!planner_.has_matrices()) {
      throw std::invalid_argument("no matrices are made for more than " +
                                  std::to_string(matrix_samples) + " samples");
    }
    std::vector<std::size_t> costs;
    planner_.plan({masks, n_masks, nullptr}, n_threads, costs);
    const std::size_t n = table().view().n_samples, ld = table().view().ld;
    GramMatrix own;
    for (std::size_t m = 0; m < n_masks; ++m) {
      const GramMatrix& made = planner_.make(masks, m, n_threads, own);
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(made.gram.data() + i * ld, n, gram + (m * n + i) * n);
      }
      std::copy_n(made.squares.data(), n, squares + m * n);
      std::copy_n(made.bounds.data(), n, bounds + m * n);
      exact[m] = made.exact;
      origins[m] = static_cast<std::uint8_t>(planner_.origin(m));
    }
  }

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
