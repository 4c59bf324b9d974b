// The n largest of w, of w + c Delta and of w - c Delta as three masks; ties go to the lowest index.
//
//   one pass over w       those that reach what the about 2 n largest reached the last time
//   fewer than n of them  (or very many): the 2 n largest by TopN, O(p)
//   the few that are left the n largest of them, and what to look for the next time
//
// What is remembered is where to look, never what is found: the answer is a function of w and Delta.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "bitsieve/core/aligned.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/search/top_n.hpp"

namespace bitsieve {

class PerturbedTopN {
 public:
  // `w` finite, 64-byte aligned, to the end of the last word; 0 < n <= p; `masks` gets
  // 3 * words_for(p) words.
  void select(const double* w, std::size_t p, const Word* delta, double c, std::size_t n,
              Word* masks);

 private:
  struct Candidate {
    double value;
    std::size_t feature;
  };

  void list(const Word* bits, std::size_t n_words, int sign, const double* w, const Word* delta,
            double c);
  void choose(std::size_t n, std::size_t wanted, std::size_t n_words, double* least, Word* mask);

  std::array<double, 3> least_{std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::infinity()};
  TopN top_n_;
  AlignedVector<double> perturbed_;
  std::vector<Word> bits_;
  std::vector<Candidate> candidates_;
  std::vector<double> values_;
};

}  // namespace bitsieve
