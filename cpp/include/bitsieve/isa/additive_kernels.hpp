// Sums over the features of a mask, of numbers a test sample, and what is decided by them.
// Contract as in kernels.hpp: plain pointers and sizes, no allocation, no threads, no exceptions.
// Doubles stand in rows of additive_lanes (features or masks side by side), 64-byte aligned.
// Multiplications and additions are rounded each, and lanes are added in a fixed order, so that the
// bits are the same on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t additive_lanes = 16;
inline constexpr std::int32_t no_class = 0x7FFF;      // where bounds do not tell which
inline constexpr std::size_t pattern_columns = 32;  // sums that are tabled and added side by side
inline constexpr std::size_t pattern_features = 64;  // features of a table: a word of each mask
inline constexpr std::size_t pattern_floats = 16 * (pattern_features / 4) * pattern_columns;

// Costs of classes at places, lanes side by side:
//   cost_c = sums[c][place] + offset[c] + factor[c] * extra_c[place]
//   error_c = magnitudes[c][place] * relative[c] + |factor[c]| * share * extra + slack[c]
struct LaneCosts {
  const double* sums;        // [n_classes + n_extra][n_places][lanes]
  const double* magnitudes;  // likewise; of a sum of terms >= 0 the sum itself
  std::size_t n_places, n_classes, n_extra;  // n_extra: 0, 1 (for all classes) or n_classes
  const double* offset;      // [n_classes][lanes], may be infinite
  const double* factor;
  const double* relative;  // not below share
  const double* slack;
  double share;
};

struct AdditiveKernels {
  // ---- adding ----

  // tables[group][pattern][column]: of each 4 neighbouring features of terms[64][columns] the sums
  // of their 16 patterns, the highest bit first. Limit: one store a cycle.
  void (*table_patterns)(const float* terms, float* tables);

  // sums[m][column] += the sum over the 16 groups of the pattern that masks[m * stride] has there:
  // groups are added from zero, ascending, then to sums.
  // Cost: an addition a (4 features, column); limit two vectors a cycle (their loads, from L1).
  void (*add_patterns)(const float* tables, const std::uint64_t* masks, std::size_t stride,
                       std::size_t n_masks, float* sums);

  // terms[class][place][lane] less the least of the classes, and reach[lane] the greatest of all
  // before.
  void (*shift_costs)(double* terms, std::size_t n_places, std::size_t n_classes, double* reach);

  // totals[k] += sums[k], then sums[k] = 0, for n (a multiple of 16).
  void (*flush)(float* sums, std::size_t n, double* totals);

  // out[lane * stride + k] = terms[k][lane] for k < 16, rounded.
  void (*round_columns)(const double* terms, float* out, std::size_t stride);

  // sums[k] += the sum of the first n_lanes lanes of terms[k].
  void (*add_lanes)(const double* terms, std::size_t n_columns, std::size_t n_lanes, double* sums);

  // out[k] = base[k] + sign * terms[k] and magnitudes[k] = base[k] + terms[k], by lanes.
  void (*flip_sums)(const double* base, const double* terms, const double* sign,
                    std::size_t n_columns, double* out, double* magnitudes);

  // ---- deciding ----

  // classes[place][lane]: the class of the least cost, or no_class where its bounds do not tell (or
  // a number is not finite).
  void (*choose)(const LaneCosts& costs, std::int32_t* classes);

  // What flip_sums(), choose() and count_hits() of a split give, in one pass that stores none of the
  // sums: costs.sums are the terms, base[n_classes + n_extra][n_places]; hits and open are set.
  // counts[n_classes][lanes] is scratch. Cost: of two classes 24 operations a (place, lane); limit:
  // two vectors of those a cycle.
  void (*flip_hits)(const LaneCosts& costs, const double* base, const double* sign,
                    const std::int32_t* own, double* counts, std::int32_t* hits,
                    std::int32_t* open);

  // hits[class of the place][lane] += the class was chosen there; open[lane] tells whether
  // there was no_class.
  void (*count_hits)(const std::int32_t* classes, const std::int32_t* own, std::size_t n_places,
                     std::int32_t* hits, std::int32_t* open);

  // ---- terms of Gaussians ----

  // sum = w (x - centre) and squares = w (x - centre)^2, added over n samples of
  // values[sample][lanes]; weights by sample, or null. rows[sample][2][lanes], where given, are what
  // was added.
  void (*moment_sums)(const double* values, const std::int32_t* samples, std::size_t n,
                      const double* weights, const double* centre, double* sum, double* squares,
                      double* rows);

  // Of n samples the sums of their rows, or where sum and squares are given what is left of those
  // without them, as moments: mean = centre + d and variance = r - d^2 with d = sum * inverse, r =
  // squares * inverse; the result has a bit for each lane where the variance is not above digits *
  // inverse of the squares that it began with. Cost: 2 additions a (sample, lane).
  unsigned (*part_moments)(const double* rows, const std::int32_t* samples, std::size_t n,
                           const double* centre, const double* sum, const double* squares,
                           double inverse, double digits, double* mean, double* variance);

  // Of lanes: halves = 1 / 2 (variance + smoothing), logs = log(variance + smoothing) / 2.
  // Cost: a division and a logarithm of some 25 operations a lane.
  void (*gaussian_weights)(const double* variance, double smoothing, double* halves, double* logs);

  // Of the classes whose weight is not 0, [n_classes][lanes] each: variances become halves (times
  // inverse^2, where given), and logs += those of gaussian_weights, less the least of the classes.
  // In lanes past n_lanes means and halves become 0. scratch[n_classes][lanes].
  void (*weigh_parts)(double* mean, double* variance, const double* class_weights,
                      std::size_t n_classes, double smoothing, const double* inverse,
                      std::size_t n_lanes, double* scratch, double* logs);

  // out[k] = (x - mean)^2 halves + start for n samples; where slopes is given, slopes[k] is the
  // first of that times 2 halves, and steepest the greatest of them. Cost: 4 operations a (sample, lane).
  void (*gaussian_terms)(const double* values, const std::int32_t* samples, std::size_t n,
                         const double* mean, const double* halves, const double* start, double* out,
                         double* slopes, double* steepest);

  // sums[k] += (x - mean)^2 factor for n samples, by lanes, of blocks of features one after the
  // other: values[block][sample][lanes] at a stride, means and factors[block][lanes] at another.
  // Cost: 4 operations a (sample, lane); limit: two vectors of those a cycle.
  void (*add_parts)(const double* values, std::size_t n_blocks, std::size_t stride,
                    const double* means, const double* factors, std::size_t part_stride,
                    const std::int32_t* samples, std::size_t n, double* sums);
};

}  // namespace bitsieve
