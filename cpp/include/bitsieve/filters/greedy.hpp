// Greedy selection by information: the feature that the criterion likes best beside those already
// chosen, again and again. Ties go to the lowest index.
//
// With c a candidate, S the chosen ones and y the target (Brown et al. 2012; Vergara and Estevez
// 2014; Sechidis et al. 2019 for JMI3):
//   mim    I(c;y)
//   mifs   I(c;y) - beta * sum_s I(c;s)
//   mid    I(c;y) - mean_s I(c;s)                 miq    I(c;y) / mean_s I(c;s)
//   cife   I(c;y) - sum_s (I(c;s) - I(c;s|y))     icap   I(c;y) - sum_s max(0, I(c;s) - I(c;s|y))
//   cmim   min(I(c;y), min_s I(c;y|s))
//   jmi    sum_s I(c,s;y)                         jmim   min_s I(c,s;y)
//   disr   sum_s I(c,s;y) / H(c,s,y)              njmim  min_s I(c,s;y) / H(c,s,y)
//   jmi3   sum over pairs {s,t} of I(c,s,t;y); jmi for the second feature
// The first feature is the one of the greatest I(c;y) under each of them.
//
// A redundancy is never negative and a minimum never rises, so in mifs, mid, miq, icap, cmim, jmim
// and njmim a candidate's score with some of its terms left out is a bound from above. Its columns
// are not read again until that bound beats the best score of the step; the selection is that of
// the plain loop, bit for bit.
#pragma once

#include <cstddef>
#include <string>

#include "bitsieve/discrete/contingency.hpp"
#include "bitsieve/filters/selection.hpp"

namespace bitsieve {

enum class Criterion { mim, mifs, mid, miq, cife, icap, cmim, jmi, jmim, disr, njmim, jmi3 };

// std::invalid_argument for a name that is none.
Criterion criterion_of(const std::string& name);

struct GreedySettings {
  Criterion criterion = Criterion::mid;
  double beta = 1.0;           // of mifs, not negative
  std::size_t n_select = 1;    // <= features of the table
  bool lazy = true;            // false: every candidate is brought up to date in every step
};

// Below this mean redundancy, in nats, miq divides by this.
inline constexpr double least_redundancy = 1e-9;

Selection greedy_information(const DiscreteTable& table, const Variable& y,
                             const EntropyTable& entropy, const GreedySettings& settings,
                             int n_threads);

}  // namespace bitsieve
