#include "bitsieve/filters/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t chunk_size = 512;  // candidates
constexpr std::size_t batch = 16;        // terms a call of the kernel
constexpr double copy_from = 1.0 - 1e-10;
// A bound adds what is missing in another order than the sum will; this much covers the rounding.
constexpr double slack = 1.0 - 1e-11;

class Greedy {
 public:
  Greedy(const UnitColumns& columns, const double* relevance, const CorrelationSettings& settings,
         int n_threads)
      : columns_(columns),
        relevance_(relevance),
        settings_(settings),
        least_(settings.quotient ? settings.least : 0.0),
        n_threads_(std::clamp(n_threads, 1, max_threads)),
        n_chunks_((columns.p() + chunk_size - 1) / chunk_size),
        sum_(columns.p(), 0.0),
        bounds_(columns.p(), 0.0),
        done_(columns.p(), 0),
        state_(columns.p(), fresh),
        scratch_(static_cast<std::size_t>(n_threads_)),
        best_(n_chunks_),
        highest_(n_chunks_),
        n_terms_(n_chunks_, 0) {}

  Selection run() {
    Selection out;
    while (out.order.size() < settings_.n_select) {
      Best best = step(fresh);
      if (best.feature == nobody) best = step(copy);  // nothing but copies is left
      out.order.push_back(static_cast<std::int64_t>(best.feature));
      out.scores.push_back(best.score);
      state_[best.feature] = taken;
      if (out.order.size() < settings_.n_select) choose(best.feature);
    }
    for (std::uint64_t count : n_terms_) out.n_terms += count;
    return out;
  }

 private:
  enum State : std::uint8_t { fresh, copy, taken };

  void choose(std::size_t feature) {
    AlignedVector<double> own(columns_.ld());
    const double* column = columns_.column(feature, own.data());
    if (column != own.data()) std::memcpy(own.data(), column, columns_.ld() * sizeof(double));
    chosen_.push_back(std::move(own));
    rows_.push_back(chosen_.back().data());
  }

  // From the terms that c has; a bound from above if some are missing.
  double value(std::size_t c) const {
    const std::size_t missing = rows_.size() - done_[c];
    if (rows_.empty()) return relevance_[c];
    double sum = sum_[c];
    if (missing != 0) sum = (sum + least_ * static_cast<double>(missing)) * slack;
    const double mean = sum / static_cast<double>(rows_.size());
    return settings_.quotient ? relevance_[c] / mean : relevance_[c] - mean;
  }

  // Up to `count` more terms of c.
  void add(std::size_t c, std::size_t count, int worker) {
    AlignedVector<double>& scratch = scratch_[static_cast<std::size_t>(worker)];
    if (scratch.empty()) scratch.resize(columns_.ld());
    const double* column = columns_.column(c, scratch.data());
    const std::size_t end = std::min(rows_.size(), done_[c] + count);
    double products[batch];
    while (done_[c] < end) {
      const std::size_t now = std::min(batch, end - done_[c]);
      kernels().information->dots(column, rows_.data() + done_[c], now, columns_.ld(), products);
      for (std::size_t k = 0; k < now; ++k) {
        const double size = std::min(std::abs(products[k]), 1.0);
        if (size > copy_from && state_[c] == fresh) state_[c] = copy;
        sum_[c] += std::max(size, least_);
      }
      done_[c] += static_cast<std::uint32_t>(now);
    }
  }

  Best step(State wanted) {
    std::fill(best_.begin(), best_.end(), Best{});
    // The most promising of each chunk first, to know what is to be beaten.
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      highest_[chunk] = -std::numeric_limits<double>::infinity();
      std::size_t top = nobody;
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        if (state_[c] != wanted) continue;
        if (!settings_.lazy) {
          complete(c, chunk, worker);
          if (state_[c] != wanted) continue;
        }
        bounds_[c] = value(c);
        if (top == nobody || bounds_[c] > bounds_[top]) top = c;
      }
      if (top == nobody) return;
      highest_[chunk] = bounds_[top];
      complete(top, chunk, worker);
      if (state_[top] == wanted) best_[chunk].offer({value(top), top});
    });
    Best best;
    for (const Best& one : best_) best.offer(one);
    if (rows_.empty() || !settings_.lazy) return best;
    const Best lead = best;
    std::fill(best_.begin(), best_.end(), lead);
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      if (highest_[chunk] < lead.score) return;
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        if (state_[c] != wanted || !best_[chunk].yields(bounds_[c], c)) continue;
        double bound = value(c);
        for (std::size_t count = 2; done_[c] < rows_.size() && best_[chunk].yields(bound, c);
             count = std::min(batch, 2 * count)) {
          const std::size_t before = done_[c];
          add(c, count, worker);
          n_terms_[chunk] += done_[c] - before;
          if (state_[c] != wanted) break;
          bound = value(c);
        }
        if (state_[c] == wanted && done_[c] == rows_.size()) best_[chunk].offer({bound, c});
      }
    });
    for (const Best& one : best_) best.offer(one);
    return best;
  }

  void complete(std::size_t c, std::size_t chunk, int worker) {
    n_terms_[chunk] += rows_.size() - done_[c];
    if (done_[c] < rows_.size()) add(c, rows_.size(), worker);
  }

  std::size_t end_of(std::size_t chunk) const {
    return std::min(columns_.p(), (chunk + 1) * chunk_size);
  }

  const UnitColumns& columns_;
  const double* relevance_;
  const CorrelationSettings& settings_;
  double least_;
  int n_threads_;
  std::size_t n_chunks_;
  std::vector<double> sum_, bounds_;
  std::vector<std::uint32_t> done_;
  std::vector<std::uint8_t> state_;
  std::vector<AlignedVector<double>> scratch_, chosen_;
  std::vector<const double*> rows_;
  std::vector<Best> best_;
  std::vector<double> highest_;
  std::vector<std::uint64_t> n_terms_;
};

}  // namespace

Selection greedy_correlation(const UnitColumns& columns, const double* relevance,
                             const CorrelationSettings& settings, int n_threads) {
  return Greedy(columns, relevance, settings, n_threads).run();
}

}  // namespace bitsieve
