#include "bitsieve/fitness/fold_scaler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace fold_scaler {

constexpr std::size_t task_features = 32;
constexpr std::size_t chunk_splits = 64;  // measured at a time: their weights are read again and again
constexpr double epsilon = std::numeric_limits<double>::epsilon();

// Some splits of a set, as the kernels read them: 1 where a sample trains, else 0.
struct Chunk {
  std::size_t begin = 0, count = 0, ld = 0;
  AlignedVector<double> weights;  // [n][ld]
  AlignedVector<double> counts;   // [ld] training samples; 1 in what pads

  void set(const Splits& splits, std::size_t from, std::size_t n) {
    begin = from;
    count = std::min(chunk_splits, splits.n_splits - from);
    ld = (count + scaled_lanes - 1) / scaled_lanes * scaled_lanes;
    weights.assign(n * ld, 0.0);
    counts.assign(ld, 1.0);
    for (std::size_t s = 0; s < count; ++s) counts[s] = splits.n_train[from + s];
    for (std::size_t i = 0; i < n; ++i) {
      const Word* trained = splits.training.data() + i * splits.n_words;
      for (std::size_t s = 0; s < count; ++s) {
        weights[i * ld + s] = get_bit(trained, from + s) ? 1.0 : 0.0;
      }
    }
  }
};

// scikit-learn's _handle_zeros_in_scale
double without_zero(double scale) { return scale < 10 * epsilon ? 1.0 : scale; }

// scikit-learn's _is_constant_feature
bool is_constant(double variance, double mean, double n) {
  const double rounding = n * mean * epsilon;
  return variance <= n * epsilon * variance + rounding * rounding;
}

void standard(const ScalerOptions& options, const Chunk& chunk, const double* mean,
              const double* variance, double* center, double* scale, double* middle) {
  for (std::size_t s = 0; s < chunk.count; ++s) {
    if (middle != nullptr) middle[s] = mean[s];
    center[s] = options.center ? mean[s] : 0.0;
    const bool constant = is_constant(variance[s], mean[s], chunk.counts[s]);
    scale[s] = options.scale && !constant ? std::sqrt(variance[s]) : 1.0;
  }
}

void of_extremes(const ScalerOptions& options, const Chunk& chunk, const double* least,
                 const double* most, double* center, double* scale, double* middle) {
  const bool is_range = options.kind == ScalerOptions::Kind::min_max;
  const double width = options.high - options.low;
  for (std::size_t s = 0; s < chunk.count; ++s) {
    if (middle != nullptr) middle[s] = least[s] + (most[s] - least[s]) / 2;
    if (is_range) {
      scale[s] = without_zero(most[s] - least[s]) / width;
      center[s] = least[s] - options.low * scale[s];
    } else {
      scale[s] = without_zero(std::max(-least[s], most[s]));
      center[s] = 0.0;
    }
  }
}

// numpy's "linear" quantile of n sorted values: two places, and the weight of the second.
struct Quantile {
  std::size_t below, above;
  double weight;

  Quantile(double q, std::size_t n) {
    const double at = static_cast<double>(n - 1) * q, floor = std::floor(at);
    below = std::min(static_cast<std::size_t>(floor), n - 1);
    above = std::min(below + 1, n - 1);
    weight = at - floor;
  }
  double between(double a, double b) const {
    const double apart = b - a;
    return weight >= 0.5 ? b - apart * (1 - weight) : a + apart * weight;
  }
};

// The order of one feature's values, and where in it stand the samples that a split leaves out.
class Order {
 public:
  void set(const double* row, std::size_t n, const Splits& splits) {
    row_ = row;
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [row](std::int32_t a, std::int32_t b) {
      return row[a] != row[b] ? row[a] < row[b] : a < b;
    });
    begin_.resize(splits.n_splits + 1);
    begin_[0] = 0;
    for (std::size_t s = 0; s < splits.n_splits; ++s) {
      begin_[s + 1] = begin_[s] + n - static_cast<std::size_t>(splits.n_train[s]);
    }
    next_.assign(begin_.begin(), begin_.end() - 1);
    left_out_.resize(begin_.back());
    const Word tail = tail_mask(splits.n_splits);
    for (std::size_t at = 0; at < n; ++at) {
      const Word* trained =
          splits.training.data() + static_cast<std::size_t>(order_[at]) * splits.n_words;
      for (std::size_t w = 0; w < splits.n_words; ++w) {
        const Word all = w + 1 == splits.n_words ? tail : ~Word{0};
        for_each_bit(all & ~trained[w], w, [&](std::size_t s) {
          left_out_[next_[s]++] = static_cast<std::uint32_t>(at);
        });
      }
    }
  }

  // The training value of a split with `rank` others before it.
  double at(std::size_t split, std::size_t rank) const {
    for (std::size_t k = begin_[split]; k < begin_[split + 1] && left_out_[k] <= rank; ++k) ++rank;
    return row_[order_[rank]];
  }

 private:
  const double* row_ = nullptr;
  std::vector<std::int32_t> order_;
  std::vector<std::uint32_t> left_out_;
  std::vector<std::size_t> begin_, next_;
};

