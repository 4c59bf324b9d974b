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
//
// Beyond that paper, and off by default (its own future work):
//
//   noise     w_{k+1} += q_k omega_k,  q_k = q c / sqrt(j log log j),  j = k + 3,  omega normal
//             (Maryak and Chin 2008; words of lane 2 k + 1)
//   second    ask adds [ R(w_k + c Delta_k + c Delta~_k), R(w_k - c Delta_k + c Delta~_k) ], and the
//   order     step goes along the direction of Curvature (Spall 2000; Delta~_k from lane 2 k + 2):
//             a_k c (s+ - s-) x, or, with the automatic gain, x brought to a root mean square of 1
//   restart   a new run on fewer features: the others are in no mask, and k of gain, noise and
//             curvature counts from there
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/search/curvature.hpp"
#include "bitsieve/search/perturbed_top_n.hpp"
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
  double noise = 0.0;  // q, in units of c
  bool second_order = false;
};

struct SpsaState {
  std::int64_t iteration = 0;
  double mean_square = 0.0;  // m_k^2; stays 0 with a fixed gain
  std::int64_t began = 0;    // the iteration that this run began with
};

class BinarySpsa {
 public:
  // `start` is w_0.
  BinarySpsa(const double* start, std::size_t n_features, std::uint64_t seed,
             const SpsaOptions& options);

  // Three masks, or five, of words_for(n_features) words each: the iterate, plus, minus, and of
  // second order plus and minus perturbed once more. O(p).
  std::size_t masks_per_ask() const { return curvature_ ? 5 : 3; }
  void ask(Word* masks);

  // Scores of plus and minus of the last ask, and of second order (s+~ - s+) - (s-~ - s-). O(p), and
  // what Curvature says. Throws std::logic_error without an ask.
  void tell(double plus, double minus, double second_difference = 0.0);

  // A new run: w is 0.5 for the features of a mask, and all others are out for good, with w = 0.
  void restart(const Word* live);

  std::size_t n_features() const { return n_features_; }
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed);

  const double* position() const { return w_.data(); }
  const SpsaState& state() const { return state_; }
  void set_state(const double* position, const SpsaState& state);

  // The sum of the iterates w_1 to w_k, in their order.
  const double* total() const { return total_.data(); }
  void set_total(const double* total);

  const Word* live() const { return live_.data(); }
  void set_live(const Word* live);  // nothing moves
  Curvature* curvature() { return curvature_ ? &*curvature_ : nullptr; }

  // Whether both perturbed masks equal the iterate's, so that no score can move w again.
  bool is_decided() const;

 private:
  void draw_perturbation();
  void perturbed_twice(Word* plus, Word* minus);
  double step_for(double difference);
  void step_along_perturbation(double difference, double* total);
  void step_along_curvature(double difference, double second_difference);
  void inject_noise();
  double age() const { return static_cast<double>(state_.iteration - state_.began); }  // k

  std::size_t n_features_, n_words_;
  std::uint64_t seed_;
  SpsaOptions options_;
  double raised_threshold_, lowered_threshold_;  // w + c and w - c reach 0.5 from here on
  SpsaState state_;
  AlignedVector<double> w_, total_;  // padded to whole words
  std::vector<Word> delta_, second_, live_;
  bool is_whole_ = true;  // every feature is live
  double twice_raised_threshold_, twice_lowered_threshold_;
  std::optional<Curvature> curvature_;
  bool asked_ = false;
  PerturbedTopN largest_;
  TopN top_n_;
  AlignedVector<double> perturbed_, steps_;
};

}  // namespace bitsieve
