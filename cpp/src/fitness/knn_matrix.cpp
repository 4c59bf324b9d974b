// The Gram matrix of a mask in float32, what is known of its error, and the walk over its rows.
#include <algorithm>

#include "knn_worker.hpp"

namespace bitsieve {

bool KnnFitness::exact_sums(const std::vector<std::int32_t>& features,
                            const std::vector<std::int32_t>& others) const {
  if (settings_.grid == 0) return false;
  double sum = 0;
  for (const auto* list : {&features, &others}) {
    for (const std::int32_t f : *list) {
      const double most = table_.max_abs[static_cast<std::size_t>(f)];
      sum += most * most;
    }
  }
  return sum < 0x1p22 * settings_.grid * settings_.grid;
}

void KnnFitness::build(const Word* mask, const GramState* origin, int n_threads,
                       Matrix& matrix) const {
  const std::size_t ld = table_.ld;
  if (origin == nullptr) {
    list_bits(mask, n_words_, matrix.added);
    matrix.removed.clear();
  } else {
    list_difference(origin->mask().data(), mask, n_words_, matrix.added, matrix.removed);
  }
  matrix.gram.resize(ld * ld);
  matrix.partial.resize(ld * ld);
  matrix.moved.resize(ld);
  float_gram(table_, matrix.added, matrix.removed, n_threads, matrix.gram.data(),
             matrix.partial.data(), matrix.moved.data());
  matrix.changed = matrix.added.size() + matrix.removed.size();
  matrix.pair = nullptr;
  matrix.floor = static_cast<double>(matrix.changed + 1) * underflow;
  matrix.exact = false;
  if (origin != nullptr) {
    origin->add_to(matrix.gram.data());
    matrix.floor += 2 * static_cast<double>(origin->n_selected()) * origin->unit();
  }
  if (settings_.grid > 0) {
    std::vector<std::int32_t> features;
    list_bits(mask, n_words_, features);
    matrix.exact = exact_sums(features, matrix.removed) &&
                   (origin == nullptr || origin->unit() <= settings_.grid * settings_.grid);
  }
}

// The second of a pair from the first.
void KnnFitness::derive(const Matrix& first, Matrix& second) const {
  second.gram.resize(table_.ld * table_.ld);
  second.moved = first.moved;
  second.changed = first.changed;
  second.pair = pair_.get();
  second.floor = first.floor + 2 * static_cast<double>(pair_->n_selected()) * pair_->unit();
  second.exact = false;
  if (first.exact) {
    list_bits(pair_->either().data(), n_words_, second.added);
    list_bits(pair_->both().data(), n_words_, second.removed);
    second.exact = exact_sums(second.added, second.removed) &&
                   pair_->unit() <= settings_.grid * settings_.grid;
  }
  pair_->subtract(first.gram.data(), second.gram.data());
}

void KnnFitness::count_matrix(const Word* mask, Matrix& matrix, const Splits& splits,
                              Worker& worker, Tally tally) {
  const std::size_t n = table_.n_samples, ld = table_.ld;
  list_bits(mask, n_words_, worker.features);
  mirror(matrix.gram.data(), ld);
  // Error of a squared distance: gram_error of the changed features, the unit of the state, the
  // roundings of float32; each as a share of a squared sum of norms, so that one root a sample
  // holds them all (Cauchy-Schwarz).
  const double share = gram_error(matrix.changed);
  const double slack = 1 + static_cast<double>(matrix.changed + 16) * 0x1p-22;
  for (std::size_t j = 0; j < n; ++j) {
    worker.squares[j] = static_cast<double>(matrix.gram[j * ld + j]);
    const double moved = share * static_cast<double>(matrix.moved[j]) * slack;
    double rounded = std::max(0.0, worker.squares[j]) + moved;
    if (matrix.pair != nullptr) rounded += matrix.pair->square(j);
    worker.bounds[j] = matrix.exact ? 0 : moved + float_share * rounded + matrix.floor;
  }
  worker.order.begin_matrix(worker.squares.data(), worker.bounds.data());
  for (std::size_t i = 0; i < n; ++i) {
    count_row(i, matrix.gram.data() + i * ld, splits, worker, tally);
  }
}

}  // namespace bitsieve
