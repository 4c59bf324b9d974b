// Distances and weights of the Relief family. Contract as in kernels.hpp: plain pointers and
// sizes, no allocation, no threads, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

inline constexpr std::size_t relief_rows = 4;      // samples come in groups of these
inline constexpr std::size_t relief_lanes = 64;    // widths of distance blocks are multiples
inline constexpr std::size_t relief_features = 32; // features of a block of weights

// Coarser grids: the largest value of a feature. Sums of 16 words of 12 bits still fit a word.
inline constexpr double grid_exact = 16777216.0, grid_word = 4095.0, grid_byte = 255.0;
// So many columns at most may be summed in 32 bits a lane of 16.
inline constexpr std::size_t relief_width = 1024;

// The pairs of one sample with others: entries [begin, end) of the lists beside it.
struct PairSegment {
  std::int32_t sample;
  std::uint32_t begin, end;
};

struct ReliefKernels {
  // low[f] = min(low[f], x[f]), high[f] = max(high[f], x[f]) for f < count. Limit: memory.
  void (*widen_float)(const float* x, std::size_t count, float* low, float* high);
  void (*widen_double)(const double* x, std::size_t count, double* low, double* high);

  // q[f] = round((x[f] - low[f]) * scale[f]) for f < count; returns the sum of the roundings'
  // sizes. Limit: memory.
  double (*quantise_float)(const float* x, const double* low, const double* scale,
                           std::size_t count, std::uint32_t* q);
  double (*quantise_double)(const double* x, const double* low, const double* scale,
                            std::size_t count, std::uint32_t* q);

  // sums[i * lds + j] += sum_f max(a_i[f], b_j[f]) over `width` columns, for i in [i_begin, i_end)
  // and j in [j_begin, j_end), multiples of relief_rows; with `triangle` only for groups j >= i,
  // and `fresh` sets instead of adding, so that nobody need clear the sums first.
  // As |a - b| = 2 max(a, b) - a - b, a distance costs a maximum and an addition a column:
  // limit 16 columns a cycle on AVX-512 (one of the two ports has the integer maximum).
  // Values are at most 2^24 and width at most relief_width.
  void (*max_sums)(const std::uint32_t* q, std::size_t ld, std::size_t width, std::size_t i_begin,
                   std::size_t i_end, std::size_t j_begin, std::size_t j_end, bool triangle,
                   bool fresh, std::int64_t* sums, std::size_t lds);
  // The same sums from 16-bit values of at most grid_word: limit 28 columns a cycle.
  void (*max_sums_word)(const std::uint16_t* q, std::size_t ld, std::size_t width,
                        std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                        std::size_t j_end, bool triangle, bool fresh,
                        std::int64_t* sums, std::size_t lds);
  // sums += sum_f |a_i[f] - b_j[f]| of bytes: limit 64 columns a cycle.
  void (*difference_sums)(const std::uint8_t* q, std::size_t ld, std::size_t width,
                          std::size_t i_begin, std::size_t i_end, std::size_t j_begin,
                          std::size_t j_end, bool triangle, bool fresh,
                        std::int64_t* sums, std::size_t lds);

  // sum_f round(min(|a[f] - b[f]|, cap[f]) * scale[f]) in 64-bit integers; each term is below
  // 2^50. The exact re-check of close distances: whatever the order of the features, the same bits.
  std::int64_t (*fixed_distance_float)(const float* a, const float* b, const double* cap,
                                       const double* scale, std::size_t count);
  std::int64_t (*fixed_distance_double)(const double* a, const double* b, const double* cap,
                                        const double* scale, std::size_t count);

  // out[f] = (x[f] - low[f]) * factor[f] for f < count, zero up to relief_features.
  void (*normalise_float)(const float* x, const double* low, const double* factor,
                          std::size_t count, double* out);
  void (*normalise_double)(const double* x, const double* low, const double* factor,
                           std::size_t count, double* out);

  // totals[f] += sum over the segments' entries e of c[e] * max(x[sample][f], x[other[e]][f]) over
  // the relief_features columns of a sample-major block.
  // Limit: 16 columns in 2 cycles (a maximum and a multiply-add of 8 doubles).
  void (*weigh_max)(const double* block, const PairSegment* segments, std::size_t n_segments,
                    const std::int32_t* others, const double* coefficients, double* totals);
  // The same with min(|x[sample][f] - x[other][f]|, cap[f]), for nominal features.
  void (*weigh_capped)(const double* block, const PairSegment* segments, std::size_t n_segments,
                       const std::int32_t* others, const double* coefficients, const double* cap,
                       double* totals);
};

}  // namespace bitsieve
