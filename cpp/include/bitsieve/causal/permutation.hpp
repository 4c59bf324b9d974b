// p-values of independence tests by permutation.
//
// The statistic is that of another test. Under independence, the values of x may stand in any order:
// those of a discrete x within the samples of a stratum, those of what is left of a continuous x
// after the regression on what is given anywhere (Freedman and Lane 1983). Of x and y the one of the
// lower number moves. p = (1 + hits) / (1 + orders), hits being orders whose statistic is as great.
//
// Orders are drawn in a lane of their own for each test: a result is a function of the seed, the
// pair and the set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bitsieve/causal/discrete_test.hpp"
#include "bitsieve/causal/fisher.hpp"

namespace bitsieve {

struct Permutations {
  std::size_t count;      // orders
  std::size_t most_hits;  // after so many no more are drawn; 0: all are
  std::uint64_t seed;
};

class PermutationTest : public IndependenceTest {
 public:
  // `base` must outlive it.
  PermutationTest(DiscreteTest& base, const Permutations& permutations, std::size_t most_kept);
  PermutationTest(FisherTest& base, const Permutations& permutations, std::size_t most_kept);

  std::unique_ptr<PairTests> make_worker() override;

 protected:
  bool worth_keeping() const override { return true; }

 private:
  DiscreteTest* discrete_ = nullptr;
  FisherTest* fisher_ = nullptr;
  Permutations permutations_;
};

}  // namespace bitsieve
