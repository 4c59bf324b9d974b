// Greedy selection by relevance and correlation (Ding and Peng 2005, table 1):
//   quotient (FCQ)    relevance(c) / mean_s max(|r(c,s)|, least)
//   difference (FCD)  relevance(c) - mean_s |r(c,s)|
// over the chosen features s; the first is the most relevant one. Ties, to a relative 10^-12, go to
// the lowest index. A
// copy of a chosen feature, |r| > 1 - 10^-10, says nothing new: copies come after all others.
//
// A sum of |r| never falls, so that a candidate's score with some of its terms left out (each at
// least `least`) is a bound from above, and its column is not read again before the bound beats
// the best score of the step. Terms are taken from columns in float32 with a bound on their error;
// the few candidates that it leaves in doubt are decided by exact columns. Cost: a product of two
// columns, n multiply-adds in float64, a term; mostly a fifth of all terms are computed. Limit: one
// vector of products a cycle, then memory.
#pragma once

#include <cstddef>

#include "bitsieve/filters/columns.hpp"
#include "bitsieve/filters/selection.hpp"

namespace bitsieve {

struct CorrelationSettings {
  bool quotient = true;
  double least = 0.001;      // of |r| in the quotient
  std::size_t n_select = 1;  // <= features
  bool lazy = true;          // false: every candidate is brought up to date in every step
};

// relevance: one value a feature, none NaN; none negative for the quotient.
Selection greedy_correlation(const UnitColumns& columns, const double* relevance,
                             const CorrelationSettings& settings, int n_threads);

}  // namespace bitsieve
