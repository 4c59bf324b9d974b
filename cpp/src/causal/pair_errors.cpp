#include "bitsieve/causal/pair_errors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/isa/pair_kernels.hpp"

namespace bitsieve {
namespace {

// Values are at most 1 in size: no square of a distance over it overflows.
constexpr double least_smoothing_seen = 1e-290;
constexpr double rounding_share = 0x1p-48;  // of two margins, of the numbers they are made of
constexpr double bound_slack = 1 + 0x1p-20;
constexpr std::size_t pairs_chunk = 64;

}  // namespace

PairErrors::PairErrors(std::size_t p, PairTarget target, double var_smoothing)
    : p_(p),
      target_(std::move(target)),
      var_smoothing_(var_smoothing),
      parts_(p * target_.n_folds * target_.n_classes),
      smoothing_(p * target_.n_folds),
      changes_(p) {}

void PairErrors::finish_part(std::size_t f, std::size_t s, double whole_variance) {
  double& smoothing = smoothing_[f * target_.n_folds + s];
  smoothing = 0;
  if (whole_variance == 0) return;
  smoothing = std::max(var_smoothing_ * whole_variance, least_smoothing_seen);
  Part* own = parts(f, s);
  for (std::size_t c = 0; c < target_.n_classes; ++c) {
    const double spread = own[c].variance + smoothing;
    own[c].half = 0.5 / spread;
    own[c].log = 0.5 * std::log(spread);
  }
}

void PairErrors::finish_feature(std::size_t f, double least, double most) {
  Change& change = changes_[f];
  double size = 0;
  bool is_first = true;
  for (std::size_t s = 0; s < target_.n_folds; ++s) {
    for (std::size_t c = 0; c < target_.n_classes; ++c) {
      const double prior = target_.log_prior[s * target_.n_classes + c];
      if (std::isfinite(prior)) size = std::max(size, 1 - prior);
    }
    if (is_flat(f, s)) continue;
    const double smoothing = smoothing_[f * target_.n_folds + s];
    if (is_first || smoothing < change.least_smoothing) change.least_smoothing = smoothing;
    change.most_smoothing = std::max(change.most_smoothing, smoothing);
    is_first = false;
    double steepest = 0, farthest = 0;
    const Part* own = parts(f, s);
    for (std::size_t c = 0; c < target_.n_classes; ++c) {
      if (!std::isfinite(target_.log_prior[s * target_.n_classes + c])) continue;
      const double away = std::max(std::abs(least - own[c].mean), std::abs(most - own[c].mean));
      const double square = away * away * own[c].half;
      steepest = std::max(steepest, own[c].half);
      farthest = std::max(farthest, square * own[c].half);
      size = std::max(size, 2 * (square + std::abs(own[c].log)) + 2);
    }
    change.slope = std::max(change.slope, steepest + 2 * farthest);
  }
  change.slope *= bound_slack;
  change.rounding = 4 * rounding_share * size;
}

double PairErrors::bound(std::size_t a, std::size_t b) const {
  const Change &first = changes_[a], &second = changes_[b];
  return first.slope * std::max(second.most_smoothing - first.least_smoothing, 0.0) +
         second.slope * std::max(first.most_smoothing - second.least_smoothing, 0.0) +
         (first.rounding + second.rounding);
}

const PairErrors::Part* PairErrors::parts_with(std::size_t f, std::size_t s, std::size_t partner,
                                               std::vector<Part>& room) const {
  if (f == no_feature) return nullptr;
  const Part* own = parts(f, s);
  if (partner == no_feature) return own;
  const double smoothing = smoothing_[partner * target_.n_folds + s];
  if (smoothing <= smoothing_[f * target_.n_folds + s]) return own;
  room.assign(own, own + target_.n_classes);
  for (Part& part : room) {
    const double spread = part.variance + smoothing;
    part.half = 0.5 / spread;
    part.log = 0.5 * std::log(spread);
  }
  return room.data();
}

PairLine PairErrors::line(const Part* parts, bool is_flat, std::size_t s, std::size_t y,
                          std::size_t r) const {
  const std::size_t c = r < y ? r : r + 1;
  const double own_prior = target_.log_prior[s * target_.n_classes + y];
  const double other_prior = target_.log_prior[s * target_.n_classes + c];
  PairLine out{};
  if (!std::isfinite(own_prior) || !std::isfinite(other_prior)) {
    out.constant = std::isfinite(own_prior) ? 1 : -1;
    return out;
  }
  const double tie = c < y ? tie_share : -tie_share;
  const double priors = 0.5 * (own_prior - other_prior);
  if (is_flat) {
    out.constant = priors - tie;
    return out;
  }
  const Part &own = parts[y], &other = parts[c];
  out.mean_other = other.mean;
  out.factor_other = other.half * (1 - tie);
  out.mean_own = own.mean;
  out.factor_own = own.half * (1 + tie);
  out.constant = (other.log - own.log) -
                 tie * (std::abs(other.log) + std::abs(own.log) + 1) + priors;
  return out;
}

double PairErrors::rate(const std::int64_t* wrong, std::size_t stride) const {
  double total = 0;
  for (std::size_t y = 0; y < target_.n_classes; ++y) {
    total += static_cast<double>(wrong[y * stride]) / static_cast<double>(target_.sizes[y]);
  }
  return total / static_cast<double>(target_.n_classes);
}

PairErrors::Scratch PairErrors::make_scratch() const {
  Scratch scratch;
  scratch.tile.wrong.resize(target_.n_classes * tile_side * tile_side);
  scratch.tile.nearest.resize(tile_side * tile_side);
  scratch.wrong.resize(target_.n_classes);
  return scratch;
}

// store(i, j, rate) of each pair of a tile.
template <typename Store>
void PairErrors::fill(const std::int64_t* a, std::size_t n_a, std::size_t b, std::size_t n_b,
                      Scratch& scratch, Store&& store) const {
  Tile& tile = scratch.tile;
  std::fill(tile.wrong.begin(), tile.wrong.end(), 0);
  std::fill(tile.nearest.begin(), tile.nearest.end(), 1e300);
  count_tile(a, n_a, b, n_b, scratch);
  for (std::size_t i = 0; i < n_a; ++i) {
    for (std::size_t j = 0; j < n_b; ++j) {
      const auto first = static_cast<std::size_t>(a[i]);
      const std::size_t second = b + j, at = i * tile_side + j;
      if (first == second) {
        count_pair(first, no_feature, scratch.wrong.data(), scratch);
      } else if (!(tile.nearest[at] > bound(first, second))) {
        count_pair(first, second, scratch.wrong.data(), scratch);
      } else {
        store(i, j, rate(tile.wrong.data() + at, tile_side * tile_side));
        continue;
      }
      store(i, j, rate(scratch.wrong.data(), 1));
    }
  }
}

void PairErrors::singles(double* out, int n_threads) const {
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::min(n_threads, max_threads)));
  for (Scratch& one : scratch) one = make_scratch();
  const std::size_t n_chunks = (p_ + pairs_chunk - 1) / pairs_chunk;
  parallel_for_worker(n_chunks, n_threads, [&](std::size_t chunk, int worker) {
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    const std::size_t end = std::min((chunk + 1) * pairs_chunk, p_);
    for (std::size_t f = chunk * pairs_chunk; f < end; ++f) {
      count_pair(f, no_feature, own.wrong.data(), own);
      out[f] = rate(own.wrong.data(), 1);
    }
  });
}

