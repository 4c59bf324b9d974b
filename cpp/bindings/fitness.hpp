// What the binding of every compiled fitness shares: evaluation, outputs, splits, counters.
//
// A model's own binding is a subclass, its constructor by make_model(), and what it alone has.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "bitsieve/fitness/mask_fitness.hpp"
#include "rooms.hpp"
#include "table.hpp"

namespace bitsieve {

using WordArray = Array<std::uint64_t>;
using TargetArray = std::variant<Codes, Numbers>;
// One a mask, to be written: which of them the model has no good answer for.
using Declined = std::optional<Array<bool>>;

class PyFitness {
 public:
  explicit PyFitness(std::unique_ptr<MaskFitness> fitness) : fitness_(std::move(fitness)) {}
  virtual ~PyFitness() = default;

  std::size_t n_splits() const { return fitness_->source().n_splits(); }
  std::size_t n_tests() const { return fitness_->source().n_tests(); }
  std::size_t n_values() const { return fitness_->n_values(); }
  const char* kind() const;
  void set_splits(const Lists& train, const Lists& train_begin, const Lists& test,
                  const Lists& test_begin);
  void set_groups(const Codes& groups, std::size_t n_groups);
  void set_weights(const Numbers& weights);
  bool may_decline() const { return fitness_->may_decline(); }
  Numbers evaluate(const WordArray& words, const WordArray& seeds, const Score& score,
                   Threads n_threads, Declined declined);
  Numbers evaluate_flips(const WordArray& base, const Lists& flips, const Lists& begin,
                         const WordArray& seeds, const Score& score, Threads n_threads,
                         Declined declined);
  pybind11::tuple outputs(const WordArray& words, const WordArray& seeds, Threads n_threads,
                          Declined declined);
  pybind11::dict counters();

 protected:
  // A mask, or several, of this table.
  void check_tail(const Word* mask) const;
  const Word* check_mask(const WordArray& mask) const;
  std::size_t check_masks(const WordArray& words) const;
  std::size_t check_words(const WordArray& words, const WordArray& seeds) const;
  void check_splits() const;

  std::unique_ptr<MaskFitness> fitness_;
};

// Classes, or numbers with n_classes of 0: checked, and copied, since an index must not change.
Target make_target(const TargetArray& target, std::size_t n_samples, std::size_t n_classes);

// Splits of lists, checked: both parts of each, in range, a sample once in a part.
Splits make_splits(const Lists& train, const Lists& train_begin, const Lists& test,
                   const Lists& test_begin, std::size_t n_samples, std::size_t n_classes);

// Fixed splits that come later (n_repeats of 0), or fresh folds, stratified by the classes of a
// target or not at all (numbers cannot be).
SplitSource make_source(const Table& table, const Target& target, std::size_t n_repeats,
                        std::size_t n_folds, bool stratified);

// The constructor of a model; its own settings come last.
template <typename PyModel, typename Model, typename... Settings>
std::unique_ptr<PyModel> make_model(const std::shared_ptr<PyTable>& table,
                                    const TargetArray& values, std::size_t n_classes,
                                    std::size_t n_repeats, std::size_t n_folds, bool stratified,
                                    Settings... settings) {
  Target target = make_target(values, table->n_samples(), n_classes);
  SplitSource source = make_source(*table, target, n_repeats, n_folds, stratified);
  return std::make_unique<PyModel>(
      std::make_unique<Model>(table, std::move(target), std::move(source), settings...));
}

// The models of the other files, called after what they share is there.
void register_fitness_additive(pybind11::module_& module);
void register_fitness_discrete_bayes(pybind11::module_& module);
void register_fitness_discriminant(pybind11::module_& module);
void register_fitness_solver(pybind11::module_& module);
void register_fitness_ridge(pybind11::module_& module);
void register_fitness_scaled(pybind11::module_& module);

}  // namespace bitsieve
