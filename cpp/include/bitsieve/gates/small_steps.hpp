// What a step behind gates does besides its products, each in one call: a step of a few open
// features is nearly all overhead of calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// n numbers of a distribution, chosen by the words of (key, Stream::gates, lane): 16 bits of a
// word, the lowest first, are a signed number t, which chooses table[t + 2^15].
void gate_noise(std::uint64_t key, std::uint64_t lane, const float* table, std::size_t n,
                float* out);

// Such numbers for n_draws times n gates, out[k * n + i] = clip((mu[i] + 1/2) + sigma number, 0, 1).
void normal_gates(std::uint64_t key, std::uint64_t lane, const float* table, const float* mu,
                  std::size_t n, float sigma, std::size_t n_draws, float* out);

// Writes where gates are not 0, ascending, and the gates there, and returns how many there are; all
// n where there are `most` or more.
std::size_t open_gates(const float* gates, std::size_t n, std::size_t most, std::int32_t* rows,
                       float* opened);

// weight times the sum of Phi((mu + 1/2) / sigma), and its gradient by mu. Phi is right to 1e-7
// (Abramowitz and Stegun, Handbook of mathematical functions, 7.1.26).
double normal_penalty(const float* mu, std::size_t n, float sigma, float weight, float* gradient);

// Softmax cross-entropy of outputs (n x n_classes) and codes in [0, n_classes), a mean weighted by
// `weight` (null: 1 each), and its gradient by the outputs. 0 where nothing counts.
double softmax_loss(const float* outputs, const std::int64_t* codes, const float* weight,
                    std::size_t n, std::size_t n_classes, float* gradient);

}  // namespace bitsieve
