#include "bitsieve/gates/small_steps.hpp"

#include <algorithm>
#include <cmath>

#include "bitsieve/core/rng.hpp"

namespace bitsieve {

void gate_noise(std::uint64_t key, std::uint64_t lane, const float* table, std::size_t n,
                float* out) {
  PhiloxStream rng(key, Stream::gates, lane);
  for (std::size_t i = 0; i < n;) {
    std::uint64_t word = rng.next();
    for (const std::size_t end = std::min(n, i + 4); i < end; ++i, word >>= 16) {
      out[i] = table[(word & 0xffff) ^ 0x8000];
    }
  }
}

std::size_t open_gates(const float* gates, std::size_t n, std::size_t most, std::int32_t* rows,
                       float* opened) {
  std::size_t n_open = 0;
  for (std::size_t i = 0; i < n; ++i) {
    rows[n_open] = static_cast<std::int32_t>(i);
    opened[n_open] = gates[i];
    n_open += gates[i] != 0.0f;
  }
  if (n_open < most) return n_open;
  for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<std::int32_t>(i);
  std::copy(gates, gates + n, opened);
  return n;
}

double softmax_loss(const float* outputs, const std::int64_t* codes, const float* weight,
                    std::size_t n, std::size_t n_classes, float* gradient) {
  double total = static_cast<double>(n);
  if (weight != nullptr) {
    total = 0;
    for (std::size_t i = 0; i < n; ++i) total += weight[i];
  }
  const double scale = total > 0 ? 1.0 / total : 0.0;
  double loss = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float* row = outputs + i * n_classes;
    float* d = gradient + i * n_classes;
    const float top = *std::max_element(row, row + n_classes);
    float sum = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      d[c] = std::exp(row[c] - top);
      sum += d[c];
    }
    const auto code = static_cast<std::size_t>(codes[i]);
    const double share = (weight == nullptr ? 1.0 : weight[i]) * scale;
    loss += share * (static_cast<double>(top) - row[code] + std::log(static_cast<double>(sum)));
    const float factor = static_cast<float>(share / sum);
    for (std::size_t c = 0; c < n_classes; ++c) d[c] *= factor;
    d[code] -= static_cast<float>(share);
  }
  return loss;
}

}  // namespace bitsieve
