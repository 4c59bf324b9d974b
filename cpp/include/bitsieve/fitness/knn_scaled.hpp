// Cross-validated k nearest neighbors after a scaler that is fitted to each training part.
//
// The distance of two samples differs from split to split: of n^2 / 2 pairs a mask that all splits
// share without a scaler, test x training pairs of each split are left, n^2 (1 - 1 / n_folds) a
// repeat. They are made in float32 (ScaledProducts); what the bound leaves open is decided by
// ExactDistance in float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/fitness/exact_distance.hpp"
#include "bitsieve/fitness/knn_votes.hpp"
#include "bitsieve/fitness/mask_fitness.hpp"
#include "bitsieve/fitness/neighbors_scaled.hpp"

namespace bitsieve {

class ScaledKnnFitness : public MaskFitness {
 public:
  ScaledKnnFitness(std::shared_ptr<const Table> table, Target target, SplitSource source,
                   KnnOptions options, const ScalerOptions& scaler);
  ~ScaledKnnFitness() override;

  Outputs::Kind kind() const override {
    return target().is_classes() ? Outputs::Kind::probabilities : Outputs::Kind::numbers;
  }
  std::size_t n_values() const override {
    return target().is_classes() ? target().n_classes : 1;
  }

 protected:
  std::unique_ptr<Worker> make_worker() const override;
  void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) override;
  void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
               Worker& worker, const Answer& answer) override;
  bool is_certain() const override { return options_.n_neighbors == 1; }
  bool takes_all_threads() const override;
  bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                          const TargetSplits& at, const Scorer& scorer, int n_threads,
                          double* scores, bool* declined) override;
  Counters count() const override { return {{"flips_open", flips_open_}}; }
  void forget_states() override;

 private:
  struct Finder;  // a worker
  class BaseDistances;

  void predict_parts(const Splits& splits, const ScaleView& scales, const ScaledPart* parts,
                     std::size_t n_parts, Finder& finder, const Answer& answer) const;
  void walk(std::size_t i, const Splits::Place& place, Finder& finder, const Answer& answer) const;
  void walk_exactly(std::size_t i, const Splits& splits, const Splits::Place& place,
                    Finder& finder, const Answer& answer) const;

  bool is_ordered() const { return options_.by_distance || !target().is_classes(); }

  ExactDistance recheck_;
  KnnOptions options_;
  ScalerOptions scaler_;
  std::unique_ptr<FoldScales> scales_;
  std::uint64_t flips_open_ = 0;
};

}  // namespace bitsieve
