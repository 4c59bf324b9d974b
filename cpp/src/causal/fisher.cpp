#include "bitsieve/causal/fisher.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/causal/tail.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "projection.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t columns_a_chunk = 64;
constexpr std::size_t most_known = 512;  // variables of a pair's own table of correlations
constexpr double least_range = 1e-290;
constexpr double most_correlation = 1.0 - 1e-15;  // its z is finite

double product(const double* a, const double* b, std::size_t ld) {
  double out;
  kernels().information->dots(a, &b, 1, ld, &out);
  return out;
}

class FisherPair : public PairTests {
 public:
  explicit FisherPair(FisherTest& test) : test_(test) {}

  void begin(std::size_t x, std::size_t y, const std::vector<std::size_t>& others) override {
    variables_.assign({x, y});
    variables_.insert(variables_.end(), others.begin(), others.end());
    const std::size_t size = variables_.size() <= most_known ? variables_.size() : 0;
    known_.assign(size * size, std::numeric_limits<double>::quiet_NaN());
  }

  bool hopeful(const std::size_t*, std::size_t size) override { return test_.n() > size + 3; }

  Independence statistic(const std::size_t* places, std::size_t size) override {
    if (test_.n() <= size + 3) return {};
    set_.assign(places, places + size);
    std::sort(set_.begin(), set_.end(), [&](std::size_t a, std::size_t b) {
      return variables_[a + 2] < variables_[b + 2];
    });
    projection_.factor(size, [&](std::size_t i, std::size_t j) {
      return correlation(set_[i] + 2, set_[j] + 2);
    });
    if (along_.size() < 2 * size) along_.resize(2 * size);
    double *a = along_.data(), *b = a + size;
    const double left = projection_.project(
        [&](std::size_t j) { return correlation(0, set_[j] + 2); }, a);
    const double right = projection_.project(
        [&](std::size_t j) { return correlation(1, set_[j] + 2); }, b);
    return test_.of_correlation(
        partial_correlation(correlation(0, 1), a, b, projection_.rank(), left, right), size);
  }

  double log_p(const Independence& asked) override { return log_normal_tails(asked.statistic); }

  bool falls() const override { return true; }

 private:
  double correlation(std::size_t i, std::size_t j) {
    if (known_.empty()) return test_.correlation(variables_[i], variables_[j]);
    double& known = known_[std::max(i, j) * variables_.size() + std::min(i, j)];
    if (std::isnan(known)) known = test_.correlation(variables_[i], variables_[j]);
    return known;
  }

  FisherTest& test_;
  std::vector<std::size_t> variables_;  // x, y, others
  std::vector<double> known_;           // their correlations; NaN: not asked yet
  std::vector<std::size_t> set_;
  Projection projection_;
  std::vector<double> along_;
};

}  // namespace

FisherTest::FisherTest(const double* x, std::size_t n, std::size_t p, std::size_t most_kept,
                       std::size_t most_bytes, int n_threads)
    : IndependenceTest(n, p, most_kept),
      ld_((n + tile_lanes - 1) / tile_lanes * tile_lanes),
      most_rows_(most_bytes / (p * sizeof(double))),
      columns_(p * ld_, 0.0),
      rows_(p),
      asked_(p) {
  const std::size_t chunks = (p + columns_a_chunk - 1) / columns_a_chunk;
  parallel_for(chunks, n_threads, [&](std::size_t chunk) {
    const std::size_t begin = chunk * columns_a_chunk;
    const std::size_t end = std::min(p, begin + columns_a_chunk);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t f = begin; f < end; ++f) columns_[f * ld_ + i] = x[i * p + f];
    }
    for (std::size_t f = begin; f < end; ++f) {
      double* column = columns_.data() + f * ld_;
      const auto [first, last] = std::minmax_element(column, column + n);
      double least = *first, most = *last;
      if (least == most) {
        std::fill_n(column, n, 0.0);
        continue;
      }
      if (most / 2 - least / 2 < least_range) {  // so are the values themselves
        for (std::size_t i = 0; i < n; ++i) column[i] *= 0x1p600;
        least *= 0x1p600;
        most *= 0x1p600;
      }
      // Into [-1, 1], so that neither sums nor squares overflow or vanish.
      const double middle = least / 2 + most / 2, half = most / 2 - least / 2;
      double sum = 0.0, rest = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        column[i] = (column[i] - middle) / half;
        sum += column[i];
      }
      const double mean = sum / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) rest += column[i] -= mean;
      const double off = rest / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) column[i] -= off;
      const double length = std::sqrt(product(column, column, ld_));
      for (std::size_t i = 0; i < n; ++i) column[i] /= length;
    }
  });
}

