#include "bitsieve/filters/distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

// Quantised columns at hand at once: what the caches near the cores hold.
constexpr std::size_t superblock_bytes = std::size_t{2} << 20;

// A column of the quantised table: a numeric feature, or one level of a nominal feature (then
// half of the grid marks the level, so that two different levels differ by one whole grid).
struct Column {
  std::int32_t feature;
  std::int32_t level;  // -1: numeric
};

std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

// The quantised table, a few blocks of columns at a time: block-major, then sample-major.
template <typename T>
class Quantiser {
 public:
  Quantiser(const SampleRows<T>& samples, const FeatureScale& scale, Precision precision)
      : samples_(samples), scale_(scale), precision_(precision) {
    grid_ = precision == Precision::exact ? grid_exact
            : precision == Precision::word ? grid_word
                                           : grid_byte;
    if (precision == Precision::exact && scale.common > 0 && scale.common <= grid_exact) {
      grid_ = static_cast<double>(scale.common);
      rounds_ = false;
    }
    steps_.resize(samples.p);
    for (std::size_t f = 0; f < samples.p; ++f) {
      const double weight = scale.weight(f) / scale.largest_weight;
      steps_[f] = scale.range[f] > 0.0 ? grid_ * weight / scale.range[f] : 0.0;
    }
    if (!scale.nominal.empty()) list_columns();
  }

  std::size_t n_columns() const { return columns_.empty() ? samples_.p : columns_.size(); }
  double grid() const { return grid_; }
  // Whether values lie between the steps of the grid.
  bool rounds() const { return rounds_; }

  // Writes columns [begin, begin + count) of a sample, zeros up to width; returns the rounding.
  template <typename Q>
  double write(std::size_t sample, std::size_t begin, std::size_t count, std::size_t width,
               std::uint32_t* scratch, Q* q, std::int64_t* sum) const {
    const T* row = samples_.row(sample);
    std::uint32_t* out = scratch;
    if constexpr (std::is_same_v<Q, std::uint32_t>) out = q;
    double error = 0.0;
    if (columns_.empty()) {
      const ReliefKernels& kernel = *kernels().relief;
      if constexpr (std::is_same_v<T, float>) {
        error = kernel.quantise_float(row + begin, scale_.low.data() + begin,
                                      steps_.data() + begin, count, out);
      } else {
        error = kernel.quantise_double(row + begin, scale_.low.data() + begin,
                                       steps_.data() + begin, count, out);
      }
    } else {
      for (std::size_t c = 0; c < count; ++c) out[c] = one(row, columns_[begin + c], &error);
    }
    std::int64_t total = 0;
    for (std::size_t c = 0; c < count; ++c) total += out[c];
    *sum += total;
    if constexpr (!std::is_same_v<Q, std::uint32_t>) {
      for (std::size_t c = 0; c < count; ++c) q[c] = static_cast<Q>(out[c]);
    }
    std::memset(q + count, 0, (width - count) * sizeof(Q));
    return error;
  }

 private:
  void list_columns() {
    for (std::size_t f = 0; f < samples_.p; ++f) {
      const auto feature = static_cast<std::int32_t>(f);
      if (!scale_.is_nominal(f)) {
        columns_.push_back({feature, -1});
      } else if (scale_.range[f] > 0.0) {
        const auto low = static_cast<std::int32_t>(scale_.low[f]);
        const auto high = static_cast<std::int32_t>(scale_.low[f] + scale_.range[f]);
        for (std::int32_t level = low; level <= high; ++level) columns_.push_back({feature, level});
      }
    }
    if (columns_.empty()) columns_.push_back({0, -1});  // every feature is constant
  }

  std::uint32_t one(const T* row, Column column, double* error) const {
    const auto f = static_cast<std::size_t>(column.feature);
    const double x = static_cast<double>(row[f]);
    const double value = column.level < 0 ? (x - scale_.low[f]) * steps_[f]
                         : x == column.level ? 0.5 * grid_ * scale_.weight(f) / scale_.largest_weight
                                             : 0.0;
    const double rounded = std::nearbyint(value);
    *error += std::fabs(value - rounded);
    return static_cast<std::uint32_t>(rounded);
  }

