// Tests of independence of discrete variables: G-squared and Pearson's chi-squared in each stratum.
//
// A table over a set is counted from the cells of all its variables but the last, kept from the set
// before, and the levels of that one: by bit planes (AND and popcount) where these are less to read
// than a code a sample. Degrees of freedom are those of the rows and columns that occur in each
// stratum. A test is reliable where there are min_samples_per_cell samples for each cell of the
// whole table (Tsamardinos 2003).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitsieve/causal/independence.hpp"
#include "bitsieve/causal/log_table.hpp"
#include "bitsieve/discrete/table.hpp"

namespace bitsieve {

enum class DiscreteStatistic { g_squared, chi_squared };

class DiscreteTest : public IndependenceTest {
 public:
  DiscreteTest(const DiscreteTable& table, DiscreteStatistic statistic, double min_samples_per_cell,
               std::size_t most_kept);
  ~DiscreteTest() override;

  const DiscreteTable& table() const { return table_; }
  DiscreteStatistic statistic() const { return statistic_; }
  const LogTable& logs() const { return logs_; }
  double chi_unit() const { return chi_unit_; }
  double min_samples_per_cell() const { return min_samples_per_cell_; }

  // The levels of the samples of a feature: decoded once, by whoever asks first.
  const std::uint8_t* codes(std::size_t f);

  std::unique_ptr<PairTests> make_worker() override;

 protected:
  void compute_many(const std::vector<std::size_t>& xs, std::size_t y,
                    const std::vector<std::size_t>& given, Independence* out,
                    int n_threads) override;
  bool worth_keeping() const override;

 private:
  const DiscreteTable& table_;
  DiscreteStatistic statistic_;
  double min_samples_per_cell_;
  LogTable logs_;
  double chi_unit_;
  std::vector<std::atomic<std::uint8_t*>> codes_;
};

}  // namespace bitsieve
