// What a model says of the test samples of all splits: from it every score is made.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// Outputs of one mask, a row a test sample, in the order of Splits::test_samples. Not owned.
struct Outputs {
  const std::int32_t* classes = nullptr;  // [n_tests] predicted class, or none
  const double* values = nullptr;         // [n_tests][n_values], or none
  std::size_t n_values = 0;
  // What the values are. probabilities: one a class. decisions: one a class; of two classes a single
  // one, greater means the second. numbers: one, the prediction itself.
  enum class Kind : std::uint8_t { none, probabilities, decisions, numbers } kind = Kind::none;
};

}  // namespace bitsieve
