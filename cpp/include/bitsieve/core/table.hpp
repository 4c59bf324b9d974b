// One table of data, as every kernel reads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "bitsieve/core/aligned.hpp"

namespace bitsieve {

// The feature-major copy of the data: float32, column-centred, rows padded with zeros to a multiple
// of 16 and aligned. Not owned.
struct TableView {
  const float* values = nullptr;  // [n_features][ld]
  std::size_t n_samples = 0;
  std::size_t n_features = 0;
  std::size_t ld = 0;
  const double* max_abs = nullptr;  // per feature, of the centred values

  const float* row(std::size_t f) const { return values + f * ld; }
};

// The user's own values, sample-major: exactly one of the two is set. Not owned.
struct Source {
  const float* single = nullptr;  // [n_samples][n_features]
  const double* doubles = nullptr;
};

class Table {
 public:
  // `view` has no max_abs yet: that is copied here. `exact` says that each centred value is the
  // user's value less a constant, without rounding.
  Table(const TableView& view, std::vector<double> max_abs, const Source& source, bool exact);

  const TableView& view() const { return view_; }
  const Source& source() const { return source_; }

  // A power of two that all centred values are multiples of, where they are exact; 0 where they are
  // not, or where there is none worth having. Small sums of products are then exact in float32.
  double grid() const { return grid_; }

  // The user's own values in float64, feature-major, [n_features][ld], rows padded with zeros and
  // aligned. Made when first asked for, by up to n_threads threads, and kept; from any thread.
  const double* doubles(int n_threads) const;

 private:
  std::vector<double> max_abs_;
  TableView view_;
  Source source_;
  double grid_;
  // Behind a pointer, since a fork may copy it locked.
  mutable std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  mutable std::atomic<unsigned> generation_;
  mutable AlignedBuffer<double> buffer_;
  mutable std::atomic<const double*> doubles_{nullptr};
};

}  // namespace bitsieve
