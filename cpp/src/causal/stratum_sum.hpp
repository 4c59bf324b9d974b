// The statistic of a table, added up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bitsieve/causal/discrete_test.hpp"

namespace bitsieve {

// A statistic and its degrees of freedom, stratum after stratum, in whole numbers: the order of the
// strata, and which of the two variables is x, change no bit.
class StratumSum {
 public:
  explicit StratumSum(const DiscreteTest& test) : test_(test), logs_(test.logs().data()) {}

  void begin(std::size_t x_levels, std::size_t y_levels) {
    rows_.resize(std::max(rows_.size(), x_levels));
    columns_.resize(std::max(columns_.size(), y_levels));
    y_levels_ = y_levels;
    if (is_chi() && table_.size() < x_levels * y_levels) table_.resize(x_levels * y_levels);
    sum_ = dof_ = chi_ = 0;
  }

  void add(std::uint32_t x, std::uint32_t y, std::uint32_t count) {
    if (count == 0) return;
    if (rows_[x] == 0) there_x_.push_back(x);
    if (columns_[y] == 0) there_y_.push_back(y);
    rows_[x] += count;
    columns_[y] += count;
    total_ += count;
    sum_ += logs_[count];
    if (is_chi()) table_[x * y_levels_ + y] = count;
  }

  void end_stratum() {
    if (total_ == 0) return;
    if (is_chi()) add_chi();
    for (const std::uint32_t x : there_x_) sum_ -= logs_[rows_[x]];
    for (const std::uint32_t y : there_y_) sum_ -= logs_[columns_[y]];
    sum_ += logs_[total_];
    dof_ += static_cast<std::int64_t>((there_x_.size() - 1) * (there_y_.size() - 1));
    for (const std::uint32_t x : there_x_) rows_[x] = 0;
    for (const std::uint32_t y : there_y_) columns_[y] = 0;
    there_x_.clear();
    there_y_.clear();
    total_ = 0;
  }

  // What the statistic is a multiple of.
  std::int64_t units() const { return is_chi() ? chi_ : sum_; }

  Independence result() const {
    const double statistic = is_chi() ? static_cast<double>(chi_) * test_.chi_unit()
                                      : 2.0 * static_cast<double>(sum_) * test_.logs().unit();
    return {std::max(statistic, 0.0), 0.0, dof_, true};
  }

 private:
  bool is_chi() const { return test_.statistic() == DiscreteStatistic::chi_squared; }

  // The sum of (count - expected)^2 / expected over all cells of rows and columns that occur.
  void add_chi() {
    for (const std::uint32_t x : there_x_) {
      std::uint32_t* row = table_.data() + x * y_levels_;
      for (const std::uint32_t y : there_y_) {
        const double product = static_cast<double>(rows_[x]) * static_cast<double>(columns_[y]);
        const double total = static_cast<double>(total_);
        const double off = static_cast<double>(row[y]) * total - product;
        chi_ += static_cast<std::int64_t>(
            std::nearbyint(off / product * (off / total) / test_.chi_unit()));
        row[y] = 0;
      }
    }
  }

  const DiscreteTest& test_;
  const std::int64_t* logs_;
  std::size_t y_levels_ = 0;
  std::vector<std::uint32_t> rows_, columns_, table_;
  std::vector<std::uint32_t> there_x_, there_y_;
  std::uint32_t total_ = 0;
  std::int64_t sum_ = 0, dof_ = 0, chi_ = 0;
};

}  // namespace bitsieve
