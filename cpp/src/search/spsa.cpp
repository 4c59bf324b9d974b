#include "bitsieve/search/spsa.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/rng.hpp"
#include "bitsieve/search/compare.hpp"

namespace bitsieve {
namespace {

// Far beyond any use; w stays finite for as long as anyone can wait.
constexpr double largest_step = 1e100;

// The least x for which x + shift >= 0.5 in floating point. Rounding never reverses an order, so
// comparing w with it is comparing w + shift with 0.5, without the addition.
double threshold_for(double shift) {
  double below = -2.0 - 2.0 * std::abs(shift), reached = 2.0 + 2.0 * std::abs(shift);
  while (true) {
    const double middle = below + (reached - below) / 2.0;
    if (!(below < middle && middle < reached)) return reached;
    (middle + shift >= 0.5 ? reached : below) = middle;
  }
}

}  // namespace

BinarySpsa::BinarySpsa(const double* start, std::size_t n_features, std::uint64_t seed,
                       const SpsaOptions& options)
    : n_features_(n_features),
      n_words_(words_for(n_features)),
      seed_(seed),
      options_(options),
      raised_threshold_(threshold_for(options.perturbation)),
      lowered_threshold_(threshold_for(-options.perturbation)),
      w_(64 * n_words_, 0.0),
      total_(64 * n_words_, 0.0),
      delta_(n_words_, 0),
      second_(options.second_order ? n_words_ : 0, 0),
      live_(n_words_, ~Word{0}),
      twice_raised_threshold_(threshold_for(2.0 * options.perturbation)),
      twice_lowered_threshold_(threshold_for(-2.0 * options.perturbation)) {
  std::copy(start, start + n_features, w_.begin());
  live_.back() &= tail_mask(n_features);
  if (options.second_order) curvature_.emplace(n_features);
}

void BinarySpsa::set_live(const Word* live) {
  std::copy(live, live + n_words_, live_.begin());
  live_.back() &= tail_mask(n_features_);
  is_whole_ = true;
  for (std::size_t f = 0; f < n_features_ && is_whole_; ++f) is_whole_ = get_bit(live_.data(), f);
}

void BinarySpsa::restart(const Word* live) {
  set_live(live);
  for (std::size_t f = 0; f < n_features_; ++f) w_[f] = get_bit(live_.data(), f) ? 0.5 : 0.0;
  state_.mean_square = 0.0;
  state_.began = state_.iteration;
  if (curvature_) curvature_->clear();
  asked_ = false;
}

void BinarySpsa::set_seed(std::uint64_t seed) {
  seed_ = seed;
  asked_ = false;
}

void BinarySpsa::set_state(const double* position, const SpsaState& state) {
  std::copy(position, position + n_features_, w_.begin());
  state_ = state;
  asked_ = false;
}

void BinarySpsa::set_total(const double* total) {
  std::copy(total, total + n_features_, total_.begin());
}

void BinarySpsa::draw_perturbation() {
  const std::uint64_t blocks = (n_words_ + 3) / 4;
  const std::uint64_t first = static_cast<std::uint64_t>(state_.iteration) * blocks;
  const auto stream = static_cast<std::uint64_t>(Stream::search);
  for (std::size_t w = 0; w < n_words_; w += 4) {
    const PhiloxBlock block = philox4x64(seed_, stream, {first + w / 4, 0, 0, 0});
    for (std::size_t i = 0; i < std::min<std::size_t>(4, n_words_ - w); ++i) {
      delta_[w + i] = block[i];
    }
  }
  if (!curvature_) return;
  PhiloxStream words(seed_, Stream::search, 2 * static_cast<std::uint64_t>(state_.iteration) + 2);
  for (Word& word : second_) word = words.next();
}

// Half of the features of plus go back to w, the others on by another c.
void BinarySpsa::perturbed_twice(Word* plus, Word* minus) {
  const double c = options_.perturbation;
  if (options_.n_select > 0) {
    perturbed_.resize(64 * n_words_);
    for (const bool up : {true, false}) {
      for (std::size_t f = 0; f < n_features_; ++f) {
        const bool again = get_bit(second_.data(), f);
        const bool apart = (get_bit(delta_.data(), f) == up) != again;
        perturbed_[f] = apart ? w_[f] : again ? w_[f] + 2.0 * c : w_[f] - 2.0 * c;
      }
      top_n_.select(perturbed_.data(), n_features_, options_.n_select, up ? plus : minus);
    }
    return;
  }
  for (std::size_t w = 0; w < n_words_; ++w) {
    const double* position = &w_[64 * w];
    const Word raised = at_least_64(position, twice_raised_threshold_);
    const Word lowered = at_least_64(position, twice_lowered_threshold_);
    const Word still = at_least_64(position, 0.5);
    const Word up = second_[w], delta = delta_[w];
    const Word ends = (raised & up) | (lowered & ~up);
    plus[w] = (ends & ~(delta ^ up)) | (still & (delta ^ up));
    minus[w] = (ends & (delta ^ up)) | (still & ~(delta ^ up));
  }
}

void BinarySpsa::ask(Word* masks) {
  if (!asked_) draw_perturbation();
  asked_ = true;
  Word* iterate = masks;
  Word* plus = masks + n_words_;
  Word* minus = masks + 2 * n_words_;

  if (options_.n_select > 0) {
    largest_.select(w_.data(), n_features_, delta_.data(), options_.perturbation, options_.n_select,
                    masks);
    if (curvature_) perturbed_twice(masks + 3 * n_words_, masks + 4 * n_words_);
    return;
  }

  for (std::size_t w = 0; w < n_words_; ++w) {
    const double* position = &w_[64 * w];
    const Word raised = at_least_64(position, raised_threshold_);
    const Word lowered = at_least_64(position, lowered_threshold_);
    const Word delta = delta_[w];
    iterate[w] = at_least_64(position, 0.5);
    plus[w] = (raised & delta) | (lowered & ~delta);
    minus[w] = (lowered & delta) | (raised & ~delta);
  }
  if (curvature_) perturbed_twice(masks + 3 * n_words_, masks + 4 * n_words_);
  // The live features, and with them the tail.
  for (std::size_t m = 0; m < masks_per_ask(); ++m) {
    for (std::size_t w = 0; w < n_words_; ++w) masks[m * n_words_ + w] &= live_[w];
  }
}

// How far every component of w moves, up where Delta is 1.
double BinarySpsa::step_for(double difference) {
  const double c = options_.perturbation;
  const double k = age();
  if (!std::isnan(options_.gain)) {
    const double a_k = options_.gain / std::pow(options_.stability + k + 1.0, options_.decay);
    return a_k * difference / (2.0 * c);
  }
  const double weight = std::min(k + 1.0, static_cast<double>(options_.n_averaged));
  state_.mean_square += (difference * difference - state_.mean_square) / weight;
  if (!(state_.mean_square > 0.0)) return 0.0;  // nothing to scale by yet, and no step to take
  return options_.step_fraction * c * difference / std::sqrt(state_.mean_square);
}

void BinarySpsa::step_along_curvature(double difference, double second_difference) {
  const std::vector<double> before = curvature_->mean();
  const SpsaState state = state_;
  curvature_->update(-second_difference, delta_.data(), second_.data(), age());
  steps_.resize(n_features_);
  double along = 0.0, largest = 0.0;
  if (curvature_->direction(delta_.data(), steps_.data())) {
    if (std::isnan(options_.gain)) {
      double squares = 0.0;
      for (const double x : steps_) squares += x * x;
      along = step_for(difference) / std::sqrt(squares / static_cast<double>(n_features_));
    } else {
      // step_for is of Spall's gradient; his Hessian is the mean by 2 c^2.
      const double c = options_.perturbation;
      along = step_for(difference) * (2.0 * c * c);
    }
    for (const double x : steps_) largest = std::max(largest, std::abs(along * x));
  } else {
    std::fill(steps_.begin(), steps_.end(), 0.0);  // no unit to step by yet
  }
  if (!(largest <= largest_step)) {
    curvature_->set_mean(before.data());
    state_ = state;
    throw std::invalid_argument("the scores and the gain make a step of " +
                                std::to_string(largest));
  }
  for (std::size_t f = 0; f < n_features_; ++f) w_[f] += along * steps_[f];
}

void BinarySpsa::inject_noise() {
  const double j = age() + 3.0;  // 3 is the first whose log log is positive
  const double size = options_.noise * options_.perturbation / std::sqrt(j * std::log(std::log(j)));
  PhiloxStream words(seed_, Stream::search, 2 * static_cast<std::uint64_t>(state_.iteration) + 1);
  for (std::size_t f = 0; f < n_features_; ++f) w_[f] += size * words.normal();
}

void BinarySpsa::tell(double plus, double minus, double second_difference) {
  if (!asked_) throw std::logic_error("tell without an ask before it");
  if (!curvature_ && options_.noise == 0.0 && is_whole_) {
    step_along_perturbation(plus - minus, total_.data());
  } else {
    if (curvature_) {
      step_along_curvature(plus - minus, second_difference);
    } else {
      steps_.resize(w_.size());
      step_along_perturbation(plus - minus, steps_.data());  // nobody reads that sum
    }
    if (options_.noise > 0.0) inject_noise();
    for (std::size_t f = 0; f < n_features_ && !is_whole_; ++f) {
      if (!get_bit(live_.data(), f)) w_[f] = 0.0;
    }
    for (std::size_t f = 0; f < n_features_; ++f) total_[f] += w_[f];
  }
  state_.iteration += 1;
  asked_ = false;
}

void BinarySpsa::step_along_perturbation(double difference, double* total) {
  const double step = step_for(difference);
  if (!(std::abs(step) <= largest_step)) {
    throw std::invalid_argument("the scores and the gain make a step of " + std::to_string(step));
  }

  kernels().search->step(delta_.data(), n_words_, step, w_.data(), total);
}

bool BinarySpsa::is_decided() const {
  const double c = options_.perturbation;
  if (options_.n_select > 0) {
    if (options_.n_select == n_features_) return true;
    // Decided where no outsider raised can pass an insider lowered.
    std::vector<double> sorted(w_.begin(), w_.begin() + static_cast<std::ptrdiff_t>(n_features_));
    const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(options_.n_select);
    std::nth_element(sorted.begin(), nth, sorted.end(), std::greater<>());
    return *std::min_element(sorted.begin(), nth) - c > *nth + c;
  }
  for (std::size_t f = 0; f < n_features_; ++f) {
    if (!is_whole_ && !get_bit(live_.data(), f)) continue;
    if ((w_[f] + c >= 0.5) != (w_[f] - c >= 0.5)) return false;
  }
  return true;
}

}  // namespace bitsieve
