#include "bitsieve/causal/discrete_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bitsieve/causal/tail.hpp"
#include "bitsieve/core/parallel.hpp"
#include "cells.hpp"
#include "stratum_sum.hpp"

namespace bitsieve {
namespace {

using Role = Cells::Role;

constexpr std::size_t variables_a_chunk = 16;
constexpr std::size_t samples_worth_keeping = 1024;

// The statistic of cells and one more variable.
Independence sum_of(DiscreteTest& test, Cells& cells, std::size_t last, Role role,
                    std::size_t x_levels, std::size_t y_levels, StratumSum& sum,
                    std::vector<std::uint32_t>& counts) {
  sum.begin(x_levels, y_levels);
  if (!cells.countable(test, last)) {
    Cells all;
    all.extend(test, cells, last, role, counts);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return all.stratum[a] < all.stratum[b];
    });
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t c = order[k];
      if (k > 0 && all.stratum[c] != all.stratum[order[k - 1]]) sum.end_stratum();
      sum.add(all.x[c], all.y[c], all.margins[c]);
    }
    sum.end_stratum();
    return sum.result();
  }
  cells.count(test, last, counts);
  const std::size_t size = cells.size(), levels = test.table().levels(last);
  if (role == Role::given) {
    for (std::size_t level = 0; level < levels; ++level) {
      const std::uint32_t* row = counts.data() + level * size;
      for (std::size_t c = 0; c < size; ++c) {
        if (c > 0 && cells.stratum[c] != cells.stratum[c - 1]) sum.end_stratum();
        sum.add(cells.x[c], cells.y[c], row[c]);
      }
      sum.end_stratum();
    }
    return sum.result();
  }
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    while (end < size && cells.stratum[end] == cells.stratum[begin]) ++end;
    for (std::uint32_t level = 0; level < levels; ++level) {
      const std::uint32_t* row = counts.data() + level * size;
      for (std::size_t c = begin; c < end; ++c) {
        sum.add(role == Role::x ? level : cells.x[c], role == Role::y ? level : cells.y[c], row[c]);
      }
    }
    sum.end_stratum();
  }
  return sum.result();
}

class DiscretePair : public PairTests {
 public:
  explicit DiscretePair(DiscreteTest& test) : test_(test), sum_(test) {}

  void begin(std::size_t x, std::size_t y, const std::vector<std::size_t>& others) override {
    const DiscreteTable& table = test_.table();
    x_ = x;
    y_ = y;
    others_ = others;
    deep_ = 0;
    most_ = static_cast<double>(table.n());
    pair_ = static_cast<double>(table.levels(x)) * static_cast<double>(table.levels(y));
  }

  bool hopeful(const std::size_t* places, std::size_t size) override {
    double cells = pair_;
    for (std::size_t k = 0; k < size; ++k) {
      cells *= static_cast<double>(test_.table().levels(others_[places[k]]));
    }
    return most_ >= test_.min_samples_per_cell() * cells;
  }

  Independence statistic(const std::size_t* places, std::size_t size) override {
    if (!hopeful(places, size)) return {};
    const DiscreteTable& table = test_.table();
    const std::size_t x_levels = table.levels(x_), y_levels = table.levels(y_);
    Cells& of_x = level(0);
    if (deep_ == 0) {
      if (!all_made_) all_.reset(test_);
      all_made_ = true;
      of_x.extend(test_, all_, x_, Role::x, counts_);
      deep_ = 1;
      path_.clear();
    }
    if (size == 0) {
      return sum_of(test_, of_x, y_, Role::y, x_levels, y_levels, sum_, counts_);
    }
    if (deep_ == 1) {
      level(1).extend(test_, of_x, y_, Role::y, counts_);
      deep_ = 2;
    }
    std::size_t same = 0;
    while (same < path_.size() && same + 1 < size && path_[same] == places[same]) ++same;
    path_.resize(same);
    for (; same + 1 < size; ++same) {
      level(same + 2).extend(test_, level(same + 1), others_[places[same]], Role::given, counts_);
      path_.push_back(places[same]);
    }
    return sum_of(test_, level(size), others_[places[size - 1]], Role::given, x_levels, y_levels,
                  sum_, counts_);
  }

