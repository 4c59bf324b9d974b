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
  Finder(const Table& table, const Target& target, KnnOptions options, bool is_ordered,
         const ExactDistance& recheck)
      : order(table.view().n_samples, table.view().ld,
              is_ordered ? nullptr : target.codes.data(), recheck),
        votes(target, options),
        products(table.view()) {}

  void begin_split(const ScaleView& scales, std::size_t split) {
    scales_ = &scales;
    split_ = split;
    gathered_ = false;
  }

  // The inverse scales of the mask's features, side by side: gathered where somebody asks.
  const double* factors() {
    if (!gathered_) {
      const double* inverse = scales_->inverse_of(split_);
      factors_.resize(features.size());
      for (std::size_t k = 0; k < features.size(); ++k) factors_[k] = inverse[scales_->place[k]];
      gathered_ = true;
    }
    return factors_.data();
  }

  NeighborOrder order;
  KnnVotes votes;
  ScaledProducts products;
  FoldScales::Own own;  // of a mask whose splits no other has
  std::vector<std::int32_t> features;
  std::vector<std::pair<double, std::size_t>> found;

 private:
  const ScaleView* scales_ = nullptr;
  std::size_t split_ = 0;
  bool gathered_ = false;
  std::vector<double> factors_;
};

}  // namespace bitsieve
