#include "bitsieve/discrete/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitsieve/core/labelled_sort.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t block_width = 64;

// Where a column is much work: some threads' worth of blocks also for few columns, and a block of
// some tenths of a second at most, as nobody can stop within one.
std::size_t narrow_block(std::size_t n_samples) {
  return std::clamp((std::size_t{1} << 22) / (n_samples + 1), std::size_t{1}, std::size_t{16});
}

std::size_t count_blocks(std::size_t n_features, std::size_t width = block_width) {
  return (n_features + width - 1) / width;
}

// Runs body(first, last, cuts, ends) over blocks of columns; the body appends the cuts of each
// column and then where they end. Blocks are joined in order.
template <typename Body>
CutPoints cut_blocks(std::size_t n_features, std::size_t width, int n_threads, const Body& body) {
  const std::size_t n_blocks = count_blocks(n_features, width);
  std::vector<std::vector<double>> values(n_blocks);
  std::vector<std::vector<std::size_t>> ends(n_blocks);
  parallel_for(n_blocks, n_threads, [&](std::size_t b) {
    const std::size_t first = b * width;
    const std::size_t last = std::min(first + width, n_features);
    body(first, last, values[b], ends[b]);
  });
  CutPoints joined;
  joined.begin.reserve(n_features + 1);
  joined.begin.push_back(0);
  for (std::size_t b = 0; b < n_blocks; ++b) {
    const auto offset = static_cast<std::int64_t>(joined.values.size());
    for (const std::size_t end : ends[b]) {
      joined.begin.push_back(offset + static_cast<std::int64_t>(end));
    }
    joined.values.insert(joined.values.end(), values[b].begin(), values[b].end());
  }
  return joined;
}

