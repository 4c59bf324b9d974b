// What the binding of every compiled fitness shares: evaluation, outputs, splits, counters.
//
// A model's own binding is its constructor, made of make_target() and make_source(), and what it
// alone has.
#pragma once

#include <memory>
#include <optional>

#include "bitsieve/fitness/mask_fitness.hpp"
#include "rooms.hpp"
#include "table.hpp"

namespace bitsieve {

using WordArray = Array<std::uint64_t>;

class PyFitness {
 public:
  virtual ~PyFitness() = default;

  std::size_t n_splits() const { return fitness_->source().n_splits(); }
  std::size_t n_values() const { return fitness_->n_values(); }
  const char* kind() const;
  void set_splits(const Lists& train, const Lists& train_begin, const Lists& test,
                  const Lists& test_begin);
  void set_groups(const Codes& groups, std::size_t n_groups);
  Numbers evaluate(const WordArray& words, const WordArray& seeds, const Score& score,
                   Threads n_threads);
  Numbers evaluate_flips(const WordArray& base, const Lists& flips, const Lists& begin,
                         const WordArray& seeds, const Score& score, Threads n_threads);
  pybind11::tuple outputs(const WordArray& words, const WordArray& seeds, Threads n_threads);
  pybind11::dict counters();

 protected:
  explicit PyFitness(std::unique_ptr<MaskFitness> fitness) : fitness_(std::move(fitness)) {}

  // A mask, or several, of this table.
  void check_tail(const Word* mask) const;
  const Word* check_mask(const WordArray& mask) const;
  std::size_t check_words(const WordArray& words, const WordArray& seeds) const;
  void check_splits() const;

  std::unique_ptr<MaskFitness> fitness_;
};

// Classes as the target of a model; checked and copied, since what is an index must not change.
Target make_target(const Table& table, const Codes& codes, std::size_t n_classes);

// Fixed splits that come later (n_repeats of 0), or fresh folds, stratified by the classes of a
// target or not at all.
SplitSource make_source(const Table& table, const Target& target, std::size_t n_repeats,
                        std::size_t n_folds, bool stratified);

}  // namespace bitsieve
