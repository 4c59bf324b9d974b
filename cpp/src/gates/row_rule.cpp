#include "bitsieve/gates/row_rule.hpp"

#include <cmath>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

// One step's place in what belongs to a row.
RowState row_of(const RowState& state, std::int32_t row) {
  const std::size_t at = static_cast<std::size_t>(row) * state.n_columns;
  return {state.weight + at, state.mean == nullptr ? nullptr : state.mean + at,
          state.square == nullptr ? nullptr : state.square + at, state.last + row,
          state.n_columns};
}

}  // namespace

RowRule::RowRule(double rate, double decay)
    : constants_{nullptr, nullptr, 0, static_cast<float>(rate), static_cast<float>(decay), 0, 0, 0,
                 0, 0} {}

RowRule::RowRule(double rate, double decay, double b1, double b2, double epsilon)
    : constants_{nullptr,
                 nullptr,
                 0,
                 static_cast<float>(rate),
                 static_cast<float>(decay),
                 static_cast<float>(b1),
                 static_cast<float>(1.0 - b1),
                 static_cast<float>(b2),
                 static_cast<float>(1.0 - b2),
                 static_cast<float>(epsilon)} {
  rates_.push_back(0.0f);  // steps count from 1
  roots_.push_back(1.0f);
  constexpr double no_more = 0x1p-26;  // less than half a unit of float32's last place
  double power1 = b1, power2 = b2;
  for (bool more = true; more; power1 *= b1, power2 *= b2) {
    rates_.push_back(static_cast<float>(rate / (1.0 - power1)));
    roots_.push_back(static_cast<float>(1.0 / std::sqrt(1.0 - power2)));
    more = power1 > no_more || power2 > no_more;
  }
}

RowSteps RowRule::steps() const {
  RowSteps out = constants_;
  if (is_adam()) {
    out.rates = rates_.data();
    out.roots = roots_.data();
    out.n_rates = rates_.size();
  }
  return out;
}

void RowRule::advance(const RowState& state, RowList list, std::int64_t step) const {
  const RowKernels& loops = *kernels().rows;
  const RowSteps rule = steps();
  // Without decay plain descent leaves a row alone.
  const bool idle = !is_adam() && constants_.decay == 0.0f;
  for (std::size_t i = 0; i < list.n_rows; ++i) {
    const RowState row = row_of(state, list.rows[i]);
    if (*row.last >= step) continue;
    if (!idle) {
      loops.advance(row.weight, row.mean, row.square, row.n_columns,
                    static_cast<std::uint64_t>(*row.last), static_cast<std::uint64_t>(step), rule);
    }
    *row.last = step;
  }
}

void RowRule::learn(const RowState& state, RowList list, const float* gates, const float* gradient,
                    std::size_t n_draws, std::int64_t step) const {
  const RowKernels& loops = *kernels().rows;
  const RowSteps rule = steps();
  for (std::size_t i = 0; i < list.n_rows; ++i) {
    const RowState row = row_of(state, list.rows[i]);
    loops.learn(row.weight, row.mean, row.square, row.n_columns,
                gates == nullptr ? nullptr : gates + i, list.n_rows,
                gradient + i * n_draws * row.n_columns, n_draws, static_cast<std::uint64_t>(step),
                rule);
    *row.last = step;
  }
}

}  // namespace bitsieve
