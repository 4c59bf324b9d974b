// Cross-validated nearest-centroid classification of masks: Euclidean, no shrinking.
//
// Exact distances are those of DiagonalFitness: sums of (x - mean)^2 in float64, in blocks of
// features in their order. They decide whatever float32 leaves open; of equal ones the first class.
// Two ways lead there, and which is taken is a question of time alone:
//
//   large batches of unrelated masks: the terms of each feature, tabled and added to all masks;
//   else the Gram matrix of a mask, from whatever state is near: |x_i|^2 - 2 mean_j G_ij +
//   mean_jk G_jk for each class.
#pragma once

#include <memory>
#include <vector>

#include "bitsieve/fitness/diagonal_lda.hpp"
#include "bitsieve/fitness/gram_planner.hpp"

namespace bitsieve {

class CentroidFitness : public DiagonalFitness {
 public:
  // For up to matrix_samples samples. A class that a training part lacks is never predicted there.
  CentroidFitness(std::shared_ptr<const Table> table, Target target, SplitSource source);

  Outputs::Kind kind() const override { return Outputs::Kind::none; }
  std::size_t n_values() const override { return 0; }
  bool may_decline() const override { return false; }

 protected:
  std::unique_ptr<Worker> make_worker() const override;
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override;
  bool prefers_tables(const MaskBatch& batch, const TargetSplits& at,
                      std::size_t n_features) const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  void forget_states() override;
  Counters count() const override;

 private:
  struct Centroids;  // a worker, and the classes of one training part

  // Sums over each class of all samples.
  void add_classes(const GramMatrix& matrix, Centroids& own) const;
  // Norms of the means of a training part, and of each test sample its product with them.
  void measure(const GramMatrix& matrix, const TargetSplits& at, std::size_t split,
               Centroids& own) const;
  // The nearest class of a sample, or no_class where the bounds leave it open.
  std::int32_t nearest(std::size_t i, const double* means, const GramMatrix& matrix,
                       Centroids& own) const;
  // The classes of own.open.
  void decide(const TargetSplits& at, Centroids& own, std::int32_t* classes) const;

  GramPlanner planner_;
};

}  // namespace bitsieve
