// Cross-validated k-nearest-neighbour classification of masks: uniform weights, Euclidean.
//
// One Gram matrix serves every split of a mask. Where it comes from is a plan (knn_plan.cpp): from
// nothing, or from a kept state and the difference. The answer does not depend on that in any bit:
// approximate matrices carry their error bound, and what a bound leaves open the arbiter decides.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/fitness/arbiter.hpp"
#include "bitsieve/fitness/gram.hpp"
#include "bitsieve/fitness/neighbours.hpp"
#include "bitsieve/fitness/splits.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

// Largest n for which n x n matrices are kept; beyond it, rows are made block by block.
inline constexpr std::size_t matrix_samples = 1536;

enum class Origin : std::uint8_t;

enum class HitScore { accuracy, balanced_accuracy };

struct KnnSettings {
  std::size_t n_neighbors = 1;
  // The hot values are the user's values less a constant, exactly, and multiples of this power of
  // two; 0 where that is not so. Then small masks need no error bound at all.
  double grid = 0;
};

class KnnFitness {
 public:
  KnnFitness(const TableView& table, const Arbiter& arbiter, Target target, SplitSource source,
             const KnnSettings& settings);
  ~KnnFitness();

  void set_splits(Splits splits);  // fixed ones, once, before anything is evaluated
  // Fresh folds keep groups together: a number in [0, n_groups) a sample; before anything is
  // evaluated.
  void set_groups(std::vector<std::int32_t> groups, std::size_t n_groups);
  const SplitSource& source() const { return source_; }
  std::size_t n_splits() const { return source_.n_splits(); }

  // scores[m * n_splits + s]. `seeds` has one a mask (of no effect with fixed splits).
  void evaluate(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds, HitScore score,
                int n_threads, double* scores);

  // The masks base XOR flips[begin[m] .. begin[m + 1]).
  void evaluate_flips(const Word* base, const std::int64_t* flips, const std::int64_t* begin,
                      std::size_t n_masks, const std::uint64_t* seeds, HitScore score, int n_threads,
                      double* scores);

  // votes[(m * n_tests + t) * n_classes + c] of the neighbours of each test sample, in the order of
  // Splits::test_samples. An empty mask has no votes.
  void votes(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds, int n_threads,
             std::int32_t* votes);

  // The Gram matrix of a mask in fixed point, moved to from wherever the kept state is (tests).
  void state_of(const Word* mask, int n_threads, std::int64_t* gram, double* unit);

  struct Counters {
    std::uint64_t float_features = 0, fixed_features = 0, arbitrated = 0, flips_open = 0;
  };
  Counters counters();

 private:
  struct Task;
  struct Worker;
  struct Matrix;
  class Session;
  class Flips;

  // What a mask's walk over its test samples leaves behind.
  struct Tally {
    std::int32_t* hits = nullptr;   // [n_splits][n_classes]
    std::int32_t* votes = nullptr;  // [n_tests][n_classes], or none
  };

  TargetSplits splits_for(std::uint64_t seed, Worker& worker) const;
  void plan(const Word* masks, std::size_t n_masks, int n_threads, std::vector<Task>& tasks);
  void plan_pair(const Word* masks, int n_threads, std::vector<Task>& tasks);
  void run(const Word* masks, std::vector<Task>& tasks, const std::uint64_t* seeds, HitScore score,
           int n_threads, double* scores, std::int32_t* votes);
  const GramState* origin_of(Origin origin) const;
  void build(const Word* mask, const GramState* origin, int n_threads, Matrix& matrix) const;
  void derive(const Matrix& first, Matrix& second) const;
  void count_matrix(const Word* mask, Matrix& matrix, const Splits& splits, Worker& worker,
                    Tally tally);
  void count_streaming(const Word* mask, const Splits& splits, int n_threads, Tally tally);
  void count_row(std::size_t i, const float* gram_row, const Splits& splits, Worker& worker,
                 Tally tally);
  void scores_of(const std::int32_t* hits, const SplitTarget& split, HitScore score,
                 double* out) const;
  void empty_scores(const SplitTarget& split, HitScore score, double* out) const;
  bool exact_sums(const std::vector<std::int32_t>& features,
                  const std::vector<std::int32_t>& others) const;
  std::vector<std::unique_ptr<Worker>>& workers(int n_threads);
  GramState& state();
  void forget();

  TableView table_;
  Arbiter arbiter_;
  Target target_;
  SplitSource source_;
  KnnSettings settings_;
  std::size_t n_words_;
  SplitTarget fixed_target_;
  std::unique_ptr<GramState> state_, full_;
  std::unique_ptr<PairSum> pair_;
  std::unique_ptr<Matrix> first_of_pair_;
  // Features that a state would have saved so far, and where it would have stood.
  double full_credit_ = 0, median_credit_ = 0, pair_credit_ = 0;
  std::vector<Word> last_median_, last_either_, last_both_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Counters counters_;
  // One evaluation at a time; others wait. Behind a pointer, since a fork may copy it locked.
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::atomic<std::thread::id> owner_{};
  std::atomic<unsigned> generation_;
};

}  // namespace bitsieve
