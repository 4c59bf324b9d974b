// Continuous columns into levels: where to cut, and which level a value is in.
//
// A level is a half-open interval: a value that equals a cut point belongs to the level below it.
// All kernels read the caller's table (samples x features, C order, float or double) in blocks of
// columns, one chunk a block, so that nothing depends on the number of threads. NaN stands for a
// missing value: it moves no cut, and goes to a level of its own or to level 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/core/samples.hpp"

namespace bitsieve {

// Cut points of all columns, ascending within each: values[begin[f]] .. values[begin[f + 1] - 1].
struct CutPoints {
  std::vector<double> values;
  std::vector<std::int64_t> begin;
};

// Fayyad and Irani 1993: recursive splits of least class entropy, accepted by description length.
// The cost of naming a cut is log2 of the cuts there are between distinct values (`distinct`, as
// Weka's evaluators count) or of all samples but one (Fayyad and Irani). n log n costs O(1) a sample:
// one class count changes. Entropies are sums of a fixed-point table, so equal ones are equal
// whatever the order of classes and samples; the lowest of equally good cuts is taken.
template <typename T>
CutPoints mdl_cut_points(const SampleRows<T>& samples, const std::int32_t* classes,
                         std::size_t n_classes, bool distinct, int n_threads);

// Two cuts a column, `width` standard deviations (n - 1) below and above the mean; none where all
// values are equal. A value that lies on either belongs to the middle level.
template <typename T>
CutPoints mean_sd_cut_points(const SampleRows<T>& samples, double width, int n_threads);

// What keeps a column from being taken as levels.
enum class LevelFault : std::uint8_t { none = 0, fraction = 1, too_many = 2 };

// Midpoints between the distinct whole numbers of each column; `faults` gets one value a column,
// and a column at fault no cuts.
template <typename T>
CutPoints level_cut_points(const SampleRows<T>& samples, std::size_t max_levels, LevelFault* faults,
                           int n_threads);

// codes[i * n_features + f] = how many cuts of column f lie below the value. Where missing_level,
// NaN becomes the level above all others of its column.
template <typename T>
void apply_cut_points(const SampleRows<T>& samples, const double* cuts, const std::int64_t* begin,
                      bool missing_level, std::uint8_t* codes, int n_threads);

}  // namespace bitsieve