  const SampleRows<T>& samples_;
  const FeatureScale& scale_;
  Precision precision_;
  double grid_;
  bool rounds_ = true;
  std::vector<double> steps_;
  std::vector<Column> columns_;
};

struct Panel {
  std::size_t i_begin, i_end, j_begin, j_end;
};

template <typename Q>
void add_panel(const Q* q, std::size_t ld, const Panel& panel, bool fresh, std::int64_t* sums,
               std::size_t lds) {
  const ReliefKernels& kernel = *kernels().relief;
  const bool triangle = panel.i_begin == panel.j_begin;
  if constexpr (std::is_same_v<Q, std::uint32_t>) {
    kernel.max_sums(q, ld, ld, panel.i_begin, panel.i_end, panel.j_begin, panel.j_end, triangle,
                    fresh, sums, lds);
  } else if constexpr (std::is_same_v<Q, std::uint16_t>) {
    kernel.max_sums_word(q, ld, ld, panel.i_begin, panel.i_end, panel.j_begin, panel.j_end,
                         triangle, fresh, sums, lds);
  } else {
    kernel.difference_sums(q, ld, ld, panel.i_begin, panel.i_end, panel.j_begin, panel.j_end,
                           triangle, fresh, sums, lds);
  }
}

template <typename T, typename Q>
void fill(const SampleRows<T>& samples, const Quantiser<T>& table,
          const std::vector<std::int32_t>& order, int n_threads, Distances* distances) {
  const std::size_t n = samples.n, rows = distances->rows;
  const std::size_t rows_padded = round_up(rows, relief_rows);
  const std::size_t n_padded = round_up(n, relief_rows);
  const std::size_t n_columns = table.n_columns();
  const std::size_t step = std::clamp(round_up(n / 8, 16), std::size_t{16}, std::size_t{64});
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < rows_padded; i += step) {
    for (std::size_t j = i; j < n_padded; j += step) {
      panels.push_back({i, std::min(i + step, rows_padded), j, std::min(j + step, n_padded)});
    }
  }
  const std::size_t width = std::min(relief_width, round_up(n_columns, relief_lanes));
  const std::size_t n_blocks = (n_columns + width - 1) / width;
  const std::size_t blocks_at_once =
      std::clamp(superblock_bytes / (n_padded * width * sizeof(Q)), std::size_t{1}, n_blocks);
  AlignedBuffer<Q> q(blocks_at_once * n_padded * width);
  distances->ld = n_padded;
  distances->values = AlignedBuffer<std::int64_t>(rows_padded * n_padded);
  std::int64_t* sums = distances->values.data();
  std::vector<std::int64_t> row_sums(n, 0);
  std::vector<double>& errors = distances->error;
  errors.assign(n, 0.0);
  constexpr std::size_t group = 8;  // samples a chunk of the quantisation
  for (std::size_t first = 0; first < n_blocks; first += blocks_at_once) {
    const std::size_t here = std::min(blocks_at_once, n_blocks - first);
    parallel_for((n + group - 1) / group, n_threads, [&](std::size_t chunk) {
      std::vector<std::uint32_t> scratch(width);
      for (std::size_t k = chunk * group; k < std::min(n, (chunk + 1) * group); ++k) {
        for (std::size_t b = 0; b < here; ++b) {
          const std::size_t begin = (first + b) * width;
          errors[k] += table.write(static_cast<std::size_t>(order[k]), begin,
                                   std::min(width, n_columns - begin), width, scratch.data(),
                                   q.data() + (b * n_padded + k) * width, &row_sums[k]);
        }
      }
    });
    for (std::size_t b = 0; b < here; ++b) {
      std::memset(q.data() + (b * n_padded + n) * width, 0, (n_padded - n) * width * sizeof(Q));
    }
    parallel_for(panels.size(), n_threads, [&](std::size_t t) {
      for (std::size_t b = 0; b < here; ++b) {
        add_panel(q.data() + b * n_padded * width, width, panels[t], first + b == 0, sums,
                  n_padded);
      }
    });
  }
  // The products and differences before the rounding are themselves off by 2^-27 of a step.
  for (double& error : errors) {
    if (!table.rounds()) error = 0.0;
    if (error > 0.0) error += static_cast<double>(n_columns) * 0x1p-26;
  }
  // From sums of maxima to distances, and from the upper part to the lower, panel by panel.
  constexpr bool of_maxima = !std::is_same_v<Q, std::uint8_t>;
  parallel_for(panels.size(), n_threads, [&](std::size_t t) {
    const Panel& panel = panels[t];
    for (std::size_t i = panel.i_begin; i < std::min(panel.i_end, rows); ++i) {
      std::int64_t* row = sums + i * n_padded;
      for (std::size_t j = std::max(panel.j_begin, i); j < std::min(panel.j_end, n); ++j) {
        const std::int64_t distance =
            of_maxima ? 2 * row[j] - row_sums[i] - row_sums[j] : row[j];
        row[j] = distance;
        if (j < rows) sums[j * n_padded + i] = distance;
      }
      if (panel.i_begin == panel.j_begin) row[i] = 0;
    }
  });
}

}  // namespace

