// From what a model says of the test samples to a score of each split, whatever the model.
//
//   Score   what is asked: a metric and its options, with scikit-learn's meaning.
//   Scorer  a Score prepared for a target. It reads a mask's outputs or, where a kernel counts
//           without writing outputs down, what was predicted for each class.
//
// A split whose score scikit-learn refuses, or calls undefined, gets NaN: the caller may then ask
// scikit-learn for its error or its number. Such are ranks and probabilities where the training or
// the test part lacks a class, values that are not finite, kappa of a single label.
//
// Cost: n_test steps a split, and a sort of them for ranks. Nothing is allocated but in a Scratch,
// which grows to the largest split. A score is a function of its split's outputs alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/fitness/outputs.hpp"
#include "bitsieve/fitness/target.hpp"

namespace bitsieve {

enum class Metric : std::uint8_t {
  // Of predicted classes.
  accuracy,
  balanced_accuracy,
  balanced_error,  // 1 - balanced accuracy
  precision,
  recall,
  f_score,
  jaccard,
  matthews,
  kappa,
  cost,  // mean of costs[true][predicted]
  // Of probabilities or decision values.
  roc_auc,
  average_precision,
  log_loss,
  brier,
  // Of predicted numbers.
  r2,
  explained_variance,
  mean_squared_error,
  root_mean_squared_error,
  mean_absolute_error,
  median_absolute_error,
  max_error,
};

constexpr bool is_of_classes(Metric metric) { return metric <= Metric::cost; }
constexpr bool is_of_numbers(Metric metric) { return metric >= Metric::r2; }

enum class Average : std::uint8_t { binary, micro, macro, weighted };
enum class KappaWeights : std::uint8_t { none, linear, quadratic };

struct Score {
  Metric metric = Metric::accuracy;
  // What is read: predicted classes (none), probabilities, decisions or numbers.
  Outputs::Kind reads = Outputs::Kind::none;
  double sign = 1;  // -1 for errors: greater is better
  // precision, recall, f_score, jaccard; roc_auc and average_precision of three classes or more.
  Average average = Average::macro;
  std::int32_t positive = 1;         // the class that is found, where there are two
  std::vector<std::int32_t> labels;  // classes that are averaged (kappa: counted), or all there are
  double beta = 1;                   // f_score
  double zero_division = 0;          // precision, recall, f_score, jaccard
  bool one_vs_one = false;           // roc_auc
  bool adjusted = false;             // balanced_accuracy
  bool normalize = true;             // accuracy, log_loss: the mean, not the sum
  double scale = 1;                  // brier
  KappaWeights weights = KappaWeights::none;
  std::vector<double> costs;  // [n_classes][n_classes] by true and predicted class
  // NaN where the training part or the test part lacks a class. Where probabilities or decisions
  // are read the training part must always have all.
  bool needs_trained = false, needs_tested = false;
};

// What a worker keeps from one split to the next.
struct ScoreScratch {
  std::vector<std::int32_t> predicted, hits, cells, labels;
  std::vector<double> positives, negatives, numbers;
};

class Scorer {
 public:
  // The target is not owned. Throws std::invalid_argument where the score does not fit it.
  Scorer(Score score, const Target& target);

  const Score& score() const { return score_; }

  // Whether hits tell enough: how many test samples of each class were given their class. With two
  // classes they always do.
  bool takes_hits() const;

  // out[s] for each split. Classes that are not given are those of the greatest value, the lowest
  // of equals (a single decision: the second class where it is above zero).
  void of_outputs(const TargetSplits& at, const Outputs& outputs, ScoreScratch& scratch,
                  double* out) const;

  // From how often each class was predicted for each: confusion[s][true][predicted]. Scores of
  // probabilities take the predicted class to have probability one. Sums of logarithms are made in
  // another order than from outputs: whoever evaluates a mask takes the same of the two each time.
  void of_confusion(const TargetSplits& at, const std::int32_t* confusion, ScoreScratch& scratch,
                    double* out) const;

  // The same from hits[s][true], where takes_hits() says so.
  void of_hits(const TargetSplits& at, const std::int32_t* hits, ScoreScratch& scratch,
               double* out) const;

 private:
  bool is_undefined(const TargetSplits& at, std::size_t split) const;
  bool needs_cells() const;

  Score score_;
  const Target* target_;
};

}  // namespace bitsieve
