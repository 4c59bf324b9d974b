// Cross-validated nearest-centroid classification of masks: Euclidean, no shrinking.
//
// The distance of a sample to the mean of a class is a mean of products: |x_i|^2 - 2 mean_j G_ij +
// mean_jk G_jk over the training samples j, k of the class. So one Gram matrix serves every split,
// and what its error bound leaves open is measured again in float64 on the user's own values.
#pragma once

#include <memory>
#include <vector>

#include "bitsieve/fitness/gram_planner.hpp"
#include "bitsieve/fitness/mask_fitness.hpp"

namespace bitsieve {

class CentroidFitness : public MaskFitness {
 public:
  // For up to matrix_samples samples. A class that a training part lacks is never predicted there.
  CentroidFitness(std::shared_ptr<const Table> table, Target target, SplitSource source);

  Outputs::Kind kind() const override { return Outputs::Kind::none; }
  std::size_t n_values() const override { return 0; }

 protected:
  std::unique_ptr<Worker> make_worker() const override;
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  void forget_states() override { planner_.forget(); }
  Counters count() const override;

 private:
  struct Centroids;  // a worker, and the classes of one training part

  std::size_t nearest(std::size_t i, const GramMatrix& matrix, Centroids& centroids) const;
  double distance(std::size_t i, const std::vector<std::size_t>& members,
                  const std::vector<std::int32_t>& features) const;

  GramPlanner planner_;
};

}  // namespace bitsieve