  double log_p(const Independence& asked) override {
    return log_chi_squared_tail(asked.statistic, asked.dof);
  }

  bool falls() const override { return true; }

 private:
  Cells& level(std::size_t k) {
    while (stack_.size() <= k) stack_.push_back(std::make_unique<Cells>());
    return *stack_[k];
  }

  DiscreteTest& test_;
  StratumSum sum_;
  std::size_t x_ = 0, y_ = 0;
  std::vector<std::size_t> others_;
  std::vector<std::size_t> path_;  // places of what stack_[2], stack_[3], ... hold more
  std::size_t deep_ = 0;           // 1: stack_[0] is made; 2: stack_[1] too
  double most_ = 0, pair_ = 0;
  bool all_made_ = false;
  Cells all_;
  std::vector<std::unique_ptr<Cells>> stack_;  // of x; of x and y; and of the set, one by one
  std::vector<std::uint32_t> counts_;
};

}  // namespace

DiscreteTest::DiscreteTest(const DiscreteTable& table, DiscreteStatistic statistic,
                           double min_samples_per_cell, std::size_t most_kept)
    : IndependenceTest(table.n(), table.p(), most_kept),
      table_(table),
      statistic_(statistic),
      min_samples_per_cell_(min_samples_per_cell),
      logs_(table.n()),
      codes_(table.p()) {
  // A statistic is at most n (levels - 1).
  int shift = 52;
  while (std::ldexp(static_cast<double>(table.n()) * 256.0, shift) >= 0x1p61) --shift;
  chi_unit_ = std::ldexp(1.0, -shift);
}

DiscreteTest::~DiscreteTest() {
  for (auto& codes : codes_) delete[] codes.load(std::memory_order_relaxed);
}

const std::uint8_t* DiscreteTest::codes(std::size_t f) {
  std::uint8_t* known = codes_[f].load(std::memory_order_acquire);
  if (known) return known;
  auto made = std::make_unique<std::uint8_t[]>(table_.n());
  table_.codes(f, made.get());
  if (codes_[f].compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return known;
}

std::unique_ptr<PairTests> DiscreteTest::make_worker() {
  return std::make_unique<DiscretePair>(*this);
}

bool DiscreteTest::worth_keeping() const { return table_.n() >= samples_worth_keeping; }

void DiscreteTest::compute_many(const std::vector<std::size_t>& xs, std::size_t y,
                                const std::vector<std::size_t>& given, Independence* out,
                                int n_threads) {
  double cells = static_cast<double>(table_.levels(y));
  for (const std::size_t z : given) cells *= static_cast<double>(table_.levels(z));
  const auto reliable = [&](std::size_t x) {
    const double all = cells * static_cast<double>(table_.levels(x));
    return static_cast<double>(table_.n()) >= min_samples_per_cell_ * all;
  };
  if (std::none_of(xs.begin(), xs.end(), reliable)) {
    std::fill_n(out, xs.size(), Independence());
    return;
  }
  // Everything but x is one set of cells.
  std::vector<Cells> stack(given.size() + 2);
  std::vector<std::uint32_t> scratch;
  stack[0].reset(*this);
  stack[1].extend(*this, stack[0], y, Role::y, scratch);
  for (std::size_t k = 0; k < given.size(); ++k) {
    stack[k + 2].extend(*this, stack[k + 1], given[k], Role::given, scratch);
  }
  Cells& rest = stack.back();
  rest.codes(*this);  // threads only read
  const std::size_t chunks = (xs.size() + variables_a_chunk - 1) / variables_a_chunk;
  parallel_for(chunks, n_threads, [&](std::size_t chunk) {
    StratumSum sum(*this);
    std::vector<std::uint32_t> counts;
    const std::size_t end = std::min(xs.size(), (chunk + 1) * variables_a_chunk);
    for (std::size_t k = chunk * variables_a_chunk; k < end; ++k) {
      const std::size_t x = xs[k];
      out[k] = {};
      if (!reliable(x)) continue;
      out[k] = sum_of(*this, rest, x, Role::x, table_.levels(x), table_.levels(y), sum, counts);
      out[k].log_p = log_chi_squared_tail(out[k].statistic, out[k].dof);
    }
  });
}

}  // namespace bitsieve
