#include "bitsieve/gates/small_steps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bitsieve/core/rng.hpp"

namespace bitsieve {
namespace {

// exp(-x) for x >= 0, or exp(-80) beyond, by what compilers make vectors of: of numbers that are
// not negative the smaller one has the smaller bits.
inline float exp_of_minus(float x) {
  x = std::bit_cast<float>(std::min(std::bit_cast<int>(x), std::bit_cast<int>(80.0f)));
  const int n = static_cast<int>(x * 1.44269504f + 0.5f);
  const auto whole = static_cast<float>(n);
  const float f = (whole * 0.693359375f - x) + whole * -2.12194440e-4f;
  float p = 1.0f / 720.0f;
  p = p * f + 1.0f / 120.0f;
  p = p * f + 1.0f / 24.0f;
  p = p * f + 1.0f / 6.0f;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  return p * std::bit_cast<float>((127 - n) << 23);
}

// Phi(sqrt(2) x), where e = exp(-x^2), by Abramowitz and Stegun's 7.1.26 for the error function, which
// is right to 1.5e-7.
inline float normal_cdf(float x, float e) {
  const float t = 1.0f / (1.0f + 0.3275911f * std::abs(x));
  float p = 0.5f * 1.061405429f;
  p = p * t - 0.5f * 1.453152027f;
  p = p * t + 0.5f * 1.421413741f;
  p = p * t - 0.5f * 0.284496736f;
  p = p * t + 0.5f * 0.254829592f;
  return 0.5f + std::copysign(0.5f - p * t * e, x);
}

}  // namespace

double normal_penalty(const float* mu, std::size_t n, float sigma, float weight, float* gradient) {
  constexpr std::size_t lanes = 16;
  const float scale = std::sqrt(0.5f) / sigma;
  const float density = weight * 0.398942280f / sigma;
  double total = 0;
  for (std::size_t i = 0; i < n; i += lanes) {
    const std::size_t count = std::min(lanes, n - i);
    float at[lanes] = {}, open[lanes], slope[lanes];
    std::copy(mu + i, mu + i + count, at);
    for (std::size_t l = 0; l < lanes; ++l) {
      const float x = (at[l] + 0.5f) * scale;
      const float e = exp_of_minus(x * x);
      slope[l] = density * e;
      open[l] = normal_cdf(x, e);
    }
    std::copy(slope, slope + count, gradient + i);
    float sum = 0;
    for (std::size_t l = 0; l < count; ++l) sum += open[l];
    total += sum;
  }
  return weight * total;
}

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

void normal_gates(std::uint64_t key, std::uint64_t lane, const float* table, const float* mu,
                  std::size_t n, float sigma, std::size_t n_draws, float* out) {
  gate_noise(key, lane, table, n_draws * n, out);
  for (std::size_t k = 0; k < n_draws; ++k, out += n) {
    for (std::size_t i = 0; i < n; ++i) {
      const float z = (mu[i] + 0.5f) + sigma * out[i];
      out[i] = z < 0.0f ? 0.0f : z > 1.0f ? 1.0f : z;  // what is not a number stays
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
