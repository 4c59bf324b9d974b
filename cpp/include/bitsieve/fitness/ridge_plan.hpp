// What ridge regression knows of splits and weights before it sees a mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

struct RidgePlan {
  // Weights of the samples: their own times that of their class (`class_weights`, or none).
  RidgePlan() = default;
  RidgePlan(const TargetSplits& at, const Target& target, const std::vector<double>& class_weights,
            bool balanced);

  bool is_known = false;
  std::uint64_t seed = 0;
  bool varies = false;              // whether splits weigh samples differently
  bool is_weighted = false;         // whether weights are not all 1
  std::vector<double> weights;      // [n]; 1 for samples of no weight, which no part trains on
  std::vector<double> class_share;  // [n_splits][n_classes] what classes weigh besides, if it varies
  std::vector<std::int32_t> codes;  // of the samples, if it varies
  // By split: samples that are not trained on, tests first and in their order; and those that are.
  std::vector<std::size_t> left_begin, train_begin, test_begin, n_tests;
  std::vector<std::int32_t> left, train;
  std::size_t least_train = 0, most_train = 0, most_left = 0;
  double square_left = 0, cube_left = 0;  // sums over the splits
  double square_train = 0, cube_train = 0, n_train = 0;
  double weight_ratio = 1;  // of the greatest and the least weight, whatever the split

  std::size_t n_splits() const { return n_tests.size(); }
  std::size_t n_left(std::size_t s) const { return left_begin[s + 1] - left_begin[s]; }
  std::size_t n_trained(std::size_t s) const { return train_begin[s + 1] - train_begin[s]; }
  double weight(std::size_t i, std::size_t s) const {
    if (!varies) return weights[i];
    const std::size_t n_classes = class_share.size() / n_splits();
    return weights[i] * class_share[s * n_classes + static_cast<std::size_t>(codes[i])];
  }
};

}  // namespace bitsieve
