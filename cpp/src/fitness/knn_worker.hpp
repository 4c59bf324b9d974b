// What the files of the k-nearest-neighbour fitness share: what a thread of an evaluation owns, the
// constants of the error bounds, the lock.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/fitness/knn.hpp"

namespace bitsieve {

// Rounding of float32 distances and of the hot copy itself, as a share of (|x_i| + |x_j|)^2: the
// values are rounded once (2.1 units in the last place of 2^-24), and the sum of three terms takes
// five more roundings.
inline constexpr double float_share = 0x1p-21;

// What a product may lose where it underflows. Gradual underflow would lose 2^-150 only, but any
// library built with -ffast-math sets the thread to flush to zero, which loses up to 2^-126.
inline constexpr double underflow = 0x1p-120;

// A feature of the kept state costs this many features of a float32 matrix: half the lanes, and an
// integer addition beside each multiply-add.
inline constexpr std::size_t fixed_cost = 4;

// A Gram matrix in float32 and what is known of its error.
struct KnnFitness::Matrix {
  AlignedVector<float> gram;     // [ld][ld], upper triangle
  AlignedVector<float> partial;  // scratch
  AlignedVector<float> moved;    // [ld] sum of squares over the features that were added or removed
  std::vector<std::int32_t> added, removed;
  std::size_t changed = 0;  // how many those are
  const PairSum* pair = nullptr;  // what the matrix was subtracted from
  double floor = 0;               // error of a squared distance that no norm scales
  bool exact = false;
};

struct KnnFitness::Worker {
  Worker(const TableView& table, const std::int32_t* codes, const Arbiter& arbiter)
      : order(table.n_samples, table.ld, codes, arbiter),
        squares(table.n_samples),
        bounds(table.n_samples) {}

  NeighbourOrder order;
  Matrix matrix;
  std::vector<double> squares, bounds;
  std::vector<std::int32_t> features, hits, remaining, votes;
  std::vector<Word> pending;
  AlignedVector<float> values;  // of the one-flip kernel, as are the next two
  std::vector<std::int32_t> correct;
  std::vector<std::uint16_t> unsure;
  Splits splits;  // of the last seed, as is the next
  SplitTarget split_target;
  std::uint64_t splits_seed = 0;
  bool has_splits = false;
};

enum class Origin : std::uint8_t { empty, state, full, pair_first, pair_second };

struct KnnFitness::Task {
  std::size_t mask;
  Origin origin;
  std::size_t cost;  // features to add or remove
};

// The lock for the time of an evaluation. In a forked child nothing that another thread of the
// parent may have been changing is believed.
class KnnFitness::Session {
 public:
  explicit Session(KnnFitness& fitness) : fitness_(fitness) {
    renew_after_fork(fitness.generation_, [&] { fitness.forget(); });
    if (fitness.owner_.load() == std::this_thread::get_id()) {
      throw std::logic_error("a signal handler called the fitness that it interrupted");
    }
    lock_ = std::unique_lock<std::mutex>(*fitness.mutex_);
    fitness.owner_ = std::this_thread::get_id();
  }
  ~Session() { fitness_.owner_ = std::thread::id(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  KnnFitness& fitness_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace bitsieve
