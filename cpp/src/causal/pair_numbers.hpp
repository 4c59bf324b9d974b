// Errors of pairs of features of any values, sample by sample.
#pragma once

#include "bitsieve/causal/pair_errors.hpp"

namespace bitsieve {

class PairNumbers : public PairErrors {
 public:
  PairNumbers(const double* x, std::size_t p, PairTarget target, double var_smoothing,
              int n_threads);
  const char* kind() const override { return "numbers"; }

 protected:
  void count_tile(const std::int64_t* a, std::size_t n_a, std::size_t b, std::size_t n_b,
                  Scratch& scratch) const override;
  void count_pair(std::size_t a, std::size_t b, std::int64_t* wrong,
                  Scratch& scratch) const override;

 private:
  // Samples [begin, end) of places, all of class y.
  void margins(std::size_t f, std::size_t partner, std::size_t y, std::size_t begin,
               std::size_t end, std::size_t row_stride, std::vector<Part>& room,
               double* out) const;
  void measure(std::size_t f);
  // count_pair of segments of few samples.
  void count_few(std::size_t a, std::size_t b, std::int64_t* wrong, Scratch& scratch) const;

  std::size_t ld_ = 0;                       // places of a feature: classes padded to a vector
  std::vector<std::size_t> class_begin_;     // [n_classes + 1] of places
  std::vector<std::size_t> segment_begin_;   // [n_segments] of places
  std::vector<std::size_t> segment_end_;
  std::vector<std::vector<std::size_t>> train_;  // places of PairTarget::train
  AlignedBuffer<double> values_;             // [p][ld]
};

}  // namespace bitsieve
