// What a thread of a scaled k-nearest-neighbor evaluation owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bitsieve/fitness/knn_scaled.hpp"
#include "bitsieve/fitness/neighbors.hpp"

namespace bitsieve {

struct ScaledKnnFitness::Finder : MaskFitness::Worker {
  Finder(const Table& table, const Target& target, KnnOptions options, const ScalerOptions& scaler,
         bool is_ordered, const ExactDistance& recheck)
      : order(table.view().n_samples, table.view().ld,
              is_ordered ? nullptr : target.codes.data(), recheck),
        votes(target, options),
        products(table.view()),
        own(table, scaler) {}

  void begin_split(const FoldScales& scales, std::size_t split) {
    scales_ = &scales;
    split_ = split;
    gathered_ = false;
  }

  // Of the mask's features, side by side: gathered where somebody asks.
  const double* scales_of_split() {
    if (!gathered_) {
      of_split_.resize(features.size());
      for (std::size_t k = 0; k < features.size(); ++k) {
        of_split_[k] = scales_->scales(k, features[k])[split_];
      }
      gathered_ = true;
    }
    return of_split_.data();
  }

  NeighborOrder order;
  KnnVotes votes;
  ScaledProducts products;
  FoldScales own;  // of a mask whose splits no other has
  std::vector<std::int32_t> features;
  std::vector<std::pair<double, std::size_t>> found;

 private:
  const FoldScales* scales_ = nullptr;
  std::size_t split_ = 0;
  bool gathered_ = false;
  std::vector<double> of_split_;
};

}  // namespace bitsieve
