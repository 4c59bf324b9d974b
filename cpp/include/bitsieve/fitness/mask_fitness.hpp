// A cross-validated score for masks, whatever the model: what every compiled fitness shares.
//
// It owns the table, the target, the splits and what each thread keeps, lets one evaluation in at a
// time, hands masks to threads and scores what the model says. A model says how a mask predicts the
// test samples (predict) and may do more: plan a batch, count hits without writing predictions
// down, answer a whole neighborhood in one pass. Nothing is assumed of its state: it may keep
// matrices, something a seed, or nothing.
//
// Contract of a model: its answer is a function of (mask, splits) alone, in every bit, whatever it
// prepared and whoever asks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/core/table.hpp"
#include "bitsieve/fitness/mask_batch.hpp"
#include "bitsieve/fitness/outputs.hpp"
#include "bitsieve/fitness/scores.hpp"
#include "bitsieve/fitness/splits.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

class MaskFitness {
 public:
  MaskFitness(std::shared_ptr<const Table> table, Target target, SplitSource source);
  virtual ~MaskFitness();
  MaskFitness(const MaskFitness&) = delete;
  MaskFitness& operator=(const MaskFitness&) = delete;

  const Table& table() const { return *table_; }
  const Target& target() const { return target_; }
  const SplitSource& source() const { return source_; }
  std::size_t n_words() const { return n_words_; }

  // Before anything is evaluated: fixed splits, once, while nobody else looks (no session is taken);
  // or groups that fresh folds keep together, a number in [0, n_groups) a sample (refused later).
  void set_splits(Splits splits);
  void set_groups(std::vector<std::int32_t> groups, std::size_t n_groups);
  // Weights of the samples in training, for a model that takes them: after the splits, before the
  // first evaluation.
  void set_weights(std::vector<double> weights);

  // scores[m * n_splits + s]. `seeds` has one a mask (of no effect with fixed splits).
  // declined[m], where wanted: the model has no good answer for this mask; its scores are NaN.
  void evaluate(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds,
                const Scorer& scorer, int n_threads, double* scores, bool* declined = nullptr);

  // The masks base XOR flips[begin[m] .. begin[m + 1]). Those of one flip, and those of two that
  // share one, are answered as neighborhoods where the model has a short way.
  void evaluate_flips(const Word* base, const std::int64_t* flips, const std::int64_t* begin,
                      std::size_t n_masks, const std::uint64_t* seeds, const Scorer& scorer,
                      int n_threads, double* scores, bool* declined = nullptr);

  // classes[m * n_tests + t] and values[(m * n_tests + t) * n_values + v] of the test samples, in
  // the order of Splits::test_samples; null where not wanted. An empty mask predicts the prior of
  // the training part, or its mean.
  void outputs(const Word* masks, std::size_t n_masks, const std::uint64_t* seeds, int n_threads,
               std::int32_t* classes, double* values, bool* declined = nullptr);

  // What the values of a test sample are, and how many: none where a model says classes alone.
  virtual Outputs::Kind kind() const { return Outputs::Kind::none; }
  virtual std::size_t n_values() const { return 0; }
  // Whether there may be masks that it has no good answer for, such as singular ones.
  virtual bool may_decline() const { return false; }

  using Counters = std::vector<std::pair<const char*, std::uint64_t>>;
  Counters counters();

 protected:
  // What a thread of an evaluation owns; a model adds its own.
  struct Worker {
    Worker() = default;
    virtual ~Worker() = default;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    ScoreScratch scratch;
    std::uint64_t n_rechecked = 0;  // distances measured in float64, or comparisons

   private:
    friend class MaskFitness;
    Splits splits;  // of the last seed, as is the next
    SplitTarget split_target;
    std::uint64_t seed = 0;
    bool has_splits = false;
    std::vector<std::int32_t> counts, classes;
    std::vector<double> values;
  };

  // Where a model writes what it says of one mask. Null: not wanted. Counts begin at zero, the rest
  // at anything.
  struct Answer {
    std::int32_t* hits = nullptr;       // [n_splits][n_classes] test samples given their class
    std::int32_t* confusion = nullptr;  // [n_splits][n_classes][n_classes] by true and given class
    std::int32_t* classes = nullptr;    // [n_tests]
    double* values = nullptr;           // [n_tests][n_values]
    // Set where the model has no good answer for this mask under these splits: the rest is then
    // left as it is. Whether it does is a function of both alone.
    bool* declined = nullptr;
  };

  // Of a model that serves classes alone: refuse numbers, whose codes it would read.
  void require_classes() const;

  virtual std::unique_ptr<Worker> make_worker() const = 0;

  // Called once a batch, before its masks are predicted, by the calling thread: move what is kept.
  // costs[m] is on any scale; dear masks go first.
  virtual void prepare(const MaskBatch& batch, int n_threads, std::vector<std::size_t>& costs);

