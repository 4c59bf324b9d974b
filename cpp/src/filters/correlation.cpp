#include "bitsieve/filters/correlation.hpp"

#include <algorithm>
#include <cmath>
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
        error_(columns.p(), 0.0),
        bounds_(columns.p(), 0.0),
        state_(columns.p(), fresh),
        scratch_(static_cast<std::size_t>(n_threads_)),
        least_scores_(n_chunks_),
        highest_(n_chunks_),
        finalists_(n_chunks_),
        n_terms_(n_chunks_, 0) {
    for (std::size_t c = 0; c < columns.p(); ++c) {
      const bool is_exact = !columns.rounded(c) || columns.is_constant(c);
      error_[c] = is_exact ? 0.0 : UnitColumns::rounding;
    }
  }

  Selection run() {
    Selection out;
    while (out.order.size() < settings_.n_select) {
      Best best = step();
      if (best.feature == npos) {  // nothing but copies is left
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
    columns_.exact(feature, own.data());
    chosen_.push_back(std::move(own));
    rows_.push_back(chosen_.back().data());
  }

  bool waits(std::size_t c) const { return state_[c] == copy || state_[c] == taken; }
  std::size_t missing(std::size_t c) const {
    return rows_.size() - static_cast<std::size_t>(done_[c]);
  }

  // Bounds from above; exact where all terms are there and exact.
  void bound(std::size_t first, std::size_t count) {
    if (rows_.empty()) {
      for (std::size_t c = first; c < first + count; ++c) bounds_[c] = relevance_[c];
      return;
    }
    kernels().information->mean_scores(
        relevance_ + first, sum_.data() + first, done_.data() + first, error_.data() + first,
        penalty_.data() + first, count, static_cast<double>(rows_.size()), least_, slack,
        settings_.quotient, bounds_.data() + first);
  }

  double score(std::size_t c, double sum) const {
    const double chosen = static_cast<double>(rows_.size());
    return settings_.quotient ? relevance_[c] * chosen / sum : relevance_[c] - sum / chosen;
  }

  // Of one that has all its terms, from below.
  double least_score(std::size_t c) const {
    if (rows_.empty() || error_[c] == 0) return bounds_[c];
    return score(c, (sum_[c] + error_[c] * done_[c]) / slack);
  }

  double exact_score(std::size_t c) {
    if (rows_.empty() || error_[c] == 0) return bounds_[c];
    if (settings_.quotient && relevance_[c] == 0) return 0;
    AlignedVector<double>& column = scratch_[0];
    column.resize(columns_.ld());
    columns_.exact(c, column.data());
    products_.resize(rows_.size());
    kernels().information->dots(column.data(), rows_.data(), rows_.size(), columns_.ld(),
                                products_.data());
    double sum = 0;
    for (double product : products_) sum += std::max(std::min(std::abs(product), 1.0), least_);
    return score(c, sum);
  }

  // Up to `count` more terms of c, and its new bound.
  void add(std::size_t c, std::size_t count, std::size_t chunk, int worker) {
    AlignedVector<double>& scratch = scratch_[static_cast<std::size_t>(worker)];
    scratch.resize(columns_.ld());
    const float* rounded = columns_.rounded(c);
    if (!rounded) columns_.exact(c, scratch.data());
    std::size_t done = static_cast<std::size_t>(done_[c]);
    const std::size_t end = std::min(rows_.size(), done + count), ld = columns_.ld();
    const InformationKernels& kernel = *kernels().information;
    double products[batch];
    n_terms_[chunk] += end - done;
    while (done < end) {
      const std::size_t now = std::min(batch, end - done);
      const double* const* rows = rows_.data() + done;
      if (rounded) {
        kernel.float_dots(rounded, rows, now, ld, products);
      } else {
        kernel.dots(scratch.data(), rows, now, ld, products);
      }
      for (std::size_t k = 0; k < now; ++k) {
        const double size = std::min(std::abs(products[k]), 1.0);
        if (size > copy_from - 2 * error_[c] && state_[c] == fresh) {
          double product = products[k];
          if (rounded) {
            columns_.exact(c, scratch.data());
            kernel.dots(scratch.data(), rows + k, 1, ld, &product);
          }
          if (std::abs(product) > copy_from) state_[c] = copy, penalty_[c] = -infinity;
        }
        sum_[c] += std::max(size, least_);
      }
      done += now;
    }
    done_[c] = static_cast<double>(done);
    bound(c, 1);
  }

  Best step() {
    std::fill(least_scores_.begin(), least_scores_.end(), -infinity);
    // The most promising of each chunk first, to know what is to be beaten.
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      const std::size_t first = chunk * chunk_size, end = end_of(chunk);
      bound(first, end - first);
      std::size_t top = npos;
      double highest = -infinity;
      for (std::size_t c = first; c < end; ++c) {
        if (!settings_.lazy && !waits(c)) add(c, missing(c), chunk, worker);
        if (bounds_[c] > highest && !waits(c)) highest = bounds_[c], top = c;
      }
      highest_[chunk] = highest;
      if (top == npos) return;
      if (missing(top)) add(top, missing(top), chunk, worker);
      if (!waits(top)) least_scores_[chunk] = least_score(top);
    });
    const double lead =
        tied_from(*std::max_element(least_scores_.begin(), least_scores_.end()));
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      finalists_[chunk].clear();
      if (highest_[chunk] < lead) return;
      std::uint32_t open[chunk_size];  // who may reach the lead
      std::size_t n_open = 0;
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        if (bounds_[c] >= lead && !waits(c)) open[n_open++] = static_cast<std::uint32_t>(c);
      }
      double own = lead;
      for (std::size_t k = 0; k < n_open; ++k) {
        if (k + ahead < n_open) columns_.fetch(open[k + ahead]);
        const std::size_t c = open[k];
        while (missing(c) && !waits(c) && bounds_[c] >= own) add(c, batch, chunk, worker);
        if (missing(c) || waits(c) || bounds_[c] < own) continue;
        finalists_[chunk].push_back(c);
        own = std::max(own, tied_from(least_score(c)));
      }
      least_scores_[chunk] = own;
    });
    // Whom rounding leaves in doubt is decided by exact scores.
    const double least = *std::max_element(least_scores_.begin(), least_scores_.end());
    std::vector<Best> exact;
    double highest = -infinity;
    for (const std::vector<std::size_t>& some : finalists_) {
      for (std::size_t c : some) {
        if (bounds_[c] < least) continue;
        exact.push_back({exact_score(c), c});
        highest = std::max(highest, exact.back().score);
        check_interrupt();
      }
    }
    for (const Best& one : exact) {  // by index
      if (one.score >= tied_from(highest)) return one;
    }
    return Best{};
  }

  // Scores this close are one but for rounding, which the order of the samples changes.
  double tied_from(double score) const {
    if (!std::isfinite(score)) return score;
    const double size = std::abs(score);
    return score - 1e-12 * (settings_.quotient ? size : std::max(size, 1.0));
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
  std::vector<double> sum_, done_, penalty_, error_, bounds_;
  std::vector<std::uint8_t> state_;
  std::vector<AlignedVector<double>> scratch_, chosen_;
  std::vector<const double*> rows_;
  std::vector<double> least_scores_, highest_, products_;
  std::vector<std::vector<std::size_t>> finalists_;
  std::vector<std::uint64_t> n_terms_;
};

}  // namespace

Selection greedy_correlation(const UnitColumns& columns, const double* relevance,
                             const CorrelationSettings& settings, int n_threads) {
  return Greedy(columns, relevance, settings, n_threads).run();
}

}  // namespace bitsieve
