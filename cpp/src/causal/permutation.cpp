#include "bitsieve/causal/permutation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/core/rng.hpp"
#include "projection.hpp"
#include "stratum_sum.hpp"

namespace bitsieve {
namespace {

constexpr double rounding = 1e-12;  // correlations that differ by less are the same

// What both kinds share: the base's statistic, and the lane that belongs to a test.
class PermutedPair : public PairTests {
 public:
  PermutedPair(IndependenceTest& base, const Permutations& permutations)
      : permutations_(permutations), base_(base.make_worker()) {}

  void begin(std::size_t x, std::size_t y, const std::vector<std::size_t>& others) override {
    x_ = std::min(x, y);
    y_ = std::max(x, y);
    others_ = others;
    base_->begin(x_, y_, others);
  }

  bool hopeful(const std::size_t* places, std::size_t size) override {
    return base_->hopeful(places, size);
  }

  Independence statistic(const std::size_t* places, std::size_t size) override {
    set_.resize(size);
    for (std::size_t k = 0; k < size; ++k) set_[k] = others_[places[k]];
    std::sort(set_.begin(), set_.end());
    return base_->statistic(places, size);
  }

  double log_p(const Independence& asked) override {
    if (asked.dof == 0 || asked.statistic == 0.0) return 0.0;  // no order has less
    std::uint64_t lane = 0;
    const auto mix = [&](std::size_t v) {
      lane = philox4x64(lane, v + 1, {0, 0, 0, 0})[0];
    };
    mix(x_);
    mix(y_);
    for (const std::size_t z : set_) mix(z);
    PhiloxStream random(permutations_.seed, Stream::permutations, lane);
    prepare();
    std::size_t hits = 0, drawn = 0;
    while (drawn < permutations_.count) {
      check_interrupt();
      ++drawn;
      if (as_great(random)) ++hits;
      if (permutations_.most_hits > 0 && hits >= permutations_.most_hits) break;
    }
    return std::log((1.0 + static_cast<double>(hits)) / (1.0 + static_cast<double>(drawn)));
  }

  bool falls() const override { return false; }

 protected:
  virtual void prepare() = 0;
  // Whether a new order of x has a statistic as great as the one that is there.
  virtual bool as_great(PhiloxStream& random) = 0;

  const Permutations permutations_;
  std::unique_ptr<PairTests> base_;
  std::size_t x_ = 0, y_ = 0;
  std::vector<std::size_t> others_, set_;  // the variables of the set that was asked, ascending
};

class PermutedDiscretePair : public PermutedPair {
 public:
  PermutedDiscretePair(DiscreteTest& test, const Permutations& permutations)
      : PermutedPair(test, permutations), test_(test), sum_(test) {}

 private:
  void prepare() override {
    const std::size_t n = test_.n();
    // Samples by stratum, those of a stratum in their order.
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<const std::uint8_t*> given;
    for (const std::size_t z : set_) given.push_back(test_.codes(z));
    const auto before = [&](std::size_t a, std::size_t b) {
      for (const std::uint8_t* codes : given) {
        if (codes[a] != codes[b]) return codes[a] < codes[b];
      }
      return false;
    };
    std::stable_sort(order.begin(), order.end(), before);
    const std::uint8_t *of_x = test_.codes(x_), *of_y = test_.codes(y_);
    x_levels_.resize(n);
    y_levels_.resize(n);
    ends_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      x_levels_[i] = of_x[order[i]];
      y_levels_[i] = of_y[order[i]];
      if (i + 1 == n || before(order[i], order[i + 1])) ends_.push_back(i + 1);
    }
    cells_.assign(test_.table().levels(x_) * test_.table().levels(y_), 0);
    observed_ = units();
  }

  bool as_great(PhiloxStream& random) override {
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      random.shuffle(x_levels_.data() + begin, end - begin);
      begin = end;
    }
    return units() >= observed_;
  }

  std::int64_t units() {
    const std::size_t x_levels = test_.table().levels(x_), y_levels = test_.table().levels(y_);
    sum_.begin(x_levels, y_levels);
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      for (std::size_t i = begin; i < end; ++i) ++cells_[x_levels_[i] * y_levels + y_levels_[i]];
      for (std::size_t i = begin; i < end; ++i) {
        std::uint32_t& cell = cells_[x_levels_[i] * y_levels + y_levels_[i]];
        sum_.add(x_levels_[i], y_levels_[i], cell);
        cell = 0;
      }
      sum_.end_stratum();
      begin = end;
    }
    return sum_.units();
  }

  DiscreteTest& test_;
  StratumSum sum_;
  std::vector<std::uint8_t> x_levels_, y_levels_;  // by stratum
  std::vector<std::size_t> ends_;                  // of the strata
  std::vector<std::uint32_t> cells_;
  std::int64_t observed_ = 0;
};

class PermutedFisherPair : public PermutedPair {
 public:
  PermutedFisherPair(FisherTest& test, const Permutations& permutations)
      : PermutedPair(test, permutations), test_(test) {}

 private:
  void prepare() override {
    projection_.factor(set_.size(), [&](std::size_t i, std::size_t j) {
      return test_.correlation(set_[i], set_[j]);
    });
    left(x_, of_x_);
    left(y_, of_y_);
    observed_ = std::fabs(product()) * (1.0 - rounding);
  }

  bool as_great(PhiloxStream& random) override {
    random.shuffle(of_x_.data(), test_.n());
    return std::fabs(product()) >= observed_;
  }

  // What the set leaves of a variable.
  void left(std::size_t v, AlignedVector<double>& out) {
    const std::size_t n = test_.n();
    out.assign(test_.column(v), test_.column(v) + test_.ld());
    std::vector<double> weights(set_.size());
    projection_.project([&](std::size_t j) { return test_.correlation(v, set_[j]); },
                        weights.data());
    projection_.back(weights.data());
    for (std::size_t k = 0; k < projection_.rank(); ++k) {
      const double* column = test_.column(set_[projection_.used(k)]);
      for (std::size_t i = 0; i < n; ++i) out[i] -= weights[k] * column[i];
    }
  }

  double product() const {
    const double* other = of_y_.data();
    double out;
    kernels().information->dots(of_x_.data(), &other, 1, test_.ld(), &out);
    return out;
  }

  FisherTest& test_;
  Projection projection_;
  AlignedVector<double> of_x_, of_y_;
  double observed_ = 0.0;
};

}  // namespace

PermutationTest::PermutationTest(DiscreteTest& base, const Permutations& permutations,
                                 std::size_t most_kept)
    : IndependenceTest(base.n(), base.p(), most_kept),
      discrete_(&base),
      permutations_(permutations) {}

PermutationTest::PermutationTest(FisherTest& base, const Permutations& permutations,
                                 std::size_t most_kept)
    : IndependenceTest(base.n(), base.p(), most_kept),
      fisher_(&base),
      permutations_(permutations) {}

std::unique_ptr<PairTests> PermutationTest::make_worker() {
  if (discrete_) return std::make_unique<PermutedDiscretePair>(*discrete_, permutations_);
  return std::make_unique<PermutedFisherPair>(*fisher_, permutations_);
}

}  // namespace bitsieve