// Half way, and never so far that the greater of two neighboring numbers would be below.
double between(double low, double high) {
  const double middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

// k log2(k) in units of 2^-shift, exact to half a unit, and the step from k to k + 1.
class CountBits {
 public:
  explicit CountBits(std::size_t n) : values_(n + 1, 0) {
    const double most = static_cast<double>(n) * std::log2(static_cast<double>(n) + 1) + 1;
    shift_ = std::min(40, 60 - std::ilogb(most));
    for (std::size_t k = 2; k <= n; ++k) {
      const auto count = static_cast<double>(k);
      values_[k] = std::llround(std::ldexp(count * std::log2(count), shift_));
    }
  }
  std::int64_t operator[](std::size_t k) const { return values_[k]; }
  std::int64_t step(std::size_t k) const { return values_[k + 1] - values_[k]; }
  double real(std::int64_t fixed) const {
    return std::ldexp(static_cast<double>(fixed), -shift_);
  }

 private:
  std::vector<std::int64_t> values_;
  int shift_;
};

// One column after another; the scratch memory of a thread.
class MdlColumn {
 public:
  MdlColumn(const CountBits& table, std::size_t n_classes, bool distinct)
      : table_(table), distinct_(distinct), left_(n_classes), right_(n_classes) {}

  std::vector<Labelled>& samples() { return samples_; }

  // Appends the accepted cuts in ascending order.
  void cut(std::vector<double>& cuts) {
    sort_(samples_);
    const auto from = static_cast<std::ptrdiff_t>(cuts.size());
    waiting_.assign(1, {0, samples_.size()});
    while (!waiting_.empty()) {
      const auto [first, last] = waiting_.back();
      waiting_.pop_back();
      const std::size_t middle = split(first, last);
      if (middle == last) continue;
      cuts.push_back(between(samples_[middle - 1].value, samples_[middle].value));
      waiting_.emplace_back(first, middle);
      waiting_.emplace_back(middle, last);
    }
    std::sort(cuts.begin() + from, cuts.end());
  }

 private:
  // The first sample of the upper part of the best accepted split, `last` where there is none.
  std::size_t split(std::size_t first, std::size_t last) {
    const std::size_t n = last - first;
    if (n < 2 || samples_[first].value == samples_[last - 1].value) return last;
    std::fill(left_.begin(), left_.end(), 0);
    std::fill(right_.begin(), right_.end(), 0);
    for (std::size_t i = first; i < last; ++i) ++right_[index(i)];
    std::int64_t below = 0;
    std::int64_t above = 0;
    for (const std::size_t count : right_) above += table_[count];
    const std::int64_t prior = table_[n] - above;
    std::int64_t best = prior;
    std::size_t middle = last;
    std::size_t n_cuts = 0;
    for (std::size_t i = first; i + 1 < last; ++i) {
      const std::size_t label = index(i);
      below += table_.step(left_[label]++);
      above -= table_.step(--right_[label]);
      if (!(samples_[i].value < samples_[i + 1].value)) continue;
      ++n_cuts;
      const std::size_t n_left = i + 1 - first;
      const std::int64_t entropy = table_[n_left] + table_[n - n_left] - below - above;
      if (entropy < best) {
        best = entropy;
        middle = i + 1;
      }
    }
    if (middle == last) return last;
    return accepts(first, middle, last, prior, best, n_cuts) ? middle : last;
  }

  // Equation 9 of Fayyad and Irani (1993): is the gain worth more than the bits that describe the cut?
  bool accepts(std::size_t first, std::size_t middle, std::size_t last, std::int64_t prior,
               std::int64_t best, std::size_t n_cuts) {
    const auto n = static_cast<double>(last - first);
    const auto [below, k_below] = class_entropy(first, middle);
    const auto [above, k_above] = class_entropy(middle, last);
    double k = 0;
    std::fill(left_.begin(), left_.end(), 0);
    for (std::size_t i = first; i < last; ++i) k += left_[index(i)]++ == 0 ? 1.0 : 0.0;
    const double patterns = k < 40 ? std::log2(std::pow(3.0, k) - 2) : k * std::log2(3.0);
    const double delta =
        patterns - (k * table_.real(prior) / n - k_below * below - k_above * above);
    const double choices = distinct_ ? static_cast<double>(n_cuts) : n - 1;
    const double gain = table_.real(prior - best) / n;
    return gain > (std::log2(choices) + delta) / n;
  }

  // Bits a sample, and the number of classes.
  std::pair<double, double> class_entropy(std::size_t first, std::size_t last) {
    std::fill(left_.begin(), left_.end(), 0);
    for (std::size_t i = first; i < last; ++i) ++left_[index(i)];
    std::int64_t sum = table_[last - first];
    double k = 0;
    for (const std::size_t count : left_) {
      sum -= table_[count];
      if (count > 0) k += 1;
    }
    return {table_.real(sum) / static_cast<double>(last - first), k};
  }

  std::size_t index(std::size_t i) const { return static_cast<std::size_t>(samples_[i].label); }

  const CountBits& table_;
  bool distinct_;
  std::vector<std::size_t> left_, right_;
  std::vector<Labelled> samples_;
  LabelledSort sort_;
  std::vector<std::pair<std::size_t, std::size_t>> waiting_;
};

// Sums of a block of columns with the rounding errors beside them: the same to the last bit in any
// order of samples, but for the rarest of cases.
struct BlockSums {
  double value[block_width] = {};
  double rest[block_width] = {};
  void add(std::size_t f, double x) {
    const double total = value[f] + x;
    const double seen = total - value[f];
    rest[f] += (value[f] - (total - seen)) + (x - seen);
    value[f] = total;
  }
  double get(std::size_t f) const { return value[f] + rest[f]; }
};

}  // namespace

