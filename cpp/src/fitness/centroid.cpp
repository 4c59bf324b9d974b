#include "bitsieve/fitness/centroid.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace bitsieve {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();
constexpr double double_share = 0x1p-38;  // rounding of a sum of 2^11 doubles and what is around it

// Not a number for a class that has no members.
double mean_over(const std::vector<std::size_t>& members, auto&& value) {
  double sum = 0;
  for (const std::size_t j : members) sum += value(j);
  return sum / static_cast<double>(members.size());
}

}  // namespace

struct CentroidFitness::Centroids : MaskFitness::Worker {
  GramMatrix matrix;
  std::vector<std::int32_t> features;
  std::vector<std::vector<std::size_t>> members;  // by class
  std::vector<double> norm, error;                // |mean|^2 by class, and 4 mean r_j^2
  std::vector<double> lower;                      // bounds of a sample's distances
};

CentroidFitness::CentroidFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source)
    : GramFitness(std::move(table), std::move(target), std::move(source)) {
  require_classes();
  if (!planner_.has_matrices()) throw std::invalid_argument("there are too many samples");
}

std::unique_ptr<MaskFitness::Worker> CentroidFitness::make_worker() const {
  return std::make_unique<Centroids>();
}

void CentroidFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                              int n_threads, Worker& worker, const Answer& answer) {
  Centroids& own = static_cast<Centroids&>(worker);
  const GramMatrix& matrix = planner_.make(masks, index, n_threads, own.matrix);
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes, ld = table().view().ld;
  list_bits(masks + index * n_words(), n_words(), own.features);
  own.members.resize(n_classes);
  for (auto* list : {&own.norm, &own.error, &own.lower}) list->resize(n_classes);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (auto& members : own.members) members.clear();
    for (std::size_t i = 0; i < table().view().n_samples; ++i) {
      if (get_bit(splits.training.data() + i * splits.n_words, s)) {
        own.members[static_cast<std::size_t>(target().codes[i])].push_back(i);
      }
    }
    for (std::size_t c = 0; c < n_classes; ++c) {
      const auto& members = own.members[c];
      own.norm[c] = mean_over(members, [&](std::size_t j) {
        const float* row = matrix.gram.data() + j * ld;
        return mean_over(members, [&](std::size_t k) { return static_cast<double>(row[k]); });
      });
      own.error[c] = mean_over(members, [&](std::size_t j) {
        return 4 * matrix.bounds[j] + double_share * matrix.squares[j];
      });
    }
    for (std::int64_t k = splits.test_begin[s]; k < splits.test_begin[s + 1]; ++k) {
      const std::size_t t = static_cast<std::size_t>(k);
      const std::size_t i = static_cast<std::size_t>(splits.test_samples[t]);
      answer.classes[t] = static_cast<std::int32_t>(nearest(i, matrix, own));
    }
  }
}

// |x_i|^2 - 2 mean_j G_ij + mean_jk G_jk for each class. In distances d of samples that is mean_j
// d_ij - mean_jk d_jk / 2, and each of those is wrong by 2 (r_i^2 + r_j^2) at most: in all by
// 2 r_i^2 + 4 mean_j r_j^2. Classes that this leaves open are measured in float64.
std::size_t CentroidFitness::nearest(std::size_t i, const GramMatrix& matrix,
                                     Centroids& own) const {
  const std::size_t ld = table().view().ld, n_classes = own.members.size();
  const float* row = matrix.gram.data() + i * ld;
  double least_upper = far;
  for (std::size_t c = 0; c < n_classes; ++c) {
    own.lower[c] = far;
    if (own.members[c].empty()) continue;
    const double distance = matrix.squares[i] + own.norm[c] - 2 * mean_over(own.members[c],
        [&](std::size_t j) { return static_cast<double>(row[j]); });
    const double error = 2 * matrix.bounds[i] + double_share * matrix.squares[i] + own.error[c];
    own.lower[c] = distance - error;
    least_upper = std::min(least_upper, distance + error);
  }
  std::size_t best = 0, n_open = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (own.lower[c] > least_upper) continue;
    best = c;
    ++n_open;
  }
  if (n_open == 1) return best;
  ++own.n_rechecked;
  double nearest = far;
  const double* values = table().doubles(1);
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (own.lower[c] > least_upper) continue;
    double distance = 0;
    for (const std::int32_t f : own.features) {
      const double* x = values + static_cast<std::size_t>(f) * ld;
      const double apart = x[i] - mean_over(own.members[c], [&](std::size_t j) { return x[j]; });
      distance += apart * apart;
    }
    if (distance < nearest) best = c;
    nearest = std::min(nearest, distance);
  }
  return best;
}

}  // namespace bitsieve
