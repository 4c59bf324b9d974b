#include "bitsieve/fitness/centroid.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

namespace bitsieve {

struct CentroidFitness::Centroids : MaskFitness::Worker {
  GramMatrix matrix;
  std::vector<std::int32_t> features;
  std::vector<std::vector<std::size_t>> members;  // by class
  std::vector<double> norm, error, squares;       // of each class: |mean|^2, of it the error; mean |x|^2
  std::vector<double> lower, upper;               // of a sample's distance to each class
  std::uint64_t n_rechecked = 0;
};

namespace {

// Rounding of a sum of 2^11 doubles and of the few terms around it.
constexpr double double_share = 0x1p-38;

double mean_over(const std::vector<std::size_t>& members, auto&& value) {
  double sum = 0;
  for (const std::size_t j : members) sum += value(j);
  return sum / static_cast<double>(members.size());
}

}  // namespace

CentroidFitness::CentroidFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source)
    : MaskFitness(std::move(table), std::move(target), std::move(source)),
      planner_(this->table()) {
  if (!planner_.has_matrices()) throw std::invalid_argument("there are too many samples");
}

std::unique_ptr<MaskFitness::Worker> CentroidFitness::make_worker() const {
  return std::make_unique<Centroids>();
}

void CentroidFitness::prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs) {
  planner_.plan(batch, n_threads, costs);
}

MaskFitness::Counters CentroidFitness::count() const {
  std::uint64_t rechecked = 0;
  for (const auto& worker : workers()) {
    rechecked += static_cast<const Centroids&>(*worker).n_rechecked;
  }
  return {{"float_features", planner_.float_features()},
          {"fixed_features", planner_.fixed_features()},
          {"rechecked", rechecked}};
}

void CentroidFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                              int n_threads, Worker& worker, const Answer& answer) {
  Centroids& own = static_cast<Centroids&>(worker);
  const GramMatrix& matrix = planner_.make(masks, index, n_threads, own.matrix);
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes, ld = table().view().ld;
  list_bits(masks + index * n_words(), n_words(), own.features);
  own.members.resize(n_classes);
  for (auto* list : {&own.norm, &own.error, &own.squares, &own.lower, &own.upper}) {
    list->resize(n_classes);
  }
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (auto& members : own.members) members.clear();
    for (std::size_t i = 0; i < table().view().n_samples; ++i) {
      if (get_bit(splits.training.data() + i * splits.n_words, s)) {
        own.members[static_cast<std::size_t>(target().codes[i])].push_back(i);
      }
    }
    for (std::size_t c = 0; c < n_classes; ++c) {
      const auto& members = own.members[c];
      own.squares[c] = mean_over(members, [&](std::size_t j) { return matrix.squares[j]; });
      own.error[c] = mean_over(members, [&](std::size_t j) { return matrix.bounds[j]; });
      own.norm[c] = mean_over(members, [&](std::size_t j) {
        const float* row = matrix.gram.data() + j * ld;
        return mean_over(members, [&](std::size_t k) { return static_cast<double>(row[k]); });
      });
    }
    for (std::int64_t k = splits.test_begin[s]; k < splits.test_begin[s + 1]; ++k) {
      const std::size_t t = static_cast<std::size_t>(k);
      const std::size_t i = static_cast<std::size_t>(splits.test_samples[t]);
      answer.classes[t] = static_cast<std::int32_t>(nearest(i, matrix, own));
    }
  }
}

// The distance is mean_j d_ij - mean_jk d_jk / 2 in squared distances of samples, and one of those is
// wrong by 2 (r_i^2 + r_j^2) at most: by 2 r_i^2 + 4 mean_j r_j^2 in all.
std::size_t CentroidFitness::nearest(std::size_t i, const GramMatrix& matrix,
                                     Centroids& own) const {
  constexpr double far = std::numeric_limits<double>::infinity();
  const float* row = matrix.gram.data() + i * table().view().ld;
  double least = far;
  for (std::size_t c = 0; c < own.members.size(); ++c) {
    own.lower[c] = far;
    if (own.members[c].empty()) continue;
    const double product = mean_over(
        own.members[c], [&](std::size_t j) { return static_cast<double>(row[j]); });
    const double distance = matrix.squares[i] - 2 * product + own.norm[c];
    const double error = 2 * matrix.bounds[i] + 4 * own.error[c] +
                         double_share * (matrix.squares[i] + own.squares[c]);
    own.lower[c] = distance - error;
    least = std::min(least, distance + error);
  }
  std::size_t best = 0, n_open = 0;
  for (std::size_t c = 0; c < own.members.size(); ++c) {
    if (own.lower[c] > least) continue;
    best = c;
    ++n_open;
  }
  if (n_open == 1) return best;
  double nearest = far;
  for (std::size_t c = 0; c < own.members.size(); ++c) {
    if (own.lower[c] > least) continue;
    const double exact = distance(i, own.members[c], own.features);
    if (exact < nearest) {
      nearest = exact;
      best = c;
    }
  }
  ++own.n_rechecked;
  return best;
}

double CentroidFitness::distance(std::size_t i, const std::vector<std::size_t>& members,
                                 const std::vector<std::int32_t>& features) const {
  const double* values = table().doubles(1);
  double sum = 0;
  for (const std::int32_t f : features) {
    const double* row = values + static_cast<std::size_t>(f) * table().view().ld;
    const double apart = row[i] - mean_over(members, [&](std::size_t j) { return row[j]; });
    sum += apart * apart;
  }
  return sum;
}

}  // namespace bitsieve
