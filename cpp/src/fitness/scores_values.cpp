// Losses of probabilities, and scores of predicted numbers.
#include <algorithm>
#include <cmath>

#include "score_parts.hpp"

namespace bitsieve {
namespace {

// The column of probabilities that decides, checked: scikit-learn refuses what is outside [0, 1].
bool are_probabilities(const ValueRows& rows, std::size_t begin, std::size_t end) {
  bool fine = true;
  for (std::size_t i = 0; i < rows.n; ++i) {
    for (std::size_t c = begin; c < end; ++c) {
      fine = fine && rows.value(i, c) >= 0 && rows.value(i, c) <= 1;
    }
  }
  return fine;
}

double log_loss(const Score& score, const ValueRows& rows) {
  const bool two = rows.n_classes == 2;
  if (!are_probabilities(rows, two ? 1 : 0, rows.n_classes)) return undefined;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  LongSum sum;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const auto c = static_cast<std::size_t>(rows.code(i));
    // Of two classes the second's probability alone is read.
    const double p = two && c == 0 ? 1 - rows.value(i, 1) : rows.value(i, c);
    sum.add(-std::log(std::clamp(p, eps, 1 - eps)));
  }
  return score.normalize ? sum.value() / static_cast<double>(rows.n) : sum.value();
}

double brier(const Score& score, const ValueRows& rows) {
  const auto positive = static_cast<std::size_t>(score.positive);
  const bool two = rows.n_classes == 2;
  if (!are_probabilities(rows, two ? positive : 0, two ? positive + 1 : rows.n_classes)) {
    return undefined;
  }
  LongSum sum;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const auto code = static_cast<std::size_t>(rows.code(i));
    const std::size_t first = two ? positive : 0, last = two ? positive + 1 : rows.n_classes;
    for (std::size_t c = first; c < last; ++c) {
      const double error = (code == c ? 1.0 : 0.0) - rows.value(i, c);
      sum.add(error * error);
    }
  }
  return sum.value() / static_cast<double>(rows.n) * score.scale;
}

double mean(const ValueRows& rows) {
  LongSum sum;
  for (std::size_t i = 0; i < rows.n; ++i) sum.add(rows.number(i));
  return sum.value() / static_cast<double>(rows.n);
}

// 1 - (unexplained / all variation). NaN where the truth does not vary: what scikit-learn then says
// depends on how its mean is rounded.
double explained(const Score& score, const ValueRows& rows) {
  bool varies = false;
  for (std::size_t i = 1; i < rows.n; ++i) varies = varies || rows.number(i) != rows.number(0);
  if (!varies) return undefined;
  double shift = 0;
  if (score.metric == Metric::explained_variance) {
    LongSum sum;
    for (std::size_t i = 0; i < rows.n; ++i) sum.add(rows.number(i) - rows.value(i, 0));
    shift = sum.value() / static_cast<double>(rows.n);
  }
  const double center = mean(rows);
  LongSum left, all;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const double error = rows.number(i) - rows.value(i, 0) - shift;
    const double apart = rows.number(i) - center;
    left.add(error * error);
    all.add(apart * apart);
  }
  return all.value() == 0 ? undefined : 1 - left.value() / all.value();
}

double median_absolute_error(const ValueRows& rows, ScoreScratch& scratch) {
  auto& errors = scratch.numbers;
  errors.resize(rows.n);
  for (std::size_t i = 0; i < rows.n; ++i) {
    errors[i] = std::abs(rows.value(i, 0) - rows.number(i));
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(rows.n / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  if (rows.n % 2 == 1) return *middle;
  return (*std::max_element(errors.begin(), middle) + *middle) / 2;
}

}  // namespace

double score_of_probabilities(const Score& score, const ValueRows& rows) {
  return score.metric == Metric::log_loss ? log_loss(score, rows) : brier(score, rows);
}

double score_of_numbers(const Score& score, const ValueRows& rows, ScoreScratch& scratch) {
  LongSum squares, sizes;
  double largest = 0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const double error = rows.number(i) - rows.value(i, 0);
    if (!std::isfinite(rows.value(i, 0))) return undefined;
    squares.add(error * error);
    sizes.add(std::abs(error));
    largest = std::max(largest, std::abs(error));
  }
  const double n = static_cast<double>(rows.n);
  switch (score.metric) {
    case Metric::r2:
    case Metric::explained_variance: return explained(score, rows);
    case Metric::mean_squared_error: return squares.value() / n;
    case Metric::root_mean_squared_error: return std::sqrt(squares.value() / n);
    case Metric::mean_absolute_error: return sizes.value() / n;
    case Metric::median_absolute_error: return median_absolute_error(rows, scratch);
    case Metric::max_error: return largest;
    default: return undefined;
  }
}

}  // namespace bitsieve
