// Binary simultaneous perturbation stochastic approximation (Aksakalli and Malekipirbazari 2016,
// section II; Wang and Spall 2011).
//
//   iterate   w in R^p, never clipped; feature f is in the mask where w_f >= 0.5
//   ask       [ R(w_k), R(w_k + c Delta_k), R(w_k - c Delta_k) ]
//   tell      w_{k+1} = w_k + a_k (s+ - s-) / (2 c) Delta_k       a_k = a / (A + k + 1)^alpha
//             or, with the automatic gain, w_k + r c (s+ - s-) / m_k Delta_k, with m_k the root
//             mean square of the recent differences (not in that paper)
//
// That paper minimises an error; here a score is maximised, so the step goes up. Bounding (B) and
// rounding (R) meet only masks: R(B(x)) is x >= 0.5, so B never has to be computed.
//
// Delta_k is a function of (seed, k): bit f % 64 of word f / 64 of the stream, 1 for +1 and 0 for
// -1, beginning at block k * ceil(n_words / 4). The state is therefore w and a few scalars, and
// ask changes nothing: asked again, it answers the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/search/top_n.hpp"

namespace bitsieve {

struct SpsaOptions {
  double perturbation = 0.05;  // c
  double stability = 300.0;    // A
  double decay = 0.6;          // alpha
  // a. NaN: the automatic gain, of which stability and decay are no part.
  double gain = std::numeric_limits<double>::quiet_NaN();
  double step_fraction = 0.03;  // r
  // The newest squared difference has the weight 1 / n in m_k^2; the first n have equal weights.
  // No step is longer than r c sqrt(n).
  std::int64_t n_averaged = 20;
  // 0: the mask is w >= 0.5. n > 0: the n largest, ties to the lowest index.
  std::size_t n_select = 0;
};

struct SpsaState {
  std::int64_t iteration = 0;
  double mean_square = 0.0;  // m_k^2; stays 0 with a fixed gain
};

class BinarySpsa {
 public:
  static constexpr std::size_t masks_per_ask = 3;

  // `start` is w_0.
  BinarySpsa(const double* start, std::size_t n_features, std::uint64_t seed,
             const SpsaOptions& options);

  // Three masks of words_for(n_features) words each: the iterate, plus, minus. O(p).
  void ask(Word* masks);

  // Scores of plus and minus of the last ask. O(p). Throws std::logic_error without an ask.
  void tell(double plus, double minus);

  std::size_t n_features() const { return n_features_; }
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed);

  const double* position() const { return w_.data(); }
  const SpsaState& state() const { return state_; }
  void set_state(const double* position, const SpsaState& state);

  // Whether both perturbed masks equal the iterate's, so that no score can move w again.
  bool is_decided() const;

 private:
  void draw_perturbation();
  double step_for(double difference);

  std::size_t n_features_, n_words_;
  std::uint64_t seed_;
  SpsaOptions options_;
  double raised_threshold_, lowered_threshold_;  // w + c and w - c reach 0.5 from here on
  SpsaState state_;
  AlignedVector<double> w_;  // padded to whole words
  std::vector<Word> delta_;
  bool asked_ = false;
  TopN top_n_;
  AlignedVector<double> perturbed_;
};

}  // namespace bitsieve
