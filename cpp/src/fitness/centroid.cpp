#include "bitsieve/fitness/centroid.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "additive_worker.hpp"
#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();
constexpr double double_share = 0x1p-38;  // rounding of a sum of 2^11 doubles and what is around it

// Time of a step, in that of adding a tabled float32 number: a term made and tabled, a product of a Gram
// matrix, a float64 value that is compared again.
constexpr double term_time = 110, product_time = 3.6, value_time = 100;

constexpr double most_left_out = 4;  // samples of a class for each one that trains, where sums are taken from whole ones

// Not a number for a class that has no members.
double mean_over(const std::vector<std::size_t>& members, auto&& value) {
  double sum = 0;
  for (const std::size_t j : members) sum += value(j);
  return sum / static_cast<double>(members.size());
}

}  // namespace

struct CentroidFitness::Centroids : Adder {
  GramMatrix matrix;
  std::vector<std::vector<std::size_t>> members;  // of the training part, by class
  std::vector<double> whole;                      // [n_classes][ld] sums of a row over a class, all samples
  std::vector<double> whole_norm, whole_square;   // by class: sums over its pairs, and of its squares
  std::vector<double> products;                   // [n_tests of a split][n_classes] with the means
  std::vector<double> norm, error, share;         // by class: |mean|^2 and what is known of the error
  std::vector<double> lower;                      // bounds of a sample's distances

  // What is left open: samples of splits, and where their classes are told.
  struct Open {
    std::size_t split, begin, end;
  };
  std::vector<Open> open;
  std::vector<std::int32_t> open_samples;
  std::vector<std::size_t> open_places;
};

CentroidFitness::CentroidFitness(std::shared_ptr<const Table> table, Target target,
                                 SplitSource source)
    : DiagonalFitness(std::move(table), std::move(target), std::move(source),
                      {.priors = DiagonalSettings::Priors::uniform, .given = {}, .plain = true}, {}),
      planner_(this->table()) {
  if (!planner_.has_matrices()) throw std::invalid_argument("there are too many samples");
}

std::unique_ptr<MaskFitness::Worker> CentroidFitness::make_worker() const {
  return std::make_unique<Centroids>();
}

void CentroidFitness::forget_states() {
  DiagonalFitness::forget_states();
  planner_.forget();
}

MaskFitness::Counters CentroidFitness::count() const {
  Counters out = DiagonalFitness::count();
  out.emplace_back("float_features", planner_.float_features());
  out.emplace_back("fixed_features", planner_.fixed_features());
  return out;
}

// ---- which way ------------------------------------------------------------------------------

void CentroidFitness::prepare(const MaskBatch& batch, int n_threads,
                              std::vector<std::size_t>& costs) {
  DiagonalFitness::prepare(batch, n_threads, costs);
  if (!is_tabled()) planner_.plan(batch, n_threads, costs);
}

bool CentroidFitness::prefers_tables(const MaskBatch& batch, const TargetSplits& at,
                                     std::size_t n_features) const {
  const auto n = static_cast<double>(table().view().n_samples);
  const auto n_masks = static_cast<double>(batch.n_masks);
  const auto n_terms = static_cast<double>(n_features) *
                       static_cast<double>(at.splits.test_samples.size() * target().n_classes);
  double size = 0;
  for (std::size_t m = 0; m < batch.n_masks; ++m) {
    size += static_cast<double>(count_bits(batch.masks + m * n_words(), n_words()));
  }
  const auto n_added = static_cast<double>(planner_.expected(batch.masks, batch.n_masks));
  return n_terms * (term_time + n_masks) <
         n_added * n * n / 2 * product_time + size * n * value_time;
}

// ---- Gram matrices --------------------------------------------------------------------------