void robust(const ScalerOptions& options, const Order& order, const Splits& splits, double* center,
            double* scale, double* middle) {
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    const std::size_t n = static_cast<std::size_t>(splits.n_train[s]);
    const auto quantile = [&](double q) {
      const Quantile place(q, n);
      return place.between(order.at(s, place.below), order.at(s, place.above));
    };
    const double median = n % 2 == 1 ? order.at(s, n / 2)
                                     : (order.at(s, n / 2 - 1) + order.at(s, n / 2)) / 2;
    center[s] = options.center ? median : 0.0;
    if (middle != nullptr) middle[s] = median;
    scale[s] = 1.0;
    if (options.scale) {
      scale[s] = without_zero(quantile(options.high) - quantile(options.low)) / options.divisor;
    }
  }
}

}  // namespace fold_scaler

void FoldScaler::measure(const std::int32_t* features, std::size_t m, const Splits& splits,
                         double* center, double* scale, int n_threads, double* middle) const {
  using Kind = ScalerOptions::Kind;
  const std::size_t n = table_.view().n_samples, ld = table_.view().ld, width = splits.n_splits;
  if (is_none()) {
    std::fill(center, center + m * width, 0.0);
    std::fill(scale, scale + m * width, 1.0);
    if (middle != nullptr) std::fill(middle, middle + m * width, 0.0);
    return;
  }
  const double* values = table_.doubles(n_threads);
  const std::size_t n_tasks = (m + fold_scaler::task_features - 1) / fold_scaler::task_features;
  const auto row_of = [&](std::size_t k) {
    return values + static_cast<std::size_t>(features[k]) * ld;
  };
  const auto middle_of = [&](std::size_t at) { return middle == nullptr ? nullptr : middle + at; };
  const auto for_features = [&](FunctionRef<std::size_t, std::size_t> body) {
    parallel_for(n_tasks, n_threads, [&](std::size_t task) {
      const std::size_t first = task * fold_scaler::task_features;
      body(first, std::min(first + fold_scaler::task_features, m));
    });
  };
  if (options_.kind == Kind::robust) {
    for_features([&](std::size_t first, std::size_t last) {
      fold_scaler::Order order;
      for (std::size_t k = first; k < last; ++k) {
        order.set(row_of(k), n, splits);
        fold_scaler::robust(options_, order, splits, center + k * width, scale + k * width,
                            middle_of(k * width));
      }
    });
    return;
  }
  const ScaledKernels& kernel = *kernels().scaled;
  const bool is_standard = options_.kind == Kind::standard;
  fold_scaler::Chunk chunk;
  for (std::size_t begin = 0; begin < width; begin += fold_scaler::chunk_splits) {
    chunk.set(splits, begin, n);
    for_features([&](std::size_t first, std::size_t last) {
      const double* rows[scaled_rows];
      AlignedVector<double> one(scaled_rows * chunk.ld), other(scaled_rows * chunk.ld);
      for (std::size_t k = first; k < last; k += scaled_rows) {
        const std::size_t n_rows = std::min(scaled_rows, last - k);
        for (std::size_t r = 0; r < n_rows; ++r) rows[r] = row_of(k + r);
        if (is_standard) {
          kernel.moments(rows, n_rows, n, chunk.weights.data(), chunk.ld, chunk.counts.data(),
                         one.data(), other.data());
        } else {
          kernel.extremes(rows, n_rows, n, chunk.weights.data(), chunk.ld, one.data(),
                          other.data());
        }
        for (std::size_t r = 0; r < n_rows; ++r) {
          const std::size_t at = (k + r) * width + begin;
          (is_standard ? fold_scaler::standard : fold_scaler::of_extremes)(
              options_, chunk, one.data() + r * chunk.ld, other.data() + r * chunk.ld, center + at,
              scale + at, middle_of(at));
        }
      }
    });
  }
}

}  // namespace bitsieve
