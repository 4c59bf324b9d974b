#include "bitsieve/search/perturbed_top_n.hpp"

#include <algorithm>
#include <functional>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

// What is compared in a mask: w itself, or w with c added where Delta is of that sign.
constexpr std::array<int, 3> signs{0, 1, -1};

double perturbed(const double* w, const Word* delta, double c, int sign, std::size_t f) {
  if (sign == 0) return w[f];
  return get_bit(delta, f) == (sign > 0) ? w[f] + c : w[f] - c;
}

}  // namespace

void PerturbedTopN::list(const Word* bits, std::size_t n_words, int sign, const double* w,
                         const Word* delta, double c) {
  candidates_.clear();
  for (std::size_t i = 0; i < n_words; ++i) {
    for_each_bit(bits[i], i, [&](std::size_t f) {
      candidates_.push_back({perturbed(w, delta, c, sign, f), f});
    });
  }
}

void PerturbedTopN::choose(std::size_t n, std::size_t wanted, std::size_t n_words, double* least,
                           Word* mask) {
  const std::size_t count = candidates_.size();
  values_.resize(count);
  for (std::size_t i = 0; i < count; ++i) values_[i] = candidates_[i].value;
  const auto at = [&](std::size_t rank) { return values_.begin() + static_cast<std::ptrdiff_t>(rank); };
  std::nth_element(values_.begin(), at(n - 1), values_.end(), std::greater<>());
  const double threshold = values_[n - 1];

  std::fill(mask, mask + n_words, Word{0});
  std::size_t ties = n;
  for (const Candidate& candidate : candidates_) {
    if (candidate.value > threshold) {
      set_bit(mask, candidate.feature);
      --ties;
    }
  }
  for (const Candidate& candidate : candidates_) {  // ascending features
    if (ties == 0) break;
    if (candidate.value == threshold) {
      set_bit(mask, candidate.feature);
      --ties;
    }
  }

  if (count > wanted) {
    std::nth_element(at(n - 1), at(wanted - 1), values_.end(), std::greater<>());
    *least = values_[wanted - 1];
  } else {  // a little lower, by the share that was missing
    const auto [low, high] = std::minmax_element(values_.begin(), values_.end());
    *least = *low - (*high - *low) * static_cast<double>(wanted - count) / static_cast<double>(count);
  }
}

void PerturbedTopN::select(const double* w, std::size_t p, const Word* delta, double c,
                           std::size_t n, Word* masks) {
  const std::size_t n_words = words_for(p), wanted = 2 * n + 32;
  perturbed_.resize(64 * n_words);
  if (4 * wanted > p) {  // too many to list
    for (const int sign : signs) {
      for (std::size_t f = 0; f < p; ++f) perturbed_[f] = perturbed(w, delta, c, sign, f);
      top_n_.select(perturbed_.data(), p, n, masks);
      masks += n_words;
    }
    return;
  }
  const std::size_t most = std::max(8 * wanted, p / 16);
  bits_.resize(3 * n_words);
  kernels().search->reach(w, delta, n_words, c, least_.data(), bits_.data());
  for (std::size_t m = 0; m < 3; ++m, masks += n_words) {
    Word* bits = bits_.data() + m * n_words;
    bits[n_words - 1] &= tail_mask(p);
    const std::size_t count = count_bits(bits, n_words);
    if (count < n || count > most) {
      for (std::size_t f = 0; f < p; ++f) perturbed_[f] = perturbed(w, delta, c, signs[m], f);
      top_n_.select(perturbed_.data(), p, wanted, bits);  // nested: the n largest are among them
    }
    list(bits, n_words, signs[m], w, delta, c);
    choose(n, wanted, n_words, &least_[m], masks);
  }
}

}  // namespace bitsieve
