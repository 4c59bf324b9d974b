// Scores that look at one feature at a time, for all features in one pass over the table.
//
//   X (n x p, C order, read once) -> blocks of features -> sums a class, or pairs, or ranks
//
// A block of rows of X is a few kilobytes wide, so that its sums stay in the first cache while the
// samples stream by. Chunks are fixed and each feature's sums run over the samples in one order:
// the bits do not depend on the number of threads, nor on the instruction set.
//
// What is not finite in X gives what is not finite here; the caller looks for it afterwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitsieve/core/samples.hpp"

namespace bitsieve {

// Of each class c and feature f: mean[c * p + f], less the feature's value in the first sample, so
// that a common offset does not eat the digits; square[c * p + f], the sum of squared differences
// from the mean. Differences are taken from the first sample of the class: with m of them the
// cancellation costs a factor of m + 1 in the rounding at most, wherever that sample lies.
// Classes without samples get zeros.
template <typename T>
void class_moments(SampleRows<T> x, const std::int32_t* codes, std::size_t n_classes, int n_threads,
                   double* mean, double* square);

// The same over all samples, and cross[f] = sum of (x - mean) * y. The numbers y sum to zero.
template <typename T>
void target_moments(SampleRows<T> x, const double* y, int n_threads, double* square, double* cross);

// cross[f] = sum of x * y alone. The numbers y sum to zero.
template <typename T>
void target_products(SampleRows<T> x, const double* y, int n_threads, double* cross);

// wins[f] = how often a sample of `codes` 1 exceeds one of code 0, ties counting a half.
// Every pair is compared: n_1 * n_0 must be below 2^31.
template <typename T>
void pair_wins(SampleRows<T> x, const std::int32_t* codes, int n_threads, double* wins);

// Ranks from 1, equal values sharing their mean: rank_sums[c * p + f] over each class; and
// ties[f] = sum of t^3 - t over groups of t equal values. Where y is not null, also
// cross[f] = sum of rank * y.
template <typename T>
void rank_sums(SampleRows<T> x, const std::int32_t* codes, std::size_t n_classes, const double* y,
               int n_threads, double* rank_sums, double* ties, double* cross);

}  // namespace bitsieve
