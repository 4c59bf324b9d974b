#include "bitsieve/filters/greedy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t chunk_size = 512;  // candidates
constexpr double ratio_steps = 0x1p45;

// A chosen feature, as candidates are counted beside it.
struct Chosen {
  Variable alone, with_target;
  std::int64_t alone_sum, with_target_sum;
};

bool is_lazy(Criterion criterion) {
  switch (criterion) {
    case Criterion::cife:
    case Criterion::jmi:
    case Criterion::disr:
    case Criterion::jmi3: return false;
    default: return true;
  }
}

bool uses_target(Criterion criterion) {
  return criterion != Criterion::mim && criterion != Criterion::mifs &&
         criterion != Criterion::mid && criterion != Criterion::miq;
}

class Greedy {
 public:
  Greedy(const DiscreteTable& table, const Variable& y, const EntropyTable& entropy,
         const GreedySettings& settings, int n_threads)
      : table_(table),
        y_(y),
        entropy_(entropy),
        settings_(settings),
        n_threads_(std::clamp(n_threads, 1, max_threads)),
        n_chunks_((table.p() + chunk_size - 1) / chunk_size),
        total_(entropy.total()),
        y_sum_(sum_of(y)),
        own_(table.p()),
        with_y_(table.p()),
        relevance_(table.p()),
        state_(table.p(), 0),
        ratio_(table.p(), 0.0),
        done_(table.p(), 0),
        taken_(table.p(), 0),
        counters_(static_cast<std::size_t>(n_threads_), Counter(table, entropy)),
        best_(n_chunks_),
        n_terms_(n_chunks_, 0) {}

  Selection run() {
    Selection out;
    relevances();
    while (out.order.size() < settings_.n_select) {
      const Best best = step();
      const bool first = out.order.empty();
      out.order.push_back(static_cast<std::int64_t>(best.feature));
      out.scores.push_back(first || !is_ratio() ? best.score * entropy_.unit() : best.score);
      taken_[best.feature] = 1;
      if (out.order.size() < settings_.n_select) choose(best.feature);
    }
    for (std::uint64_t count : n_terms_) out.n_terms += count;
    return out;
  }

 private:
  std::int64_t sum_of(const Variable& v) const {
    return entropy_.sum(v.margins.data(), v.levels, v.cells);
  }

  bool is_ratio() const {
    return settings_.criterion == Criterion::miq || settings_.criterion == Criterion::disr ||
           settings_.criterion == Criterion::njmim;
  }

  bool lazy() const { return settings_.lazy && is_lazy(settings_.criterion); }

