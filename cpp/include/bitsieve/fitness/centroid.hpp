// Cross-validated nearest-centroid classification of masks: Euclidean, no shrinking. The smallest
// model, to begin another one from.
#pragma once

#include <memory>
#include <vector>

#include "bitsieve/fitness/gram_fitness.hpp"

namespace bitsieve {

class CentroidFitness : public GramFitness {
 public:
  // For up to matrix_samples samples. A class that a training part lacks is never predicted there.
  CentroidFitness(std::shared_ptr<const Table> table, Target target, SplitSource source);

 protected:
  std::unique_ptr<Worker> make_worker() const override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;

 private:
  struct Centroids;  // a worker, and the classes of one training part

  // Sums over each class of all samples.
  void add_classes(const GramMatrix& matrix, Centroids& own) const;
  // Norms of the means of a training part, and of each test sample its product with them.
  void measure(const GramMatrix& matrix, const TargetSplits& at, std::size_t split,
               Centroids& own) const;
  std::size_t nearest(std::size_t i, const double* means, const GramMatrix& matrix,
                      Centroids& own) const;
};

}  // namespace bitsieve
