// The optimiser of a first layer, row by row: the weights of a feature whose gate is closed have no
// gradient of the loss, so that their steps need nobody's numbers but their own and can be made
// later, all at once, when the gate opens. Rows that never open again cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/isa/row_kernels.hpp"

namespace bitsieve {

// Weights (p x H, C order), for Adam also both moments of the same shape, and the last step of each
// row. Pointers belong to the caller.
struct RowState {
  float* weight;
  float* mean;    // null without Adam
  float* square;  // null without Adam
  std::int64_t* last;
  std::size_t n_columns;
};

// Which rows: ascending, none twice.
struct RowList {
  const std::int32_t* rows;
  std::size_t n_rows;
};

class RowRule {
 public:
  // Plain descent.
  RowRule(double rate, double decay);
  // Adam. 0 <= b1, b2 <= 0.9999.
  RowRule(double rate, double decay, double b1, double b2, double epsilon);

  bool is_adam() const { return !rates_.empty(); }

  // Makes up for the steps that the listed rows missed, up to `step`.
  void advance(const RowState& state, RowList list, std::int64_t step) const;

  // Step `step` of the listed rows, which are at the one before: row i has the gradient
  // sum_k gates[k * n_rows + i] gradient[(i * n_draws + k) * n_columns + j].
  void learn(const RowState& state, RowList list, const float* gates, const float* gradient,
             std::size_t n_draws, std::int64_t step) const;

 private:
  RowSteps steps() const;

  RowSteps constants_;
  std::vector<float> rates_, roots_;  // until both have come to their limits
};

// out[(i * n_draws + k) * n_columns + j] = gates[k * n_rows + i] * weight[row i][j].
void fold_rows(const float* weight, std::size_t n_columns, RowList list, const float* gates,
               std::size_t n_draws, float* out);

// out[k * n_rows + i] = sum_j weight[row i][j] * gradient[(i * n_draws + k) * n_columns + j].
void gate_gradients(const float* weight, std::size_t n_columns, RowList list, const float* gradient,
                    std::size_t n_draws, float* out);

// out[row i] += slopes[i] sum_j weight[row i][j] * gradient[i * n_columns + j].
void add_gate_gradients(const float* weight, std::size_t n_columns, RowList list,
                        const float* gradient, const float* slopes, float* out);

// out[i * n_columns + j] = x[samples[i] * ld + columns[j]].
void gather_columns(const float* x, std::size_t ld, const std::int64_t* samples,
                    std::size_t n_samples, const std::int32_t* columns, std::size_t n_columns,
                    float* out);

}  // namespace bitsieve