template <typename T>
void l1_distances(const SampleRows<T>& samples, const FeatureScale& scale,
                  const std::vector<std::int32_t>& order, std::size_t rows, Precision precision,
                  int n_threads, Distances* distances) {
  distances->rows = rows;
  distances->n = samples.n;
  const Quantiser<T> table(samples, scale, precision);
  distances->unit = scale.largest_weight / table.grid();
  switch (precision) {
    case Precision::exact:
      fill<T, std::uint32_t>(samples, table, order, n_threads, distances);
      break;
    case Precision::word:
      fill<T, std::uint16_t>(samples, table, order, n_threads, distances);
      break;
    case Precision::byte:
      fill<T, std::uint8_t>(samples, table, order, n_threads, distances);
      break;
  }
}

template void l1_distances<float>(const SampleRows<float>&, const FeatureScale&,
                                  const std::vector<std::int32_t>&, std::size_t, Precision, int,
                                  Distances*);
template void l1_distances<double>(const SampleRows<double>&, const FeatureScale&,
                                   const std::vector<std::int32_t>&, std::size_t, Precision, int,
                                   Distances*);

ExactManhattan::ExactManhattan(const FeatureScale& scale, int bits) {
  const std::size_t p = scale.range.size();
  // Terms of 2^50 at most and a total of 2^62, whatever p (which is below 2^31).
  bits_ = std::min(bits, 62 - static_cast<int>(std::ceil(std::log2(static_cast<double>(p)))));
  double grid = std::ldexp(1.0, bits_);
  // A term is rounded once to whole units, after factors that are off by 2^-10 of one at most.
  error_ = static_cast<double>(p) * (0.5 + 0x1p-9);
  if (bits == summable && scale.common > 0 && static_cast<double>(scale.common) <= grid) {
    grid = static_cast<double>(scale.common);
    error_ = 0.0;
  }
  unit_ = scale.largest_weight / grid;
  cap_.assign(p, std::numeric_limits<double>::infinity());
  scale_.assign(p, 0.0);
  for (std::size_t f = 0; f < p; ++f) {
    if (scale.range[f] <= 0.0) continue;
    const double weight = grid * scale.weight(f) / scale.largest_weight;
    if (scale.is_nominal(f)) {
      cap_[f] = 1.0;
      scale_[f] = weight;
    } else {
      scale_[f] = weight / scale.range[f];
    }
  }
}

template <typename T>
std::int64_t ExactManhattan::operator()(const SampleRows<T>& samples, std::size_t a, std::size_t b) const {
  const ReliefKernels& kernel = *kernels().relief;
  if constexpr (std::is_same_v<T, float>) {
    return kernel.fixed_distance_float(samples.row(a), samples.row(b), cap_.data(), scale_.data(),
                                       samples.p);
  } else {
    return kernel.fixed_distance_double(samples.row(a), samples.row(b), cap_.data(),
                                        scale_.data(), samples.p);
  }
}

template std::int64_t ExactManhattan::operator()<float>(const SampleRows<float>&, std::size_t,
                                                 std::size_t) const;
template std::int64_t ExactManhattan::operator()<double>(const SampleRows<double>&, std::size_t,
                                                  std::size_t) const;

}  // namespace bitsieve
