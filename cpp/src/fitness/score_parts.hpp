// One split as the parts of a score see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "bitsieve/fitness/scores.hpp"

namespace bitsieve {

inline constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// How often each class was tested, predicted and hit.
struct ClassCounts {
  std::size_t n_classes;
  std::int64_t n;  // test samples
  const std::int32_t* tested;
  const std::int32_t* hits;
  const std::int32_t* predicted;  // none where hits are all that is known
  const std::int32_t* cells;      // [true][predicted], where the score asks for them
};

// A split's rows of Outputs::values, and what is true of them.
struct ValueRows {
  std::size_t n, n_classes;
  const std::int32_t* samples;
  const std::int32_t* codes;
  const double* numbers;
  const double* values;
  std::size_t n_values;
  const std::int32_t* tested;  // by class

  std::int32_t code(std::size_t row) const { return codes[samples[row]]; }
  double number(std::size_t row) const { return numbers[samples[row]]; }
  double value(std::size_t row, std::size_t c) const { return values[row * n_values + c]; }

  // How much a row speaks for one of two classes.
  double value_for(std::size_t row, std::int32_t positive) const {
    if (n_values > 1) return value(row, static_cast<std::size_t>(positive));
    return positive == 1 ? value(row, 0) : -value(row, 0);
  }
};

// A sum whose error does not grow with the number of terms (Neumaier 1974).
class LongSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    const double big = sum_ < 0 ? -sum_ : sum_, small = term < 0 ? -term : term;
    rest_ += big >= small ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0, rest_ = 0;
};

double score_of_classes(const Score& score, const ClassCounts& counts, ScoreScratch& scratch);
// Where the predicted class has all of the probability.
double score_of_one_hot(const Score& score, const ClassCounts& counts);
double score_of_ranks(const Score& score, const ValueRows& rows, ScoreScratch& scratch);
double score_of_probabilities(const Score& score, const ValueRows& rows);
double score_of_numbers(const Score& score, const ValueRows& rows, ScoreScratch& scratch);

}  // namespace bitsieve
