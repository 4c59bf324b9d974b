#include "bitsieve/filters/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t chunk_size = 512;  // candidates
constexpr std::size_t batch = 16;        // terms at a time: reading the column costs as much
constexpr std::size_t ahead = 3;         // candidates
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
        done_(columns.p(), 0.0),
        penalty_(columns.p(), 0.0),
        scores_(columns.p(), 0.0),
        state_(columns.p(), fresh),
        scratch_(static_cast<std::size_t>(n_threads_)),
        best_(n_chunks_),
        highest_(n_chunks_),
        n_terms_(n_chunks_, 0) {}

  Selection run() {
    Selection out;
    while (out.order.size() < settings_.n_select) {
      Best best = step();
      if (best.feature == nobody) {  // nothing but copies is left
        for (std::size_t c = 0; c < columns_.p(); ++c) {
          if (state_[c] == copy) state_[c] = late, penalty_[c] = 0;
        }
        best = step();
      }
      out.order.push_back(static_cast<std::int64_t>(best.feature));
      out.scores.push_back(best.score);
      state_[best.feature] = taken;
      penalty_[best.feature] = -infinity;
      if (out.order.size() < settings_.n_select) choose(best.feature);
    }
    for (std::uint64_t count : n_terms_) out.n_terms += count;
    return out;
  }

 private:
  // Copies wait until all others are taken; then they are late.
  enum State : std::uint8_t { fresh, copy, late, taken };
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  void choose(std::size_t feature) {
    AlignedVector<double> own(columns_.ld());
    const double* column = columns_.column(feature, own.data());
    if (column != own.data()) std::memcpy(own.data(), column, columns_.ld() * sizeof(double));
    chosen_.push_back(std::move(own));
    rows_.push_back(chosen_.back().data());
  }

  bool waits(std::size_t c) const { return state_[c] == copy || state_[c] == taken; }
  std::size_t missing(std::size_t c) const {
    return rows_.size() - static_cast<std::size_t>(done_[c]);
  }

  // From the terms that each has; bounds from above where some are missing.
  void score(std::size_t first, std::size_t count) {
    if (rows_.empty()) {
      for (std::size_t c = first; c < first + count; ++c) scores_[c] = relevance_[c];
      return;
    }
    kernels().information->mean_scores(
        relevance_ + first, sum_.data() + first, done_.data() + first, penalty_.data() + first,
        count, static_cast<double>(rows_.size()), least_, slack, settings_.quotient,
        scores_.data() + first);
  }

  // Up to `count` more terms of c, and its new score.
  void add(std::size_t c, std::size_t count, std::size_t chunk, int worker) {
    AlignedVector<double>& scratch = scratch_[static_cast<std::size_t>(worker)];
    if (scratch.empty()) scratch.resize(columns_.ld());
    const double* column = columns_.column(c, scratch.data());
    std::size_t done = static_cast<std::size_t>(done_[c]);
    const std::size_t end = std::min(rows_.size(), done + count);
    double products[batch];
    n_terms_[chunk] += end - done;
    while (done < end) {
      const std::size_t now = std::min(batch, end - done);
      kernels().information->dots(column, rows_.data() + done, now, columns_.ld(), products);
      for (std::size_t k = 0; k < now; ++k) {
        const double size = std::min(std::abs(products[k]), 1.0);
        if (size > copy_from && state_[c] == fresh) state_[c] = copy, penalty_[c] = -infinity;
        sum_[c] += std::max(size, least_);
      }
      done += now;
    }
    done_[c] = static_cast<double>(done);
    score(c, 1);
  }

  Best step() {
    std::fill(best_.begin(), best_.end(), Best{});
    // The most promising of each chunk first, to know what is to be beaten.
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      const std::size_t first = chunk * chunk_size, end = end_of(chunk);
      score(first, end - first);
      std::size_t top = nobody;
      double highest = -infinity;
      for (std::size_t c = first; c < end; ++c) {
        if (!settings_.lazy && !waits(c)) add(c, missing(c), chunk, worker);
        if (scores_[c] > highest && !waits(c)) highest = scores_[c], top = c;
      }
      highest_[chunk] = highest;
      if (top == nobody) return;
      if (missing(top)) add(top, missing(top), chunk, worker);
      if (!waits(top)) best_[chunk].offer({scores_[top], top});
    });
    Best best;
    for (const Best& one : best_) best.offer(one);
    if (rows_.empty() || !settings_.lazy) return best;
    const Best lead = best;
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      if (highest_[chunk] < lead.score) return;
      std::uint32_t open[chunk_size];  // whose bound the lead does not beat
      std::size_t n_open = 0;
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        if (lead.yields(scores_[c], c) && !waits(c)) open[n_open++] = static_cast<std::uint32_t>(c);
      }
      Best own = lead;
      for (std::size_t k = 0; k < n_open; ++k) {
        if (k + ahead < n_open) columns_.fetch(open[k + ahead]);
        const std::size_t c = open[k];
        while (missing(c) && !waits(c) && own.yields(scores_[c], c)) add(c, batch, chunk, worker);
        if (!missing(c) && !waits(c)) own.offer({scores_[c], c});
      }
      best_[chunk] = own;
    });
    for (const Best& one : best_) best.offer(one);
    return best;
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
  std::vector<double> sum_, done_, penalty_, scores_;
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
