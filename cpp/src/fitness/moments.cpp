#include "bitsieve/fitness/moments.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "rectangles.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t moments_memory = std::size_t{256} << 20;
constexpr std::size_t moments_block = 64;  // samples summed before they are added: fixes the bits
// What a column of a block costs beside each of its products, in products.
constexpr double picked_column = 300, read_column = 50;
constexpr double most_lost = 16;           // of a square, by moving it to the means of a part

struct SplitRange {
  std::size_t begin, end;
  bool folds;  // each sample is tested once among them, and trains where it is not
};

// Splits one after the other that are folds of all samples together; the others each by itself.
std::vector<SplitRange> find_folds(const Splits& splits, std::size_t n) {
  std::vector<SplitRange> out;
  std::vector<std::size_t> seen(n, splits.n_splits);
  for (std::size_t begin = 0; begin < splits.n_splits;) {
    std::size_t end = begin, total = 0;
    bool apart = splits.complementary;
    while (apart && total < n && end < splits.n_splits) {
      for (std::int64_t k = splits.test_begin[end]; k < splits.test_begin[end + 1]; ++k) {
        const std::int32_t sample = splits.test_samples[static_cast<std::size_t>(k)];
        std::size_t& last = seen[static_cast<std::size_t>(sample)];
        apart = apart && last != begin;
        last = begin;
        ++total;
      }
      ++end;
    }
    const bool folds = apart && total == n && end - begin >= 2;
    out.push_back({begin, folds ? end : begin + 1, folds});
    begin = out.back().end;
  }
  return out;
}

void list_training(const Splits& splits, std::size_t split, std::size_t n,
                   std::vector<std::int32_t>& out) {
  out.clear();
  for (std::size_t i = 0; i < n; ++i) {
    if (get_bit(splits.training.data() + i * splits.n_words, split)) {
      out.push_back(static_cast<std::int32_t>(i));
    }
  }
}

std::size_t triangle(std::size_t n) { return n * (n + 1) / 2; }

double* row_of(MomentSums& sums, std::size_t split, std::size_t i) {
  return const_cast<double*>(sums.row(split, i));
}

// The sums of some samples, added up in blocks.
struct RunningSums {
  RunningSums(std::size_t n_columns, std::size_t ld_)
      : ld(ld_), columns(n_columns), sums(ld * ld), rows(moments_block * ld) {}

  std::size_t ld, columns;  // with the column of ones
  AlignedVector<double> sums, rows;
};

}  // namespace

// ---- masks ----------------------------------------------------------------------------------

void MaskMoments::means(std::size_t split, double* out) const {
  const double* means = sums().means.data() + split * sums().n_columns;
  for (std::size_t k = 0; k < size(); ++k) out[k] = means[place(k)];
}

double MaskMoments::target_mean(std::size_t split, std::size_t target) const {
  return sums().means[split * sums().n_columns + place_of_target(target)];
}

void MaskMoments::copy(std::size_t split, double* out, std::size_t ld) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const double* row = sums().row(split, place(i));
    for (std::size_t j = i; j < size(); ++j) out[i * ld + j] = out[j * ld + i] = row[place(j)];
  }
}

void MaskMoments::cross(std::size_t split, std::size_t target, double* out) const {
  for (std::size_t k = 0; k < size(); ++k) {
    out[k] = sums().row(split, place(k))[place_of_target(target)];
  }
}

// ---- sums -----------------------------------------------------------------------------------

Moments::Moments(const Table& table, const Target& target)
    : table_(table),
      target_(target),
      n_words_(words_for(table.view().n_features)),
      n_targets_(target.is_classes() ? target.n_classes : 1) {}

void Moments::forget() {
  leave_behind(kept_);
  leave_behind(means_);
  has_kept_ = false;
  credit_ = 0;
}

bool Moments::fits(std::size_t n_features, std::size_t n_splits) const {
  return static_cast<double>(triangle(n_features + n_targets_)) * static_cast<double>(n_splits) *
             sizeof(double) <=
         static_cast<double>(moments_memory);
}