FisherTest::~FisherTest() {
  for (auto& row : rows_) delete[] row.load(std::memory_order_relaxed);
}

void FisherTest::make_row(std::size_t f, int n_threads) {
  if (row(f) || n_rows_.fetch_add(1, std::memory_order_relaxed) >= most_rows_) return;
  auto made = std::make_unique<double[]>(p());
  const std::size_t chunks = (p() + columns_a_chunk - 1) / columns_a_chunk;
  parallel_for(chunks, n_threads, [&](std::size_t chunk) {
    const double* others[columns_a_chunk];
    const std::size_t begin = chunk * columns_a_chunk;
    const std::size_t count = std::min(p() - begin, columns_a_chunk);
    for (std::size_t k = 0; k < count; ++k) others[k] = column(begin + k);
    kernels().information->dots(column(f), others, count, ld_, made.get() + begin);
  });
  double* none = nullptr;
  if (rows_[f].compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) {
    (void)made.release();
  } else {
    n_rows_.fetch_sub(1, std::memory_order_relaxed);
  }
}

double FisherTest::correlation(std::size_t a, std::size_t b) {
  if (const double* known = row(a)) return known[b];
  if (const double* known = row(b)) return known[a];
  for (const std::size_t f : {a, b}) {
    if (asked_[f].fetch_add(1, std::memory_order_relaxed) == p() / 4 + 32) {
      make_row(f, 1);
      if (const double* known = row(f)) return known[f == a ? b : a];
    }
  }
  return product(column(a), column(b), ld_);
}

Independence FisherTest::of_correlation(double r, std::size_t given) const {
  r = std::min(std::fabs(r), most_correlation);
  const std::size_t dof = n() - given - 3;
  return {std::sqrt(static_cast<double>(dof)) * std::atanh(r), 0.0,
          static_cast<std::int64_t>(dof), true};
}

std::unique_ptr<PairTests> FisherTest::make_worker() {
  return std::make_unique<FisherPair>(*this);
}

void FisherTest::compute_many(const std::vector<std::size_t>& xs, std::size_t y,
                              const std::vector<std::size_t>& given, Independence* out,
                              int n_threads) {
  const std::size_t size = given.size();
  if (n() <= size + 3) {
    std::fill_n(out, xs.size(), Independence());
    return;
  }
  std::vector<std::size_t> set(given);
  std::sort(set.begin(), set.end());
  if (xs.size() >= p() / 4) {
    make_row(y, n_threads);
    for (const std::size_t z : set) make_row(z, n_threads);
  }
  Projection projection;
  projection.factor(size, [&](std::size_t i, std::size_t j) {
    return correlation(set[i], set[j]);
  });
  std::vector<double> along(size);
  const double left =
      projection.project([&](std::size_t j) { return correlation(y, set[j]); }, along.data());
  const std::size_t chunks = (xs.size() + columns_a_chunk - 1) / columns_a_chunk;
  parallel_for(chunks, n_threads, [&](std::size_t chunk) {
    std::vector<double> own(size);
    const std::size_t end = std::min(xs.size(), (chunk + 1) * columns_a_chunk);
    for (std::size_t k = chunk * columns_a_chunk; k < end; ++k) {
      const double rest = projection.project(
          [&](std::size_t j) { return correlation(xs[k], set[j]); }, own.data());
      const double r = partial_correlation(correlation(xs[k], y), own.data(), along.data(),
                                           projection.rank(), rest, left);
      out[k] = of_correlation(r, size);
      out[k].log_p = log_normal_tails(out[k].statistic);
    }
  });
}

}  // namespace bitsieve