void CentroidFitness::add_classes(const GramMatrix& matrix, Centroids& own) const {
  const std::size_t n = table().view().n_samples, ld = table().view().ld;
  own.whole.assign(target().n_classes * ld, 0.0);
  own.whole_norm.assign(target().n_classes, 0.0);
  own.whole_square.assign(target().n_classes, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const auto c = static_cast<std::size_t>(target().codes[j]);
    const float* row = matrix.gram.data() + j * ld;
    double* sums = own.whole.data() + c * ld;
    for (std::size_t i = 0; i < n; ++i) sums[i] += static_cast<double>(row[i]);
    own.whole_square[c] += matrix.squares[j];
  }
  for (std::size_t j = 0; j < n; ++j) {
    const auto c = static_cast<std::size_t>(target().codes[j]);
    own.whole_norm[c] += own.whole[c * ld + j];
  }
}

// Sums over the training part of a class are those over the whole class less those over the test
// part, where a sample trains wherever it does not test, and the class is not mostly tested.
void CentroidFitness::measure(const GramMatrix& matrix, const TargetSplits& at, std::size_t s,
                              Centroids& own) const {
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes, ld = table().view().ld;
  const std::int32_t* tests = splits.test_samples.data() + splits.test_begin[s];
  const auto n_tests = static_cast<std::size_t>(splits.test_begin[s + 1] - splits.test_begin[s]);
  const std::int32_t* codes = target().codes.data();
  own.products.assign(n_tests * n_classes, 0.0);
  bool from_whole = splits.complementary;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const double trained = at.target.train_of_class[s * n_classes + c];
    const double tested = at.target.test_of_class[s * n_classes + c];
    own.share[c] = (trained + tested) / trained;
    from_whole = from_whole && (trained == 0 || own.share[c] <= most_left_out);
  }
  if (from_whole) {
    std::copy(own.whole_norm.begin(), own.whole_norm.end(), own.norm.begin());
    for (std::size_t t = 0; t < n_tests; ++t) {
      const auto i = static_cast<std::size_t>(tests[t]);
      const float* row = matrix.gram.data() + i * ld;
      double* sums = own.products.data() + t * n_classes;
      for (std::size_t k = 0; k < n_tests; ++k) {
        sums[codes[tests[k]]] += static_cast<double>(row[tests[k]]);
      }
      const auto c = static_cast<std::size_t>(codes[i]);
      own.norm[c] -= 2 * own.whole[c * ld + i] - sums[c];
      for (std::size_t d = 0; d < n_classes; ++d) sums[d] = own.whole[d * ld + i] - sums[d];
    }
  } else {
    std::fill(own.share.begin(), own.share.end(), 1.0);
    for (std::size_t c = 0; c < n_classes; ++c) {
      const auto& members = own.members[c];
      own.norm[c] = 0;
      for (const std::size_t j : members) {
        const float* row = matrix.gram.data() + j * ld;
        for (const std::size_t k : members) own.norm[c] += static_cast<double>(row[k]);
      }
      for (std::size_t t = 0; t < n_tests; ++t) {
        const float* row = matrix.gram.data() + static_cast<std::size_t>(tests[t]) * ld;
        double& sum = own.products[t * n_classes + c];
        for (const std::size_t j : members) sum += static_cast<double>(row[j]);
      }
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    const auto n = static_cast<double>(own.members[c].size());
    own.norm[c] /= n * n;
    for (std::size_t t = 0; t < n_tests; ++t) own.products[t * n_classes + c] /= n;
    own.share[c] *= own.share[c] * double_share;
    const double squares =
        from_whole ? own.whole_square[c] / n
                   : mean_over(own.members[c], [&](std::size_t j) { return matrix.squares[j]; });
    own.error[c] = own.share[c] * squares + 4 * mean_over(own.members[c], [&](std::size_t j) {
      return matrix.bounds[j];
    });
  }
}

void CentroidFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                              int n_threads, Worker& worker, const Answer& answer) {
  if (is_tabled()) return DiagonalFitness::predict(masks, index, at, n_threads, worker, answer);
  Centroids& own = static_cast<Centroids&>(worker);
  const GramMatrix& matrix = planner_.make(masks, index, n_threads, own.matrix);
  const Splits& splits = at.splits;
  const std::size_t n_classes = target().n_classes;
  own.members.resize(n_classes);
  for (auto* list : {&own.norm, &own.error, &own.share, &own.lower}) list->resize(n_classes);
  own.open.clear();
  own.open_samples.clear();
  own.open_places.clear();
  if (splits.complementary) add_classes(matrix, own);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (auto& members : own.members) members.clear();
    for (std::size_t i = 0; i < table().view().n_samples; ++i) {
      if (get_bit(splits.training.data() + i * splits.n_words, s)) {
        own.members[static_cast<std::size_t>(target().codes[i])].push_back(i);
      }
    }
    measure(matrix, at, s, own);
    const std::size_t n_open = own.open_samples.size();
    for (std::int64_t k = splits.test_begin[s]; k < splits.test_begin[s + 1]; ++k) {
      const std::size_t t = static_cast<std::size_t>(k);
      const std::int32_t i = splits.test_samples[t];
      const double* means =
          own.products.data() + static_cast<std::size_t>(k - splits.test_begin[s]) * n_classes;
      answer.classes[t] = nearest(static_cast<std::size_t>(i), means, matrix, own);
      if (answer.classes[t] != no_class) continue;
      own.open_samples.push_back(i);
      own.open_places.push_back(t);
    }
    if (own.open_samples.size() > n_open) own.open.push_back({s, n_open, own.open_samples.size()});
  }
  if (own.open.empty()) return;
  own.n_rechecked += own.open_samples.size();
  list_bits(masks + index * n_words(), n_words(), own.features);
  decide(at, own, answer.classes);
}

// |x_i|^2 - 2 mean_j G_ij + mean_jk G_jk for each class. In distances d of samples that is mean_j
// d_ij - mean_jk d_jk / 2, and each of those is wrong by 2 (r_i^2 + r_j^2) at most: in all by
// 2 r_i^2 + 4 mean_j r_j^2. Beside that stands the rounding of sums, which may be over the whole
// class.
std::int32_t CentroidFitness::nearest(std::size_t i, const double* means, const GramMatrix& matrix,
                                      Centroids& own) const {
  const std::size_t n_classes = own.members.size();
  double least_upper = far;
  for (std::size_t c = 0; c < n_classes; ++c) {
    own.lower[c] = far;
    if (own.members[c].empty()) continue;
    const double distance = matrix.squares[i] + own.norm[c] - 2 * means[c];
    const double error = 2 * matrix.bounds[i] + own.share[c] * matrix.squares[i] + own.error[c];
    own.lower[c] = distance - error;
    least_upper = std::min(least_upper, distance + error);
  }
  std::int32_t best = no_class;
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (own.lower[c] > least_upper) continue;
    if (best != no_class) return no_class;
    best = static_cast<std::int32_t>(c);
  }
  return best;
}

// The sums that AdditiveFitness::add_sums() makes of all places, of these alone.
void CentroidFitness::decide(const TargetSplits& at, Centroids& own, std::int32_t* classes) const {
  const State& state = state_of(at, own);
  const std::size_t n_classes = target().n_classes;
  own.sums.assign(own.open_samples.size() * n_classes, 0.0);
  for_each_block(state, own.features.data(), own.features.size(), own.block,
                 [&](const FeatureBlock& block) {
    for (const auto& open : own.open) {
      const std::size_t n = open.end - open.begin;
      own.terms.resize(n * n_classes * lanes);
      terms_of(state, block, nullptr, false, open.split, own.open_samples.data() + open.begin, n,
               own.terms.data(), own.scratch_numbers);
      kernels().additive->add_lanes(own.terms.data(), n * n_classes, block.n,
                                    own.sums.data() + open.begin * n_classes);
    }
  });
  for (const auto& open : own.open) {
    const std::int32_t* sizes = at.target.train_of_class.data() + open.split * n_classes;
    const std::size_t n = open.end - open.begin;
    const double* sums = own.sums.data() + open.begin * n_classes;
    for (std::size_t k = 0; k < n; ++k) {
      double least = far;
      for (std::size_t c = 0; c < n_classes; ++c) {
        if (sizes[c] == 0 || !(sums[c * n + k] < least)) continue;
        least = sums[c * n + k];
        classes[own.open_places[open.begin + k]] = static_cast<std::int32_t>(c);
      }
    }
  }
}

}  // namespace bitsieve