void Moments::prepare(const Word* masks, std::size_t n_masks, const TargetSplits* at,
                      int n_threads) {
  if (!kernels().has_fma) {
    throw std::invalid_argument(
        "this instruction set has no fused multiply-add, which the kernel needs");
  }
  if (means_.empty()) measure_means();
  const std::size_t p = table_.view().n_features;
  if (at == nullptr || !fits(p, at->splits.n_splits)) return;
  if (kept_seed_ != at->seed) {
    has_kept_ = false;
    credit_ = 0;
    kept_seed_ = at->seed;
  }
  if (has_kept_) return;
  // Columns that are picked from the table cost more each than those that are all read.
  const auto work = [&](std::size_t size, double each) {
    const auto columns = static_cast<double>(size + n_targets_);
    return columns * (columns + each);
  };
  for (std::size_t m = 0; m < n_masks; ++m) {
    credit_ += work(count_bits(masks + m * n_words_, n_words_), picked_column);
  }
  if (credit_ < work(p, read_column)) return;
  std::vector<std::int32_t> features(p);
  for (std::size_t f = 0; f < p; ++f) features[f] = static_cast<std::int32_t>(f);
  sum(features, at->splits, n_threads, kept_);
  has_kept_ = true;
}

const MaskMoments& Moments::make(const Word* mask, const TargetSplits& at, int n_threads,
                                 MaskMoments& own) const {
  list_bits(mask, n_words_, own.features_);
  own.n_targets_ = n_targets_;
  own.kept_ = has_kept_ && kept_seed_ == at.seed ? &kept_ : nullptr;
  if (own.kept_ == nullptr) sum(own.features_, at.splits, n_threads, own.own_);
  return own;
}

void Moments::measure_means() {
  const std::size_t n = table_.view().n_samples, p = table_.view().n_features;
  std::vector<double> sums(p, 0.0), first(p);
  const auto add = [&](const auto* values) {
    for (std::size_t f = 0; f < p; ++f) first[f] = static_cast<double>(values[f]);
    for (std::size_t i = 1; i < n; ++i) {
      const auto* row = values + i * p;
      for (std::size_t f = 0; f < p; ++f) sums[f] += static_cast<double>(row[f]) - first[f];
    }
  };
  const Source& source = table_.source();
  if (source.single != nullptr) {
    add(source.single);
  } else {
    add(source.doubles);
  }
  for (std::size_t f = 0; f < p; ++f) sums[f] = first[f] + sums[f] / static_cast<double>(n);
  target_mean_ = 0;
  for (const double number : target_.numbers) target_mean_ += number / static_cast<double>(n);
  means_ = std::move(sums);
}

// Of a feature, or of target -1 - column.
double Moments::value(std::size_t i, std::int32_t column) const {
  if (column < 0) {
    return target_.is_classes() ? (target_.codes[i] == -1 - column ? 1.0 : 0.0)
                                : target_.numbers[i];
  }
  const std::size_t at = i * table_.view().n_features + static_cast<std::size_t>(column);
  const Source& source = table_.source();
  return source.single != nullptr ? static_cast<double>(source.single[at]) : source.doubles[at];
}

// Samples as rows: features and numbers less the means of all, classes as zeros and ones, a one;
// times the root of the weight.
void Moments::fill_rows(const std::vector<std::int32_t>& features, const std::int32_t* samples,
                        std::size_t m, std::size_t ld, double* rows) const {
  const std::size_t p = table_.view().n_features, k = features.size();
  const auto copy = [&](const auto* values) {
    for (std::size_t r = 0; r < m; ++r) {
      const auto* from = values + static_cast<std::size_t>(samples[r]) * p;
      double* row = rows + r * ld;
      for (std::size_t c = 0; c < k; ++c) {
        const std::size_t f = static_cast<std::size_t>(features[c]);
        row[c] = static_cast<double>(from[f]) - means_[f];
      }
    }
  };
  const Source& source = table_.source();
  if (source.single != nullptr) {
    copy(source.single);
  } else {
    copy(source.doubles);
  }
  for (std::size_t r = 0; r < m; ++r) {
    const std::size_t i = static_cast<std::size_t>(samples[r]);
    double* row = rows + r * ld;
    std::fill(row + k, row + ld, 0.0);
    if (target_.is_classes()) {
      row[k + static_cast<std::size_t>(target_.codes[i])] = 1;
    } else {
      row[k] = target_.numbers[i] - target_mean_;
    }
    row[k + n_targets_] = 1;
    if (target_.weights.empty()) continue;
    const double root = std::sqrt(target_.weights[i]);
    for (std::size_t c = 0; c <= k + n_targets_; ++c) row[c] *= root;
  }
}

