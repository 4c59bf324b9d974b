#include "bitsieve/fitness/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr float threshold = 1.0e38f;
constexpr std::size_t most_gathered = std::size_t{1} << 23;  // numbers: 64 MB
constexpr std::size_t large_cluster = 16;  // from here on one sweep beats argmin after argmin

}  // namespace

NeighborOrder::NeighborOrder(std::size_t n, std::size_t ld, const std::int32_t* codes,
                             const ExactDistance& recheck)
    : n_(n), ld_(ld), codes_(codes), recheck_(recheck), gathered_(n, 0), adjusted_(ld, gone),
      roots_(ld, 0.0f), lower_(ld), block_least_((ld + least_block - 1) / least_block) {}

void NeighborOrder::begin_matrix(const double* squares, const double* bounds) {
  exact_ = true;
  for (std::size_t j = 0; j < n_; ++j) {
    adjusted_[j] = static_cast<float>(squares[j] - bounds[j]);
    roots_[j] = static_cast<float>(std::sqrt(bounds[j]) * (1 + 1e-6));
    exact_ = exact_ && bounds[j] == 0;
  }
}

void NeighborOrder::begin_row(std::size_t i, const float* gram_row) {
  row_ = i;
  const float own = adjusted_[i];
  adjusted_[i] = gone;  // never a neighbor of itself
  kernels().lower_bounds(gram_row, adjusted_.data(), roots_.data(), 2 * roots_[i], ld_,
                         lower_.data(), block_least_.data());
  adjusted_[i] = own;
  cluster_.clear();
  position_ = 0;
  peek();
}

void NeighborOrder::peek() {
  std::size_t block = 0;
  for (std::size_t b = 1; b < block_least_.size(); ++b) {
    if (block_least_[b] < block_least_[block]) block = b;
  }
  next_lower_ = block_least_[block];
  const std::size_t begin = block * least_block;
  const std::size_t count = std::min(least_block, ld_ - begin);
  next_sample_ = begin + kernels().index_of(lower_.data() + begin, count, next_lower_);
}

void NeighborOrder::remove(std::size_t j) {
  lower_[j] = gone;
  const std::size_t begin = j / least_block * least_block;
  block_least_[j / least_block] =
      kernels().least(lower_.data() + begin, std::min(least_block, ld_ - begin));
}

double NeighborOrder::width(std::size_t j) const {
  const double reach = static_cast<double>(roots_[row_]) + static_cast<double>(roots_[j]);
  return 2 * reach * reach;
}

bool NeighborOrder::gather() {
  cluster_.clear();
  position_ = 0;
  if (next_lower_ >= threshold) return false;
  double upper = -std::numeric_limits<double>::infinity();
  do {
    upper = std::max(upper, static_cast<double>(next_lower_) + width(next_sample_));
    cluster_.push_back({next_sample_, -1});
    remove(next_sample_);
    if (cluster_.size() == large_cluster) sweep(upper);
    peek();
  } while (!exact_ && next_lower_ < threshold && next_lower_ <= upper);
  return true;
}

void NeighborOrder::sweep(double& upper) {
  bool grown = true;
  while (grown) {
    grown = false;
    for (std::size_t j = 0; j < n_; ++j) {
      if (lower_[j] <= upper) {
        upper = std::max(upper, static_cast<double>(lower_[j]) + width(j));
        cluster_.push_back({j, -1});
        remove(j);
        grown = true;
      }
    }
  }
}

// Rows are gathered once a mask, where there is room for all of them.
double NeighborOrder::measure(std::size_t j, const std::vector<std::int32_t>& features) {
  const std::size_t m = features.size();
  if (n_ * m > most_gathered) {
    return factors_ == nullptr ? recheck_.distance(row_, j, features)
                               : recheck_.distance(row_, j, features, factors_);
  }
  if (rows_.size() < n_ * m) rows_.resize(n_ * m);
  const double* a = gathered(row_, features);
  return kernels().neighbor->squared_distance(a, gathered(j, features), factors_, m);
}

const double* NeighborOrder::gathered(std::size_t i, const std::vector<std::int32_t>& features) {
  double* row = rows_.data() + i * features.size();
  if (gathered_[i] == 0) {
    recheck_.gather(i, features, row);
    gathered_[i] = 1;
  }
  return row;
}

bool NeighborOrder::mixed() const {
  if (codes_ == nullptr) return true;
  const std::int32_t first = codes_[cluster_[0].sample];
  return std::any_of(cluster_.begin(), cluster_.end(),
                     [&](const Candidate& c) { return codes_[c.sample] != first; });
}

void NeighborOrder::arrange(const std::vector<std::int32_t>& features) {
  for (Candidate& c : cluster_) c.distance = measure(c.sample, features);
  std::sort(cluster_.begin(), cluster_.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.sample < b.sample;
  });
  n_rechecked_ += cluster_.size();
}

}  // namespace bitsieve
