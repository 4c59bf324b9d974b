// The classes that 16 one-flip neighbors give to the test samples, and which stay open.
#include <algorithm>
#include <cmath>

#include "lda_flips.hpp"

namespace bitsieve {

// Lanes in which a direction between the classes may be too short beside the longest.
void LdaFitness::find_short(const FlipSplit& split, std::size_t k, std::size_t ld,
                            const double* inverse, const double* pivot, const double* change,
                            const double* bound, const bool* joins, double cut, FlipScratch& own,
                            double* unsure) const {
  using namespace lda_detail;
  const std::size_t n_present = split.present.size(), n_pairs = n_present - 1;
  own.products.assign(n_present * n_present * lanes, 0.0);
  for (std::size_t c = 0; c < n_pairs; ++c) {
    for (std::size_t d = c; d < n_pairs; ++d) {
      double* out = own.products.data() + ((c + 1) * n_present + d + 1) * lanes;
      for (std::size_t j = 0; j < k; ++j) {
        const double product = split.apart[c * ld + j] * split.apart[d * ld + j];
        for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] += product * inverse[j * lanes + lane];
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        out[lane] += change[c * lanes + lane] * change[d * lanes + lane] / pivot[lane];
      }
      std::copy_n(out, lanes, own.products.data() + ((d + 1) * n_present + c + 1) * lanes);
    }
  }
  std::vector<double> middle(n_present);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (unsure[lane] > 0) continue;
    const auto product = [&](std::size_t c, std::size_t d) {
      return own.products[(c * n_present + d) * lanes + lane];
    };
    double whole = 0;
    for (std::size_t c = 0; c < n_present; ++c) {
      middle[c] = 0;
      for (std::size_t d = 0; d < n_present; ++d) middle[c] += split.prior[d] * product(c, d);
      whole += split.prior[c] * middle[c];
    }
    own.between.resize(n_present * n_present);
    for (std::size_t c = 0; c < n_present; ++c) {
      for (std::size_t d = 0; d < n_present; ++d) {
        own.between[c * n_present + d] = std::sqrt(split.prior[c] * split.prior[d]) *
                                         (product(c, d) - middle[c] - middle[d] + whole);
      }
    }
    diagonalize_classes(own.between, n_present);
    std::vector<double>& lengths = middle;
    for (std::size_t c = 0; c < n_present; ++c) lengths[c] = own.between[c * (n_present + 1)];
    std::sort(lengths.begin(), lengths.end());
    const double least = 2 * cut * lengths.back() + 8 * static_cast<double>(n_present) * bound[lane];
    const std::size_t size = joins[lane] ? k + 1 : k - 1;
    if (!(lengths[first_length(n_present, size)] > least)) unsure[lane] = 1;
  }
}

// The classes of the test samples of a split, codes[t][lanes], and which lanes are unsure of one;
// differences[pair][t][lanes] to the first class.
void LdaFitness::decide(const FlipSplit& split, const double* differences, const double* bound,
                        std::int32_t* codes, double* unsure) const {
  using namespace lda_detail;
  const std::size_t n_tests = split.tests.size(), n_pairs = split.present.size() - 1;
  if (n_pairs == 1) {
    for (std::size_t t = 0; t < n_tests * lanes; t += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = differences[t + lane];
        codes[t + lane] = value > 0 ? split.present[1] : split.present[0];
        unsure[lane] = std::abs(value) > bound[lane] ? unsure[lane] : 1.0;  // NaN is unsure
      }
    }
    return;
  }
  for (std::size_t t = 0; t < n_tests; ++t) {
    alignas(64) Lanes best{}, best_bound{}, second, sum{};
    std::int32_t* out = codes + t * lanes;
    std::fill_n(out, lanes, split.present[0]);
    std::fill_n(second, lanes, -HUGE_VAL);
    for (std::size_t c = 0; c < n_pairs; ++c) {
      const double* values = differences + (c * n_tests + t) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = values[lane], slack = bound[c * lanes + lane];
        const bool wins = value > best[lane];
        second[lane] = std::max(second[lane], wins ? best[lane] + best_bound[lane] : value + slack);
        best_bound[lane] = wins ? slack : best_bound[lane];
        best[lane] = wins ? value : best[lane];
        out[lane] = wins ? split.present[c + 1] : out[lane];
        sum[lane] += (value + slack) * 0;  // NaN stays
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool sure = best[lane] - best_bound[lane] + sum[lane] > second[lane];
      unsure[lane] = sure ? unsure[lane] : 1.0;
    }
  }
}

}  // namespace bitsieve