template <typename T>
CutPoints mdl_cut_points(const SampleRows<T>& samples, const std::int32_t* classes,
                         std::size_t n_classes, bool distinct, int n_threads) {
  const CountBits table(samples.n);
  return cut_blocks(
      samples.p, narrow_block(samples.n), n_threads,
      [&](std::size_t first, std::size_t last, std::vector<double>& cuts,
          std::vector<std::size_t>& ends) {
        const std::size_t n = samples.n;
        std::vector<T> block((last - first) * n);  // feature by feature
        for (std::size_t i = 0; i < n; ++i) {
          const T* row = samples.data + i * samples.p;
          for (std::size_t f = first; f < last; ++f) block[(f - first) * n + i] = row[f];
        }
        MdlColumn column(table, n_classes, distinct);
        for (std::size_t f = first; f < last; ++f) {
          const T* values = block.data() + (f - first) * n;
          column.samples().clear();
          for (std::size_t i = 0; i < n; ++i) {
            if (!std::isnan(values[i])) {
              column.samples().push_back({static_cast<double>(values[i]), classes[i]});
            }
          }
          column.cut(cuts);
          ends.push_back(cuts.size());
        }
      });
}

template <typename T>
CutPoints mean_sd_cut_points(const SampleRows<T>& samples, double width, int n_threads) {
  return cut_blocks(
      samples.p, block_width, n_threads,
      [&](std::size_t first, std::size_t last, std::vector<double>& cuts,
          std::vector<std::size_t>& ends) {
        const std::size_t n_columns = last - first;
        const auto for_each_row = [&](const auto& body) {
          for (std::size_t i = 0; i < samples.n; ++i) {
            const T* row = samples.data + i * samples.p + first;
            for (std::size_t f = 0; f < n_columns; ++f) body(f, static_cast<double>(row[f]));
          }
        };
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double mean[block_width], least[block_width], most[block_width], count[block_width];
        std::fill_n(least, block_width, infinity);
        std::fill_n(most, block_width, -infinity);
        std::fill_n(count, block_width, 0.0);
        BlockSums sums, squares;
        for_each_row([&](std::size_t f, double x) {
          const bool there = x == x;
          sums.add(f, there ? x : 0.0);
          count[f] += there ? 1.0 : 0.0;
          least[f] = x < least[f] ? x : least[f];
          most[f] = x > most[f] ? x : most[f];
        });
        // Powers of two that keep squares from overflow and from vanishing; they round nothing.
        double unit[block_width];
        for (std::size_t f = 0; f < n_columns; ++f) {
          mean[f] = sums.get(f) / count[f];
          const double span = std::max(most[f] - mean[f], mean[f] - least[f]);
          const bool scales = span > 0.0 && std::isfinite(span);
          unit[f] = std::ldexp(1.0, scales ? std::clamp(-std::ilogb(span), -1000, 1000) : 0);
        }
        for_each_row([&](std::size_t f, double x) {
          const double off = x == x ? (x - mean[f]) * unit[f] : 0.0;
          squares.add(f, off * off);
        });
        for (std::size_t f = 0; f < n_columns; ++f) {
          if (least[f] < most[f]) {
            const double deviation = std::sqrt(squares.get(f) / (count[f] - 1)) / unit[f];
            const double reach = width * deviation;
            cuts.push_back(std::nextafter(mean[f] - reach, -infinity));
            cuts.push_back(mean[f] + reach);
          }
          ends.push_back(cuts.size());
        }
      });
}