void PairErrors::pairs(const std::int64_t* a, const std::int64_t* b, std::size_t n, double* out,
                       int n_threads) const {
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::min(n_threads, max_threads)));
  for (Scratch& one : scratch) one = make_scratch();
  const std::size_t n_chunks = (n + pairs_chunk - 1) / pairs_chunk;
  parallel_for_worker(n_chunks, n_threads, [&](std::size_t chunk, int worker) {
    Scratch& own = scratch[static_cast<std::size_t>(worker)];
    const std::size_t end = std::min((chunk + 1) * pairs_chunk, n);
    for (std::size_t k = chunk * pairs_chunk; k < end; ++k) {
      const auto second = a[k] == b[k] ? no_feature : static_cast<std::size_t>(b[k]);
      count_pair(static_cast<std::size_t>(a[k]), second, own.wrong.data(), own);
      out[k] = rate(own.wrong.data(), 1);
    }
  });
}

void PairErrors::rows(const std::int64_t* features, std::size_t n, std::size_t first,
                      std::size_t last, double* out, int n_threads) const {
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::min(n_threads, max_threads)));
  for (Scratch& one : scratch) one = make_scratch();
  const std::size_t width = last - first;
  const std::size_t down = (n + tile_side - 1) / tile_side;
  const std::size_t across = (width + tile_side - 1) / tile_side;
  parallel_for_worker(down * across, n_threads, [&](std::size_t task, int worker) {
    const std::size_t i = task % down * tile_side, j = task / down * tile_side;
    fill(features + i, std::min(tile_side, n - i), first + j, std::min(tile_side, width - j),
         scratch[static_cast<std::size_t>(worker)],
         [&](std::size_t k, std::size_t l, double rate) {
           out[(i + k) * width + j + l] = rate;
         });
  });
}

void PairErrors::matrix(double* out, int n_threads) const {
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::min(n_threads, max_threads)));
  for (Scratch& one : scratch) one = make_scratch();
  std::vector<std::int64_t> all(p_);
  for (std::size_t f = 0; f < p_; ++f) all[f] = static_cast<std::int64_t>(f);
  std::vector<std::pair<std::size_t, std::size_t>> tiles;
  for (std::size_t i = 0; i < p_; i += tile_side) {
    for (std::size_t j = i; j < p_; j += tile_side) tiles.emplace_back(i, j);
  }
  parallel_for_worker(tiles.size(), n_threads, [&](std::size_t task, int worker) {
    const auto [i, j] = tiles[task];
    const std::size_t a = i, b = j;
    fill(all.data() + a, std::min(tile_side, p_ - a), b, std::min(tile_side, p_ - b),
         scratch[static_cast<std::size_t>(worker)],
         [&](std::size_t k, std::size_t l, double rate) {
           out[(a + k) * p_ + b + l] = rate;
           out[(b + l) * p_ + a + k] = rate;
         });
  });
}

}  // namespace bitsieve
