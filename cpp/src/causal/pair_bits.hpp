// Errors of pairs of features of two values: of each fold and class how many samples have which.
#pragma once

#include "bitsieve/causal/pair_errors.hpp"

namespace bitsieve {

class PairBits : public PairErrors {
 public:
  // Where a feature has more values than two, is_fit() says so, and nothing else may be asked.
  PairBits(const double* x, std::size_t p, PairTarget target, double var_smoothing, int n_threads);
  const char* kind() const override { return "bits"; }
  bool is_fit() const { return is_fit_; }

 protected:
  void count_tile(const std::int64_t* a, std::size_t n_a, std::size_t b, std::size_t n_b,
                  Scratch& scratch) const override;
  void count_pair(std::size_t a, std::size_t b, std::int64_t* wrong,
                  Scratch& scratch) const override;

 private:
  // Sets the bits of [first, last); false where one has three values.
  bool read(const double* x, std::size_t first, std::size_t last);
  void measure(std::size_t f, const std::vector<std::uint64_t>& train,
               const std::vector<double>& n_train, double half, double rest);
  // out[((segment * n_rows + r) * 2 + value) * stride]
  void margins(std::size_t f, std::size_t partner, std::vector<Part>& room, double* out,
               std::size_t stride) const;

  std::size_t words_ = 0;
  std::vector<std::uint32_t> begin_;    // [n_segments + 1] of words
  std::vector<std::uint32_t> place_;    // [n_samples] bits, by PairTarget::samples
  std::vector<double> sizes_;           // [n_segments]
  AlignedBuffer<std::uint64_t> planes_;  // [p][words]
  std::vector<double> ones_;            // [p][n_segments]
  std::vector<double> values_;          // [p][2]
  bool is_fit_ = true;
};

}  // namespace bitsieve
