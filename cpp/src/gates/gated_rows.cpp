// Rows of weights behind gates, and columns of samples: what surrounds the product of the two.
#include <algorithm>

#include "bitsieve/gates/row_rule.hpp"

namespace bitsieve {

void fold_rows(const float* weight, std::size_t n_columns, RowList list, const float* gates,
               std::size_t n_draws, float* out) {
  for (std::size_t i = 0; i < list.n_rows; ++i) {
    const float* w = weight + static_cast<std::size_t>(list.rows[i]) * n_columns;
    for (std::size_t k = 0; k < n_draws; ++k) {
      float* to = out + (i * n_draws + k) * n_columns;
      if (gates == nullptr) {
        std::copy(w, w + n_columns, to);
      } else {
        const float gate = gates[k * list.n_rows + i];
        for (std::size_t j = 0; j < n_columns; ++j) to[j] = gate * w[j];
      }
    }
  }
}

namespace {

// The same sums whatever the instruction set.
float dot_of_rows(const float* w, const float* g, std::size_t n) {
  constexpr std::size_t lanes = 16;
  float sums[lanes] = {};
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) sums[l] += w[j + l] * g[j + l];
  }
  for (std::size_t l = 0; j + l < n; ++l) sums[l] += w[j + l] * g[j + l];
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

}  // namespace

void gate_gradients(const float* weight, std::size_t n_columns, RowList list, const float* gradient,
                    std::size_t n_draws, float* out) {
  for (std::size_t i = 0; i < list.n_rows; ++i) {
    const float* w = weight + static_cast<std::size_t>(list.rows[i]) * n_columns;
    for (std::size_t k = 0; k < n_draws; ++k) {
      out[k * list.n_rows + i] = dot_of_rows(w, gradient + (i * n_draws + k) * n_columns, n_columns);
    }
  }
}

void add_gate_gradients(const float* weight, std::size_t n_columns, RowList list,
                        const float* gradient, const float* slopes, float* out) {
  for (std::size_t i = 0; i < list.n_rows; ++i) {
    const auto row = static_cast<std::size_t>(list.rows[i]);
    out[row] += slopes[i] * dot_of_rows(weight + row * n_columns, gradient + i * n_columns,
                                        n_columns);
  }
}

void gather_columns(const float* x, std::size_t ld, const std::int64_t* samples,
                    std::size_t n_samples, const std::int32_t* columns, std::size_t n_columns,
                    float* out) {
  for (std::size_t i = 0; i < n_samples; ++i) {
    const float* from = x + static_cast<std::size_t>(samples[i]) * ld;
    float* to = out + i * n_columns;
    for (std::size_t j = 0; j < n_columns; ++j) to[j] = from[columns[j]];
  }
}

}  // namespace bitsieve