void Moments::sum(const std::vector<std::int32_t>& features, const Splits& splits, int n_threads,
                  MomentSums& out) const {
  const SolverKernels& kernel = *kernels().solver;
  const std::size_t n = table_.view().n_samples, n_columns = features.size() + n_targets_;
  RunningSums running(n_columns + 1, (n_columns + 16) / 16 * 16);
  const std::size_t ld = running.ld;
  out.n_columns = n_columns;
  out.moments.resize(splits.n_splits * triangle(n_columns));
  out.means.resize(splits.n_splits * n_columns);
  out.weights.resize(splits.n_splits);
  std::vector<double> totals(splits.n_splits * (n_columns + 1));

  const auto add = [&](const std::int32_t* samples, std::size_t count) {
    for (std::size_t begin = 0; begin < count; begin += moments_block) {
      check_interrupt();
      const std::size_t m = std::min(moments_block, count - begin);
      fill_rows(features, samples + begin, m, ld, running.rows.data());
      for_each_rectangle(ld, m, n_threads, [&](std::size_t i, std::size_t i_end, std::size_t j,
                                               std::size_t j_end) {
        kernel.gram(running.rows.data(), ld, m, i, i_end, j, j_end,
                    running.sums.data() + i * ld + j, ld, false);
      });
    }
  };
  const auto add_tests = [&](std::size_t s) {
    const std::int64_t begin = splits.test_begin[s];
    const std::int64_t count = splits.test_begin[s + 1] - begin;
    add(splits.test_samples.data() + begin, static_cast<std::size_t>(count));
  };
  const auto clear = [&] { std::fill(running.sums.begin(), running.sums.end(), 0.0); };
  const auto put = [&](std::size_t s, bool fresh) {
    double* total = totals.data() + s * (n_columns + 1);
    for (std::size_t i = 0; i <= n_columns; ++i) {
      const double* from = running.sums.data() + i * ld;
      total[i] = fresh ? from[n_columns] : total[i] + from[n_columns];
      if (i == n_columns) break;
      double* to = row_of(out, s, i);
      for (std::size_t j = i; j < n_columns; ++j) to[j] = fresh ? from[j] : to[j] + from[j];
    }
  };

  std::vector<std::int32_t> training;
  for (const SplitRange& range : find_folds(splits, n)) {
    clear();
    if (!range.folds) {
      list_training(splits, range.begin, n, training);
      add(training.data(), training.size());
      put(range.begin, true);
      continue;
    }
    // The folds before each, then those after it.
    for (std::size_t s = range.begin; s < range.end; ++s) {
      put(s, true);
      if (s + 1 < range.end) add_tests(s);
    }
    clear();
    for (std::size_t s = range.end; s-- > range.begin;) {
      if (s + 1 < range.end) put(s, false);
      if (s > range.begin) add_tests(s);
    }
  }
  parallel_for(splits.n_splits, n_threads, [&](std::size_t s) {
    center(features, splits, s, totals.data() + s * (n_columns + 1), out);
  });
}