  void relevances() {
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      Counter& counter = counters_[static_cast<std::size_t>(worker)];
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        own_[c] = counter.single(c);
        with_y_[c] = counter.joint(c, y_);
        relevance_[c] = std::max<std::int64_t>(0, total_ - own_[c] - y_sum_ + with_y_[c]);
      }
      n_terms_[chunk] += end_of(chunk) - chunk * chunk_size;
    });
    const std::int64_t start = settings_.criterion == Criterion::jmim
                                   ? std::numeric_limits<std::int64_t>::max()
                                   : 0;
    for (std::size_t c = 0; c < table_.p(); ++c) {
      state_[c] = settings_.criterion == Criterion::cmim ? relevance_[c] : start;
      ratio_[c] = settings_.criterion == Criterion::njmim ? 1.0 : 0.0;
    }
  }

  std::size_t end_of(std::size_t chunk) const {
    return std::min(table_.p(), (chunk + 1) * chunk_size);
  }

  void choose(std::size_t feature) {
    if (settings_.criterion == Criterion::mim) {
      ++n_chosen_;
      return;
    }
    if (!lazy() && settings_.criterion != Criterion::jmi3) chosen_.clear();  // only the newest
    Chosen c;
    c.alone = table_.variable(feature);
    c.alone.cells = table_.levels(feature);
    c.alone_sum = sum_of(c.alone);
    if (uses_target(settings_.criterion)) {
      c.with_target = combine(c.alone, y_, table_.n());
      c.with_target_sum = sum_of(c.with_target);
    }
    if (settings_.criterion == Criterion::jmi3) {
      triples_.clear();
      for (const Chosen& earlier : chosen_) {
        Chosen t;
        t.alone = combine(c.alone, earlier.alone, table_.n());
        t.alone_sum = sum_of(t.alone);
        t.with_target = combine(c.alone, earlier.with_target, table_.n());
        t.with_target_sum = sum_of(t.with_target);
        triples_.push_back(std::move(t));
      }
      if (n_chosen_ == 1) std::fill(ratio_.begin(), ratio_.end(), 0.0);  // jmi's of the second
    }
    chosen_.push_back(std::move(c));
    ++n_chosen_;
  }

  // One more term of candidate c.
  void add(std::size_t c, const Chosen& s, Counter& counter) {
    const std::int64_t zero = 0;
    const std::int64_t pair = counter.joint(c, s.alone);
    const std::int64_t all = uses_target(settings_.criterion) ? counter.joint(c, s.with_target) : 0;
    const std::int64_t redundancy = std::max(zero, total_ - own_[c] - s.alone_sum + pair);
    switch (settings_.criterion) {
      case Criterion::mifs:
      case Criterion::mid:
      case Criterion::miq: state_[c] += redundancy; break;
      case Criterion::cife:
      case Criterion::icap: {
        const std::int64_t given_y =
            std::max(zero, all + y_sum_ - with_y_[c] - s.with_target_sum);
        const std::int64_t excess = redundancy - given_y;
        state_[c] += settings_.criterion == Criterion::icap ? std::max(zero, excess) : excess;
        break;
      }
      case Criterion::cmim:
        state_[c] = std::min(
            state_[c], std::max(zero, all + s.alone_sum - pair - s.with_target_sum));
        break;
      default: {
        const std::int64_t joint = std::max(zero, total_ - pair - y_sum_ + all);
        const std::int64_t spread = total_ - all;
        const double ratio =
            spread > 0 ? static_cast<double>(joint) / static_cast<double>(spread) : 0.0;
        if (settings_.criterion == Criterion::jmim) {
          state_[c] = std::min(state_[c], joint);
        } else if (settings_.criterion == Criterion::njmim) {
          ratio_[c] = std::min(ratio_[c], ratio);
        } else if (settings_.criterion == Criterion::jmi3) {
          ratio_[c] += static_cast<double>(joint);  // pairs may be more than int64 can add
        } else {
          state_[c] += joint;
          ratio_[c] += std::rint(ratio * ratio_steps) / ratio_steps;  // any order, the same sum
        }
      }
    }
  }

  // The criterion from the terms that c has so far; a bound from above if some are missing.
  double value(std::size_t c) const {
    const double relevance = static_cast<double>(relevance_[c]);
    if (n_chosen_ == 0) return relevance;
    const double state = static_cast<double>(state_[c]), k = static_cast<double>(n_chosen_);
    switch (settings_.criterion) {
      case Criterion::mim: return relevance;
      case Criterion::mifs: return relevance - settings_.beta * state;
      case Criterion::mid:  // one division, after all that is exact: ties stay ties
        return static_cast<double>(static_cast<std::int64_t>(n_chosen_) * relevance_[c] -
                                   state_[c]) / k;
      case Criterion::miq:  // 0 / 0 is not the lesser
        return std::min(relevance * entropy_.unit() / least_redundancy, k * relevance / state);
      case Criterion::cife:
      case Criterion::icap: return relevance - state;
      case Criterion::disr:
      case Criterion::njmim:
      case Criterion::jmi3: return ratio_[c];
      default: return state;
    }
  }

  void finish(std::size_t c, Counter& counter) {
    while (done_[c] < n_chosen_) add(c, chosen_[done_[c]++], counter);
  }

  Best step() {
    const bool settled = n_chosen_ == 0 || settings_.criterion == Criterion::mim;
    Best best;
    if (settled || !lazy()) {
      sweep([&](std::size_t chunk, Counter& counter) {
        for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
          if (taken_[c]) continue;
          if (!settled) bring_up(c, counter, chunk);
          offer(chunk, c);
        }
      });
      for (const Best& one : best_) best.offer(one);
      return best;
    }
    // The most promising of each chunk first, to know what is to be beaten.
    std::vector<double>& bounds = bounds_;
    bounds.resize(table_.p());
    std::vector<double> highest(n_chunks_, -std::numeric_limits<double>::infinity());
    sweep([&](std::size_t chunk, Counter& counter) {
      std::size_t top = npos;
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        if (taken_[c]) continue;
        bounds[c] = value(c);
        if (top == npos || bounds[c] > bounds[top]) top = c;
      }
      if (top == npos) return;
      highest[chunk] = bounds[top];
      n_terms_[chunk] += n_chosen_ - done_[top];
      finish(top, counter);
      offer(chunk, top);
    });
    for (const Best& one : best_) best.offer(one);
    const Best lead = best;
    sweep([&](std::size_t chunk, Counter& counter) {
      if (highest[chunk] < lead.score) return;
      best_[chunk] = lead;
      for (std::size_t c = chunk * chunk_size; c < end_of(chunk); ++c) {
        if (taken_[c] || !best_[chunk].yields(bounds[c], c)) continue;
        double bound = value(c);
        while (done_[c] < n_chosen_ && best_[chunk].yields(bound, c)) {
          add(c, chosen_[done_[c]++], counter);
          ++n_terms_[chunk];
          bound = value(c);
        }
        if (done_[c] == n_chosen_) best_[chunk].offer({bound, c});
      }
    });
    for (const Best& one : best_) best.offer(one);
    return best;
  }

  // The newest terms of c, where all candidates take part in every step.
  void bring_up(std::size_t c, Counter& counter, std::size_t chunk) {
    if (settings_.criterion == Criterion::jmi3 && n_chosen_ > 1) {
      for (const Chosen& pair : triples_) add(c, pair, counter);
      n_terms_[chunk] += triples_.size();
      return;
    }
    add(c, chosen_.back(), counter);
    ++n_terms_[chunk];
  }

  void offer(std::size_t chunk, std::size_t c) { best_[chunk].offer({value(c), c}); }

  template <typename Body>
  void sweep(const Body& body) {
    std::fill(best_.begin(), best_.end(), Best{});
    parallel_for_worker(n_chunks_, n_threads_, [&](std::size_t chunk, int worker) {
      body(chunk, counters_[static_cast<std::size_t>(worker)]);
    });
  }

  const DiscreteTable& table_;
  const Variable& y_;
  const EntropyTable& entropy_;
  const GreedySettings& settings_;
  int n_threads_;
  std::size_t n_chunks_, n_chosen_ = 0;
  std::int64_t total_, y_sum_;
  std::vector<std::int64_t> own_, with_y_, relevance_, state_;
  std::vector<double> ratio_, bounds_;
  std::vector<std::uint32_t> done_;
  std::vector<std::uint8_t> taken_;
  std::vector<Chosen> chosen_, triples_;
  std::vector<Counter> counters_;
  std::vector<Best> best_;
  std::vector<std::uint64_t> n_terms_;
};

}  // namespace

Criterion criterion_of(const std::string& name) {
  static constexpr const char* names[] = {"mim",  "mifs", "mid",  "miq",  "cife",  "icap",
                                          "cmim", "jmi",  "jmim", "disr", "njmim", "jmi3"};
  for (std::size_t k = 0; k < std::size(names); ++k) {
    if (name == names[k]) return static_cast<Criterion>(k);
  }
  throw std::invalid_argument("no criterion is called " + name);
}

Selection greedy_information(const DiscreteTable& table, const Variable& y,
                             const EntropyTable& entropy, const GreedySettings& settings,
                             int n_threads) {
  return Greedy(table, y, entropy, settings, n_threads).run();
}

}  // namespace bitsieve
