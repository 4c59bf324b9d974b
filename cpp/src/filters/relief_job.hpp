// One job of the Relief family, and what its two kinds of rules share:
//
//   relief.cpp            the door: the ranges, the job, its distances strip by strip
//   relief_neighbors.cpp  pairs of nearest neighbors: Relief, ReliefF, RReliefF
//   relief_limits.cpp     pairs on either side of a limit: SURF, MultiSURF, their starred forms
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bitsieve/filters/relief.hpp"

namespace bitsieve {

// How many samples each class has.
class ClassSizes {
 public:
  ClassSizes(const std::int32_t* codes, std::size_t n, std::size_t n_classes)
      : n_(static_cast<double>(n)), sizes_(n_classes, 0.0) {
    for (std::size_t i = 0; i < n; ++i) sizes_[static_cast<std::size_t>(codes[i])] += 1.0;
  }
  // P(c) / (1 - P(own)) for misses, -1 for hits.
  double factor(std::size_t own, std::size_t c) const {
    const double others = n_ - sizes_[own];
    return c == own ? -1.0 : others > 0.0 ? sizes_[c] / others : 0.0;
  }
  std::size_t largest() const {
    return static_cast<std::size_t>(*std::max_element(sizes_.begin(), sizes_.end()));
  }

 private:
  double n_;
  std::vector<double> sizes_;
};

template <typename T>
struct ReliefJob {
  const SampleRows<T>& samples;
  const FeatureScale& scale;
  const std::int32_t* codes;  // nullptr where there is a target
  std::size_t n_classes;
  const double* target;
  const ReliefOptions& options;
  std::vector<std::int32_t> instances;  // samples that look for neighbors, never none
  std::optional<ClassSizes> sizes;      // where there are classes

  // The places of a strip are those of its order, whose first ones are the strip's instances.
  using Body = std::function<void(const std::vector<std::int32_t>& order, Distances* distances)>;

  // Whether distances come in several strips, for want of room.
  bool in_strips() const { return rows_at_once() < instances.size(); }
  void over_strips(const Body& body) const;

 private:
  std::size_t rows_at_once() const;
};

// Each adds to weights[0 .. p).
template <typename T>
void weigh_neighbors(const ReliefJob<T>& job, double* weights);
template <typename T>
void weigh_by_limits(const ReliefJob<T>& job, double* weights);

}  // namespace bitsieve