template <typename T>
CutPoints level_cut_points(const SampleRows<T>& samples, std::size_t max_levels, LevelFault* faults,
                           int n_threads) {
  return cut_blocks(
      samples.p, block_width, n_threads,
      [&](std::size_t first, std::size_t last, std::vector<double>& cuts,
          std::vector<std::size_t>& ends) {
        std::vector<std::vector<T>> levels(last - first);
        std::fill(faults + first, faults + last, LevelFault::none);
        for (std::size_t i = 0; i < samples.n; ++i) {
          const T* row = samples.data + i * samples.p;
          for (std::size_t f = first; f < last; ++f) {
            const T x = row[f];
            std::vector<T>& known = levels[f - first];
            if (std::isnan(x) || faults[f] != LevelFault::none) continue;
            const auto place = std::lower_bound(known.begin(), known.end(), x);
            if (place != known.end() && *place == x) continue;
            if (x != std::nearbyint(x)) {
              faults[f] = LevelFault::fraction;
            } else if (known.size() == max_levels) {
              faults[f] = LevelFault::too_many;
            } else {
              known.insert(place, x);
            }
          }
        }
        for (std::size_t f = first; f < last; ++f) {
          const std::vector<T>& known = levels[f - first];
          if (faults[f] == LevelFault::none) {
            for (std::size_t k = 1; k < known.size(); ++k) {
              cuts.push_back(
                  between(static_cast<double>(known[k - 1]), static_cast<double>(known[k])));
            }
          }
          ends.push_back(cuts.size());
        }
      });
}

template <typename T>
void apply_cut_points(const SampleRows<T>& samples, const double* cuts, const std::int64_t* begin,
                      bool missing_level, std::uint8_t* codes, int n_threads) {
  constexpr std::size_t most_in_line = 16;  // more cuts than this are searched by halving
  const std::size_t p = samples.p;
  parallel_for(count_blocks(p), n_threads, [&](std::size_t b) {
    const std::size_t first = b * block_width;
    const std::size_t width = std::min(block_width, p - first);
    std::size_t most = 0;
    for (std::size_t f = first; f < first + width; ++f) {
      most = std::max(most, static_cast<std::size_t>(begin[f + 1] - begin[f]));
    }
    const bool in_line = most <= most_in_line;
    double padded[most_in_line][block_width];
    if (in_line) {
      for (std::size_t k = 0; k < most; ++k) {
        for (std::size_t f = 0; f < width; ++f) {
          const std::int64_t at = begin[first + f] + static_cast<std::int64_t>(k);
          padded[k][f] =
              at < begin[first + f + 1] ? cuts[at] : std::numeric_limits<double>::infinity();
        }
      }
    }
    for (std::size_t i = 0; i < samples.n; ++i) {
      const T* row = samples.data + i * p + first;
      std::uint8_t* out = codes + i * p + first;
      if (in_line) {
        std::int64_t level[block_width] = {};
        for (std::size_t k = 0; k < most; ++k) {
          for (std::size_t f = 0; f < width; ++f) {
            level[f] += static_cast<double>(row[f]) > padded[k][f] ? 1 : 0;
          }
        }
        for (std::size_t f = 0; f < width; ++f) out[f] = static_cast<std::uint8_t>(level[f]);
      } else {
        for (std::size_t f = 0; f < width; ++f) {
          const double* from = cuts + begin[first + f];
          const double* to = cuts + begin[first + f + 1];
          const auto x = static_cast<double>(row[f]);
          out[f] = static_cast<std::uint8_t>(std::lower_bound(from, to, x) - from);
        }
      }
      for (std::size_t f = 0; f < width; ++f) {
        if (std::isnan(row[f])) {
          const std::int64_t above = begin[first + f + 1] - begin[first + f] + 1;
          out[f] = missing_level ? static_cast<std::uint8_t>(above) : std::uint8_t{0};
        }
      }
    }
  });
}

#define BITSIEVE_INSTANTIATE(T)                                                                    \
  template CutPoints mdl_cut_points(const SampleRows<T>&, const std::int32_t*, std::size_t, bool,    \
                                    int);                                                         \
  template CutPoints mean_sd_cut_points(const SampleRows<T>&, double, int);                          \
  template CutPoints level_cut_points(const SampleRows<T>&, std::size_t, LevelFault*, int);          \
  template void apply_cut_points(const SampleRows<T>&, const double*, const std::int64_t*, bool,     \
                                 std::uint8_t*, int);
BITSIEVE_INSTANTIATE(float)
BITSIEVE_INSTANTIATE(double)
#undef BITSIEVE_INSTANTIATE

}  // namespace bitsieve
