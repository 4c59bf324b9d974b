// The Relief family, each member as a rule that gives pairs of samples coefficients:
//
//   ranges -> distances -> neighbors of each class  (Relief, ReliefF, RReliefF) \.
//                       \-> near and far by threshold (SURF, MultiSURF, ...)      -> pairs -> weights
//
// Sources: Kira & Rendell 1992; Robnik-Sikonja & Kononenko 2003; Greene et al. 2009, 2010;
// Granizo-Mackenzie & Moore 2013; Urbanowicz et al. 2018.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bitsieve/filters/distances.hpp"

namespace bitsieve {

enum class ReliefRule { relief, relieff, rrelieff, surf, surf_star, multisurf, multisurf_star, swrf_star };

// Of a distance to the limits of a sample.
enum class Side { near, between, far };

struct ReliefOptions {
  ReliefRule rule = ReliefRule::relieff;
  std::size_t n_neighbors = 10;
  std::vector<double> rank_weights;  // of the nearest, second ...; empty: all alike
  Precision precision = Precision::exact;
  std::vector<std::int32_t> instances;  // samples that look for neighbors; empty: all
  int n_threads = 1;
  // Sides of pairs (i, j, i, j ...) so close to a limit of i that rounding would decide; called
  // by the calling thread. Without it they are at the limit.
  std::function<std::vector<Side>(const std::vector<std::int64_t>& pairs)> decide;
};

// weights[0 .. p). `codes` (n class codes) for classes, `target` (n numbers) for rrelieff.
template <typename T>
void relief_weights(const SampleRows<T>& samples, FeatureScale* scale, const std::int32_t* codes,
                    std::size_t n_classes, const double* target, const ReliefOptions& options,
                    double* weights);

// All samples, the given ones first.
std::vector<std::int32_t> order_with_first(std::size_t n, const std::int32_t* first,
                                           std::size_t n_first);

}  // namespace bitsieve