// From the means of all samples to those of the part.
void Moments::center(const std::vector<std::int32_t>& features, const Splits& splits,
                     std::size_t split, const double* totals, MomentSums& out) const {
  const std::size_t k = features.size(), n_columns = out.n_columns;
  const double weight = out.weights[split] = totals[n_columns];
  double* means = out.means.data() + split * n_columns;
  std::vector<double> shift(n_columns, 0.0);
  std::vector<std::size_t> again;
  for (std::size_t c = 0; c < n_columns; ++c) {
    if (weight > 0) shift[c] = totals[c] / weight;
    double mean = target_.is_classes() ? 0.0 : target_mean_;
    if (c < k) mean = means_[static_cast<std::size_t>(features[c])];
    means[c] = mean + shift[c];
  }
  for (std::size_t c = 0; c < n_columns; ++c) {
    double* row = row_of(out, split, c);
    const double square = row[c];
    for (std::size_t j = c; j < n_columns; ++j) row[j] -= totals[c] * shift[j];
    if (square > most_lost * row[c]) again.push_back(c);
  }
  if (again.empty()) return;
  std::vector<std::int32_t> samples, columns(features);
  list_training(splits, split, table_.view().n_samples, samples);
  for (std::size_t t = 0; t < n_targets_; ++t) columns.push_back(-1 - static_cast<std::int32_t>(t));
  sum_again(columns, again, samples, weight, split, out);
}

// Columns about their own means, with all the others; constant ones are zero.
void Moments::sum_again(const std::vector<std::int32_t>& columns,
                        const std::vector<std::size_t>& again,
                        const std::vector<std::int32_t>& samples, double weight, std::size_t split,
                        MomentSums& out) const {
  double* means = out.means.data() + split * out.n_columns;
  const auto weight_of = [&](std::size_t i) {
    return target_.weights.empty() ? 1.0 : target_.weights[i];
  };
  for (const std::size_t c : again) {
    double first = 0, sum = 0;
    bool found = false;
    for (const std::int32_t sample : samples) {
      const std::size_t i = static_cast<std::size_t>(sample);
      if (weight_of(i) == 0) continue;
      if (!found) first = value(i, columns[c]);
      found = true;
      sum += weight_of(i) * (value(i, columns[c]) - first);
    }
    means[c] = first + sum / weight;
  }
  std::vector<double> line(columns.size());
  for (const std::size_t c : again) {
    std::fill(line.begin(), line.end(), 0.0);
    for (const std::int32_t sample : samples) {
      const std::size_t i = static_cast<std::size_t>(sample);
      const double left = weight_of(i) * (value(i, columns[c]) - means[c]);
      if (left == 0) continue;
      for (std::size_t j = 0; j < columns.size(); ++j) {
        line[j] += left * (value(i, columns[j]) - means[j]);
      }
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      row_of(out, split, std::min(c, j))[std::max(c, j)] = line[j];
    }
  }
}

// ---- predictions ----------------------------------------------------------------------------

void predict_rows(const Table& table, const std::vector<std::int32_t>& features,
                  const double* coefficients, std::size_t n_targets, const double* means,
                  const std::int32_t* samples, std::size_t n_rows, double* out) {
  constexpr std::size_t lanes = 8;
  const std::size_t p = table.view().n_features, m = features.size();
  std::vector<double> row(m);
  const auto predict = [&](const auto* values) {
    for (std::size_t r = 0; r < n_rows; ++r) {
      const auto* from = values + static_cast<std::size_t>(samples[r]) * p;
      for (std::size_t k = 0; k < m; ++k) {
        row[k] = static_cast<double>(from[static_cast<std::size_t>(features[k])]) - means[k];
      }
      for (std::size_t t = 0; t < n_targets; ++t) {
        const double* b = coefficients + t * m;
        double sums[lanes] = {};
        std::size_t k = 0;
        for (; k + lanes <= m; k += lanes) {
          for (std::size_t l = 0; l < lanes; ++l) sums[l] += b[k + l] * row[k + l];
        }
        for (; k < m; ++k) sums[k % lanes] += b[k] * row[k];
        out[r * n_targets + t] = ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
                                 ((sums[1] + sums[5]) + (sums[3] + sums[7]));
      }
    }
  };
  const Source& source = table.source();
  if (source.single != nullptr) {
    predict(source.single);
  } else {
    predict(source.doubles);
  }
}

}  // namespace bitsieve
