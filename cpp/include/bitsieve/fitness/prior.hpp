// What every mask gets from a model that looks at no feature: the class shares, or the mean, of the
// training part, as of an empty mask. It shows by itself what is no model's own.
#pragma once

#include <cstddef>
#include <memory>

#include "bitsieve/fitness/mask_fitness.hpp"

namespace bitsieve {

class PriorFitness : public MaskFitness {
 public:
  using MaskFitness::MaskFitness;

  Outputs::Kind kind() const override {
    return target().is_classes() ? Outputs::Kind::probabilities : Outputs::Kind::numbers;
  }
  std::size_t n_values() const override {
    return target().is_classes() ? target().n_classes : 1;
  }

 protected:
  std::unique_ptr<Worker> make_worker() const override { return std::make_unique<Worker>(); }
  void predict(const Word*, std::size_t, const TargetSplits& at, int, Worker&,
               const Answer& answer) override {
    predict_empty(at, answer.classes, answer.values, n_values());
  }
};

}  // namespace bitsieve
