#include "bitsieve/fitness/knn_scaled.hpp"

#include <algorithm>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/gram_planner.hpp"
#include "knn_scaled_worker.hpp"
#include "knn_worker.hpp"

namespace bitsieve {

ScaledKnnFitness::ScaledKnnFitness(std::shared_ptr<const Table> table, Target target,
                                   SplitSource source, KnnOptions options,
                                   const ScalerOptions& scaler)
    : MaskFitness(std::move(table), std::move(target), std::move(source)),
      recheck_(recheck_of(this->table())),
      options_(options),
      scaler_(scaler),
      scales_(std::make_unique<FoldScales>(this->table(), scaler, FoldScales::Origin::center)) {
  if (options_.n_neighbors == 1) options_.by_distance = false;
}

ScaledKnnFitness::~ScaledKnnFitness() = default;

std::unique_ptr<MaskFitness::Worker> ScaledKnnFitness::make_worker() const {
  return std::make_unique<Finder>(table(), target(), options_, is_ordered(), recheck_);
}

void ScaledKnnFitness::forget_states() {
  leave_behind(scales_);
  scales_ = std::make_unique<FoldScales>(table(), scaler_, FoldScales::Origin::center);
}

bool ScaledKnnFitness::takes_all_threads() const {
  return table().view().n_samples > matrix_samples;
}

// The scales of all features that masks with the same splits ask for.
void ScaledKnnFitness::prepare(const MaskBatch& batch, int n_threads,
                               std::vector<std::size_t>& costs) {
  MaskFitness::prepare(batch, n_threads, costs);
  const std::uint64_t* seeds = batch.seeds;
  if (shares_splits(batch)) {
    const TargetSplits at = splits_for(seeds[0], *workers(n_threads)[0]);
    scales_->prepare(batch.masks, batch.n_masks, &at, n_threads);
  } else {
    scales_->prepare(batch.masks, batch.n_masks, nullptr, n_threads);
  }
}

void ScaledKnnFitness::predict(const Word* masks, std::size_t index, const TargetSplits& at,
                               int n_threads, Worker& worker, const Answer& answer) {
  Finder& first = static_cast<Finder&>(worker);
  std::vector<std::int32_t> features;
  list_bits(masks + index * n_words(), n_words(), features);
  const ScaleView scales = scales_->view(features, at, first.own, n_threads);
  const std::vector<ScaledPart> parts = scaled_parts(at.splits, table().view().ld);
  // Groups of parts that read the features together; several where several threads do.
  const std::size_t most_parts = (parts.size() + static_cast<std::size_t>(n_threads) - 1) /
                                 static_cast<std::size_t>(n_threads);
  std::vector<std::size_t> begin{0};
  std::size_t floats = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::size_t size = ScaledProducts::size_of(parts[p], table().view().ld);
    if (p > begin.back() &&
        (floats + size > ScaledProducts::most_floats || p - begin.back() == most_parts)) {
      begin.push_back(p);
      floats = 0;
    }
    floats += size;
  }
  begin.push_back(parts.size());
  const auto group = [&](std::size_t g, Finder& finder) {
    finder.features = features;
    finder.order.begin_mask();
    predict_parts(at.splits, scales, parts.data() + begin[g], begin[g + 1] - begin[g], finder,
                  answer);
  };
  if (n_threads == 1) {
    for (std::size_t g = 0; g + 1 < begin.size(); ++g) group(g, first);
    return;
  }
  auto& pool = workers(n_threads);
  parallel_for_worker(begin.size() - 1, n_threads, [&](std::size_t g, int w) {
    group(g, static_cast<Finder&>(*pool[static_cast<std::size_t>(w)]));
  });
}

void ScaledKnnFitness::predict_parts(const Splits& splits, const ScaleView& scales,
                                     const ScaledPart* parts, std::size_t n_parts, Finder& finder,
                                     const Answer& answer) const {
  const std::size_t n = table().view().n_samples;
  finder.products.make(finder.features, scales, splits, parts, n_parts);
  for (std::size_t p = 0; p < n_parts; ++p) {
    const std::size_t split = parts[p].split;
    finder.begin_split(scales, split);
    const bool finite = finder.products.is_finite(p);
    if (finite) {
      finder.order.begin_matrix(finder.products.squares(p), finder.products.bounds(p));
      for (std::size_t j = 0; j < n; ++j) {
        if (!get_bit(splits.training.data() + j * splits.n_words, split)) finder.order.leave_out(j);
      }
    }
    for (std::size_t t = 0; t < parts[p].count; ++t) {
      const std::size_t at = parts[p].first + t;
      const std::size_t i = static_cast<std::size_t>(splits.test_samples[at]);
      const Splits::Place place{static_cast<std::int32_t>(split), static_cast<std::int64_t>(at)};
      if (finite) {
        finder.order.begin_row(i, finder.products.row(p, t));
        walk(i, place, finder, answer);
      } else {
        walk_exactly(i, splits, place, finder, answer);
      }
    }
  }
  finder.n_rechecked += finder.order.take_rechecked();
}

void ScaledKnnFitness::walk(std::size_t i, const Splits::Place& place, Finder& finder,
                            const Answer& answer) const {
  const auto features = [&]() -> const std::vector<std::int32_t>& {
    finder.order.set_factors(finder.factors());
    return finder.features;
  };
  KnnVotes& votes = finder.votes;
  votes.begin(1);
  while (votes.is_open(0)) {
    const std::ptrdiff_t j = finder.order.next(features);
    if (j < 0) break;
    votes.add(0, static_cast<std::size_t>(j),
              options_.by_distance ? finder.order.distance(features) : 0);
  }
  votes.write(0, i, place, answer);
}

// Where float32 cannot hold the scaled values.
void ScaledKnnFitness::walk_exactly(std::size_t i, const Splits& splits,
                                    const Splits::Place& place, Finder& finder,
                                    const Answer& answer) const {
  const double* factors = finder.factors();
  auto& found = finder.found;
  found.clear();
  for (std::size_t j = 0; j < table().view().n_samples; ++j) {
    if (!get_bit(splits.training.data() + j * splits.n_words,
                 static_cast<std::size_t>(place.split))) {
      continue;
    }
    found.emplace_back(recheck_.distance(i, j, finder.features, factors), j);
  }
  finder.n_rechecked += found.size();
  std::sort(found.begin(), found.end());
  KnnVotes& votes = finder.votes;
  votes.begin(1);
  for (const auto& [square, j] : found) {
    if (!votes.is_open(0)) break;
    votes.add(0, j, square);
  }
  votes.write(0, i, place, answer);
}

}  // namespace bitsieve