  // Masks that may be prepared together, where a model keeps something of each.
  virtual std::size_t most_masks() const { return std::numeric_limits<std::size_t>::max(); }

  // Mask `index` of the batch, which is not empty. Several threads ask at once, each with a worker
  // of its own; `n_threads` is above 1 only where nobody else does.
  virtual void predict(const Word* masks, std::size_t index, const TargetSplits& at, int n_threads,
                       Worker& worker, const Answer& answer) = 0;

  // Whether predict() fills hits and confusion, so that classes need not be written down.
  virtual bool counts() const { return false; }
  // Whether values are probabilities 0 and 1, so that counts tell them.
  virtual bool is_certain() const { return false; }
  // Whether a mask is work for all threads: then masks come one after the other.
  virtual bool takes_all_threads() const { return false; }

  // All masks base XOR one of flips, under the same splits; false where the model has no short way.
  // The scores must have the bits that evaluate() would give.
  virtual bool evaluate_neighbors(const Word* base, const std::int64_t* flips, std::size_t n_masks,
                                  const TargetSplits& at, const Scorer& scorer, int n_threads,
                                  double* scores, bool* declined);

  // In a forked child, where nothing that another thread may have been changing is believed.
  virtual void forget_states() {}
  virtual Counters count() const { return {}; }  // beside what workers count

  // The lock for the time of an evaluation: every public entry of a model holds one.
  class Session {
   public:
    explicit Session(MaskFitness& fitness);
    ~Session() { fitness_.owner_ = std::thread::id(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

   private:
    MaskFitness& fitness_;
    std::unique_lock<std::mutex> lock_;
  };

  // Under a session: as many workers as threads, all there are.
  std::vector<std::unique_ptr<Worker>>& workers(int n_threads);
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  TargetSplits splits_for(std::uint64_t seed, Worker& worker) const;
  // Whether all masks of a batch are under one set of splits.
  bool shares_splits(const MaskBatch& batch) const;

  // Prepare a batch and call the body for each mask, the dear ones first, by up to n_threads
  // threads: (index, splits, worker, threads to use).
  void for_each_mask(const MaskBatch& batch, int n_threads,
                     FunctionRef<std::size_t, const TargetSplits&, Worker&, int> body);

  // As evaluate() under a session.
  void evaluate_batch(const MaskBatch& batch, const Scorer& scorer, int n_threads, double* scores,
                      bool* declined);

  // Of a neighborhood those that are marked, each as it would be alone: what a pass over all of them
  // left open.
  void evaluate_marked(const Word* base, const std::int64_t* flips, const std::vector<char>& marked,
                       const TargetSplits& at, const Scorer& scorer, int n_threads, double* scores,
                       bool* declined);

  void score_empty(const TargetSplits& at, const Scorer& scorer, Worker& worker,
                   double* out) const;

  // What a score is made of: values, or the classes alone.
  bool wants_values(const Scorer& scorer) const { return way_of(scorer) == Way::values; }

  // The score of a mask from what a pass found it to predict, classes or values by wants_values(),
  // neither where it is empty: that of evaluate(), in every bit.
  void score_found(const TargetSplits& at, const Scorer& scorer, const std::int32_t* classes,
                   const double* values, Worker& worker, double* out) const;

  // What any model says without a feature: the majority and the shares of the classes of the
  // training part, or its mean. Null where not wanted.
  void predict_empty(const TargetSplits& at, std::int32_t* classes, double* values,
                     std::size_t n_values) const;

  // Adds to hits or confusion of an answer what its classes say.
  void count_classes(const Splits& splits, const Answer& answer) const;

 private:
  enum class Way : std::uint8_t { hits, confusion, classes, values };

  // What a score is made of: the least that it needs. Of a score and a target alone, so that each
  // mask is scored the same way.
  Way way_of(const Scorer& scorer) const;
  void score_mask(const MaskBatch& batch, std::size_t index, const TargetSplits& at,
                  const Scorer& scorer, int n_threads, Worker& worker, double* out,
                  bool* declined);
  void evaluate_groups(const Word* base, const std::int64_t* flips, const std::int64_t* begin,
                       std::size_t n_masks, std::uint64_t seed, const Scorer& scorer,
                       int n_threads, double* scores, bool* declined,
                       std::vector<std::size_t>& left);
  void score_answer(const TargetSplits& at, const Scorer& scorer, Worker& worker, double* out,
                    bool* declined, FunctionRef<const Answer&> fill) const;
  void forget();

  std::shared_ptr<const Table> table_;
  Target target_;
  SplitSource source_;
  SplitTarget fixed_target_;
  std::size_t n_words_;
  std::vector<std::unique_ptr<Worker>> workers_;
  // One evaluation at a time; others wait. Behind a pointer, since a fork may copy it locked.
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::atomic<std::thread::id> owner_{};
  std::atomic<unsigned> generation_;
};

}  // namespace bitsieve
