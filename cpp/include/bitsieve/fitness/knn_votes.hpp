// What the nearest training samples of a test sample say, of which distances are known: the shares
// of their classes or the mean of their numbers, each counted alike or by 1 / distance.
//
// Weights and sums are made in float64 in the order of the neighbors, nearest first, as
// scikit-learn's are. Where a distance is zero only those of distance zero count. A tied vote goes
// to the lowest class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/fitness/splits.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

struct KnnOptions {
  std::size_t n_neighbors = 1;
  bool by_distance = false;  // weights 1 / distance
};

// The neighbors of one test sample in some places, a place a split that tests it.
class KnnVotes {
 public:
  KnnVotes(const Target& target, KnnOptions options) : target_(target), options_(options) {}

  void begin(std::size_t n_places) {
    width_ = target_.is_classes() ? target_.n_classes : 1;
    remaining_.assign(n_places, options_.n_neighbors);
    at_zero_.assign(n_places, 0);
    sums_.assign(n_places * width_, 0.0);
    weights_.assign(n_places, 0.0);
  }

  bool is_open(std::size_t place) const { return remaining_[place] > 0; }

  // The next nearest neighbor of an open place; its squared distance is read where it counts.
  void add(std::size_t place, std::size_t sample, double square) {
    double weight = 1;
    if (options_.by_distance) {
      const bool is_zero = square == 0;
      if (at_zero_[place] != 0 && !is_zero) {
        remaining_[place] = 0;  // nor does any that is farther count
        return;
      }
      at_zero_[place] = is_zero;
      if (!is_zero) weight = 1 / std::sqrt(square);
    }
    if (target_.is_classes()) {
      sums_[place * width_ + static_cast<std::size_t>(target_.codes[sample])] += weight;
    } else {
      sums_[place] += target_.numbers[sample] * weight;
    }
    weights_[place] += weight;
    --remaining_[place];
  }

  // Writes what the place says of a sample into a MaskFitness::Answer.
  template <typename Answer>
  void write(std::size_t place, std::size_t sample, const Splits::Place& where,
             const Answer& answer) const {
    const double* sums = sums_.data() + place * width_;
    const std::size_t at = static_cast<std::size_t>(where.position);
    if (!target_.is_classes()) {
      if (answer.values != nullptr) answer.values[at] = sums[0] / weights_[place];
      return;
    }
    const std::size_t split = static_cast<std::size_t>(where.split);
    const std::size_t own = static_cast<std::size_t>(target_.codes[sample]);
    const std::size_t given = static_cast<std::size_t>(std::max_element(sums, sums + width_) - sums);
    if (answer.hits != nullptr) answer.hits[split * width_ + own] += given == own;
    if (answer.confusion != nullptr) {
      ++answer.confusion[(split * width_ + own) * width_ + given];
    }
    if (answer.classes != nullptr) answer.classes[at] = static_cast<std::int32_t>(given);
    if (answer.values != nullptr) {
      double total = 0;
      for (std::size_t c = 0; c < width_; ++c) total += sums[c];
      for (std::size_t c = 0; c < width_; ++c) answer.values[at * width_ + c] = sums[c] / total;
    }
  }

 private:
  const Target& target_;
  KnnOptions options_;
  std::size_t width_ = 1;
  std::vector<std::size_t> remaining_;
  std::vector<std::uint8_t> at_zero_;  // whether its neighbors so far are no distance away
  std::vector<double> sums_, weights_;
};

}  // namespace bitsieve
