// What a thread of a k-nearest-neighbor evaluation owns.
#pragma once

#include <cstdint>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/fitness/knn.hpp"
#include "bitsieve/fitness/neighbors.hpp"

namespace bitsieve {

inline ExactDistance recheck_of(const Table& table) {
  const std::size_t p = table.view().n_features;
  const Source& source = table.source();
  return source.single != nullptr ? ExactDistance(source.single, p)
                                  : ExactDistance(source.doubles, p);
}

struct KnnFitness::Finder : MaskFitness::Worker {
  Finder(const TableView& table, const Target& target, KnnOptions options, bool is_ordered,
         const ExactDistance& recheck)
      : order(table.n_samples, table.ld, is_ordered ? nullptr : target.codes.data(), recheck),
        sums(target, options) {}

  NeighborOrder order;
  KnnVotes sums;
  GramMatrix matrix;
  std::vector<std::int32_t> features, remaining, votes;
  std::vector<Word> pending;
};

}  // namespace bitsieve
