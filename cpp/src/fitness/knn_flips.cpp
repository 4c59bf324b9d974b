#include "knn_flips.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/fitness/gram_planner.hpp"

namespace bitsieve {
namespace knn_flips {

constexpr std::size_t most_candidates = 40000000;            // of a layout: 160 MB
constexpr std::size_t most_hits = std::size_t{1} << 24;      // kept at once: 64 MB
constexpr double scaled_spread = 1.5;  // two more roundings of a scaled value than of one as it is

}  // namespace knn_flips

bool FlipLayout::fits(const Splits& splits) {
  std::size_t candidates = 0;
  for (const std::int32_t n : splits.n_train) candidates += 2 * static_cast<std::size_t>(n);
  return candidates <= knn_flips::most_candidates;
}

bool counts_flips(const Splits& splits, const Target& target, const Scorer& scorer,
                  std::size_t k) {
  if (k > most_voters || !FlipLayout::fits(splits)) return false;
  if (k > 1 && !is_of_classes(scorer.score().metric)) return false;
  return (k == 1 && scorer.takes_hits()) || target.n_classes <= flip_classes;
}

FlipLayout::FlipLayout(const Splits& splits) : n_classes(1) {
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (std::int64_t t = splits.test_begin[s]; t < splits.test_begin[s + 1]; ++t) {
      const std::int32_t i = splits.test_samples[static_cast<std::size_t>(t)];
      tests.push_back({i, i, static_cast<std::int32_t>(s), 0, 0, 0, 0});
    }
  }
}

FlipLayout::FlipLayout(const Splits& splits, const Target& target) : n_classes(target.n_classes) {
  const std::int32_t* codes = target.codes.data();
  const std::size_t n = target.codes.size();
  std::vector<std::int32_t> begin(n_classes * 2 + 1);
  n_words = (n + 63) / 64;
  training.assign(splits.n_splits * n_words, 0);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    for (std::size_t j = 0; j < n; ++j) {
      if (get_bit(splits.training.data() + j * splits.n_words, s)) {
        set_bit(training.data() + s * n_words, j);
      }
    }
    std::size_t k = 0;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t c = 0; c < n_classes; ++c) {
        begin[k++] = static_cast<std::int32_t>(candidates.size());
        for (std::size_t j = 0; j < n; ++j) {
          if (codes[j] == static_cast<std::int32_t>(c) &&
              get_bit(splits.training.data() + j * splits.n_words, s)) {
            candidates.push_back(static_cast<std::int32_t>(j));
          }
        }
      }
    }
    begin[k] = static_cast<std::int32_t>(candidates.size());
    class_begin.insert(class_begin.end(), begin.begin(),
                       begin.begin() + static_cast<std::ptrdiff_t>(n_classes + 1));
    for (std::int64_t t = splits.test_begin[s]; t < splits.test_begin[s + 1]; ++t) {
      const std::int32_t i = splits.test_samples[static_cast<std::size_t>(t)];
      const std::size_t c = static_cast<std::size_t>(codes[i]);
      const std::int32_t counter = static_cast<std::int32_t>(s * n_classes + c);
      tests.push_back({i, i, counter, begin[c], begin[c + 1], begin[c + 1], begin[c + n_classes]});
    }
  }
}

void FlipBlock::load(const TableView& table, const Word* base, const std::int64_t* flips,
                     std::size_t lanes) {
  flips_ = flips;
  lanes_ = lanes;
  std::fill(sign_, sign_ + flip_lanes, 0.0f);
  std::fill(spread_, spread_ + flip_lanes, 0.0f);
  std::fill(factors_, factors_ + flip_lanes, 0.0f);
  values_.resize(table.ld * flip_lanes);
  const float* rows[flip_lanes];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::size_t f = static_cast<std::size_t>(flips[lane]);
    rows[lane] = table.row(f);
    sign_[lane] = get_bit(base, f) ? -1.0f : 1.0f;
    widest_[lane] = table.max_abs[f];
    spread_[lane] = static_cast<float>(widest_[lane]);
  }
  // Lanes beyond are copies, and nobody reads what comes of them.
  std::fill(rows + lanes, rows + flip_lanes, rows[0]);
  kernels().neighbor->side_by_side(rows, table.ld, values_.data());
}

const float* FlipBlock::values_in(const FlipSource& source, std::size_t split) {
  if (!source.is_scaled()) return values_.data();
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    const double factor = source.factor(static_cast<std::size_t>(flips_[lane]), split);
    factors_[lane] = static_cast<float>(factor);
    spread_[lane] = static_cast<float>(widest_[lane] * factor * knn_flips::scaled_spread);
  }
  scaled_.resize(values_.size());
  for (std::size_t j = 0; j < values_.size(); j += flip_lanes) {
    for (std::size_t lane = 0; lane < flip_lanes; ++lane) {
      scaled_[j + lane] = values_[j + lane] * factors_[lane];
    }
  }
  return scaled_.data();
}

double widest_in(const FlipSource& source, const TableView& table, std::size_t feature,
                 std::size_t split) {
  if (!source.is_scaled()) return table.max_abs[feature];
  return table.max_abs[feature] * source.factor(feature, split) * knn_flips::scaled_spread;
}

double reach_of_nearest(const std::vector<double>& about, std::size_t k, double own, double widest,
                        double margin, std::vector<double>& scratch) {
  double last;
  if (k == 1) {
    last = *std::min_element(about.begin(), about.end());
  } else {
    scratch.assign(about.begin(), about.end());
    std::nth_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(k - 1),
                     scratch.end());
    last = scratch[k - 1];
  }
  const double reach = std::abs(own) + widest;
  return last + 4 * (margin + float_share * reach * reach + float_share * std::abs(last));
}

FlipPass::FlipPass(const TableView& table, const Target& target, const TargetSplits& at,
                   const Scorer& scorer, const FlipLayout& layout, const Word* base,
                   std::size_t n_words, std::size_t n_neighbors)
    : table_(table),
      target_(target),
      at_(at),
      splits_(at.splits),
      scorer_(scorer),
      layout_(layout),
      base_(base),
      hits_only_(scorer.takes_hits()),
      n_neighbors_(n_neighbors),
      n_classes_(target.n_classes),
      width_(hits_only_ ? 1 : n_classes_),
      n_counters_(splits_.n_splits * n_classes_ * width_) {
  list_bits(base, n_words, base_features_);
}

namespace knn_flips {

// Tests of a split and a class side by side: a kernel then reads their candidates together.
static void group_by_counter(FlipPanel& panel) {
  panel.places.clear();
  for (const FlipGroup& group : panel.groups) {
    const auto begin = panel.tests.begin() + static_cast<std::ptrdiff_t>(group.first);
    std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(group.count),
                     [](const FlipTest& a, const FlipTest& b) { return a.counter < b.counter; });
  }
}

}  // namespace knn_flips

std::uint64_t FlipPass::run(FlipSource& source, const std::int64_t* flips, std::size_t n_masks,
                            int n_threads, double* scores, FunctionRef<double*> score_empty) {
  std::vector<FlipScratch> pool(static_cast<std::size_t>(std::clamp(n_threads, 1, max_threads)));
  FlipPanel panel;
  // Hits of many flips are kept while the panels pass.
  const std::size_t at_once =
      std::max<std::size_t>(knn_flips::most_hits / n_counters_, 1024) / flip_lanes * flip_lanes;
  std::vector<std::uint64_t> open(pool.size(), 0);
  for (std::size_t first = 0; first < n_masks; first += at_once) {
    const std::size_t count = std::min(at_once, n_masks - first);
    const std::size_t n_blocks = (count + flip_lanes - 1) / flip_lanes;
    hits_.assign(n_blocks * flip_lanes * n_counters_, 0);
    for (std::size_t p = 0; p < source.n_panels(); ++p) {
      source.make(p, n_threads, panel);
      if (n_neighbors_ == 1) knn_flips::group_by_counter(panel);
      if (n_neighbors_ > 1) order_candidates(table_, target_.codes, panel, n_threads, order_);
      parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int w) {
        const std::size_t begin = b * flip_lanes, worker = static_cast<std::size_t>(w);
        open[worker] +=
            block(source, panel, flips + first + begin, std::min(flip_lanes, count - begin),
                  pool[worker], hits_.data() + begin * n_counters_);
      });
    }
    const auto is_empty = [&](std::size_t m) {
      return base_features_.size() == 1 && flips[first + m] == base_features_[0];
    };
    parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int w) {
      ScoreScratch& scratch = pool[static_cast<std::size_t>(w)].scores;
      for (std::size_t m = b * flip_lanes; m < std::min(count, (b + 1) * flip_lanes); ++m) {
        if (is_empty(m)) continue;
        const std::int32_t* counts = hits_.data() + m * n_counters_;
        double* out = scores + (first + m) * splits_.n_splits;
        if (hits_only_) {
          scorer_.of_hits(at_, counts, scratch, out);
        } else {
          scorer_.of_confusion(at_, counts, scratch, out);
        }
      }
    });
    for (std::size_t m = 0; m < count; ++m) {
      if (is_empty(m)) score_empty(scores + (first + m) * splits_.n_splits);
    }
  }
  return std::accumulate(open.begin(), open.end(), std::uint64_t{0});
}

void order_candidates(const TableView& table, const std::vector<std::int32_t>& codes,
                      const FlipPanel& panel, int n_threads, std::vector<VoteCandidate>& out) {
  const std::size_t n = table.n_samples;
  out.resize(panel.n_rows * n);
  parallel_for(panel.n_rows, n_threads, [&](std::size_t r) {
    const float* distances = panel.distances.data() + r * table.ld;
    VoteCandidate* row = out.data() + r * n;
    for (std::size_t j = 0; j < n; ++j) {
      row[j] = {distances[j], static_cast<std::int32_t>(j),
                codes.empty() ? 0u : static_cast<std::uint32_t>(codes[j])};
    }
    // A row that float32 cannot hold is NaN as a whole, and left in any order.
    if (std::isnan(distances[0])) return;
    std::sort(row, row + n, [](const VoteCandidate& a, const VoteCandidate& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.sample < b.sample;
    });
  });
}

void FlipPass::count_group(const FlipPanel& panel, const FlipGroup& group, const float* values,
                           const float* sign, const float* spread, FlipScratch& worker) const {
  if (n_neighbors_ > 1) {
    const FlipVotes votes{panel.tests.data() + group.first,
                          group.count,
                          order_.data(),
                          table_.n_samples,
                          splits_.training.data(),
                          splits_.n_words,
                          group.counter / n_classes_,
                          group.n_counters * width_,
                          n_classes_,
                          n_neighbors_,
                          hits_only_};
    kernels().neighbor->flips_votes(values, sign, group.margin, spread, votes,
                                    worker.counts.data(), worker.unsure.data());
    return;
  }
  const FlipTests tests{panel.tests.data() + group.first, group.count, layout_.candidates.data(),
                        group.n_counters * width_,        group.class_begin, n_classes_};
  const auto count = hits_only_ ? kernels().flips_nearest : kernels().flips_class;
  count(values, panel.distances.data(), table_.ld, sign, group.margin, spread, tests,
        worker.counts.data(), worker.unsure.data());
}

// Up to flip_lanes flips; returns as run().
std::uint64_t FlipPass::block(const FlipSource& source, const FlipPanel& panel,
                              const std::int64_t* flips, std::size_t lanes, FlipScratch& worker,
                              std::int32_t* hits) const {
  if (n_neighbors_ == 1 && base_features_.empty()) {
    single(source, panel, flips, lanes, worker, hits);
    return 0;
  }
  worker.block.load(table_, base_, flips, lanes);
  const float* sign = worker.block.sign();
  std::uint64_t decided = 0;
  for (const FlipGroup& group : panel.groups) {
    const float* values = worker.block.values_in(source, group.split);
    worker.counts.resize(group.n_counters * width_ * flip_lanes);
    worker.unsure.resize(group.count);
    count_group(panel, group, values, sign, worker.block.spread(), worker);
    for (std::size_t t = 0; t < group.count; ++t) {
      unsigned open = worker.unsure[t] & ((1u << lanes) - 1u);
      for (; open != 0; open &= open - 1) {
        const std::size_t lane = static_cast<std::size_t>(std::countr_zero(open));
        const std::size_t f = static_cast<std::size_t>(flips[lane]);
        const FlipTest& test = panel.tests[group.first + t];
        ++decided;
        const std::size_t found =
            recheck(source, panel, group, test, f, values, lane, sign[lane], worker);
        const std::size_t counter = static_cast<std::size_t>(test.counter);
        if (!hits_only_ && found < n_classes_) {
          ++worker.counts[(counter * n_classes_ + found) * flip_lanes + lane];
        } else if (hits_only_ && found == counter % n_classes_) {
          ++worker.counts[counter * flip_lanes + lane];
        }
      }
    }
    add_counts(group, lanes, worker, hits);
  }
  return decided;
}

void FlipPass::add_counts(const FlipGroup& group, std::size_t lanes, const FlipScratch& worker,
                          std::int32_t* hits) const {
  const std::size_t n_counts = group.n_counters * width_;
  std::int32_t* out = hits + group.counter * width_;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t c = 0; c < n_counts; ++c) {
      out[lane * n_counters_ + c] += worker.counts[c * flip_lanes + lane];
    }
  }
}

// The flips of an empty base, for one neighbor: between values of one feature distances are so often
// alike that float32 would leave a third of them open.
void FlipPass::single(const FlipSource& source, const FlipPanel& panel, const std::int64_t* flips,
                      std::size_t lanes, FlipScratch& worker, std::int32_t* hits) const {
  const ExactDistance& exact = source.exact();
  const std::size_t ld = layout_.n_words * 64;
  worker.exact.resize(2 * ld * flip_lanes);
  double* rows = worker.exact.data() + ld * flip_lanes;  // feature by feature
  for (std::size_t j = 0; j < table_.n_samples; ++j) {
    double* out = worker.exact.data() + j * flip_lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      rows[lane * ld + j] = out[lane] = exact.value(j, static_cast<std::size_t>(flips[lane]));
    }
  }
  alignas(cache_line) double factors[flip_lanes] = {};
  for (const FlipGroup& group : panel.groups) {
    if (source.is_scaled()) {
      worker.features.assign(flips, flips + lanes);
      worker.factors.clear();
      source.exact_factors(worker.features, group.split, worker.factors);
      std::copy(worker.factors.begin(), worker.factors.end(), factors);
    }
    worker.counts.resize(group.n_counters * width_ * flip_lanes);
    const FlipTests tests{panel.tests.data() + group.first, group.count, layout_.candidates.data(),
                          group.n_counters * width_,        group.class_begin, n_classes_};
    const SingleFeatures of{worker.exact.data(),
                            rows,
                            ld,
                            source.is_scaled() ? factors : nullptr,
                            target_.codes.data(),
                            layout_.training.data() + group.counter / n_classes_ * layout_.n_words};
    kernels().neighbor->single_features(of, tests, hits_only_, worker.counts.data());
    add_counts(group, lanes, worker, hits);
  }
}

// The class that the nearest neighbors vote for: the exact re-check measures whoever may be one.
std::size_t FlipPass::recheck(const FlipSource& source, const FlipPanel& panel,
                              const FlipGroup& group, const FlipTest& test, std::size_t flip,
                              const float* values, std::size_t lane, float sign,
                              FlipScratch& worker) const {
  const std::size_t i = static_cast<std::size_t>(test.sample);
  const float* distances = panel.distances.data() + static_cast<std::size_t>(test.row) * table_.ld;
  const double own = static_cast<double>(values[i * flip_lanes + lane]);
  worker.approximate.clear();
  const auto for_candidates = [&](auto&& body) {
    for (std::int32_t c = test.same_begin; c < test.same_end; ++c) {
      body(static_cast<std::size_t>(layout_.candidates[static_cast<std::size_t>(c)]));
    }
    for (std::int32_t c = test.other_begin; c < test.other_end; ++c) {
      body(static_cast<std::size_t>(layout_.candidates[static_cast<std::size_t>(c)]));
    }
  };
  bool finite = true;
  for_candidates([&](std::size_t j) {
    const double d = own - static_cast<double>(values[j * flip_lanes + lane]);
    const double about = static_cast<double>(distances[j]) + static_cast<double>(sign) * d * d;
    finite = finite && std::isfinite(about);
    worker.approximate.push_back(about);
  });
  const std::size_t k = std::min(n_neighbors_, worker.approximate.size());
  if (k == 0) return n_classes_;
  double reach_of_all = std::numeric_limits<double>::infinity();
  if (finite) {
    reach_of_all = reach_of_nearest(worker.approximate, k, own,
                                    widest_in(source, table_, flip, group.split),
                                    static_cast<double>(group.margin[i]), worker.factors);
  }

  worker.features = base_features_;
  const std::int32_t f = static_cast<std::int32_t>(flip);
  const auto place = std::lower_bound(worker.features.begin(), worker.features.end(), f);
  if (sign > 0) {
    worker.features.insert(place, f);
  } else {
    worker.features.erase(place);
  }
  worker.factors.clear();  // of this mask: the source fills them where it needs any
  worker.found.clear();
  std::size_t c = 0;
  for_candidates([&](std::size_t j) {
    if (!(worker.approximate[c++] > reach_of_all)) {
      worker.found.emplace_back(source.distance(i, j, group.split, worker), j);
    }
  });
  std::partial_sort(worker.found.begin(), worker.found.begin() + static_cast<std::ptrdiff_t>(k),
                    worker.found.end());
  worker.votes.assign(n_classes_, 0);
  for (std::size_t v = 0; v < k; ++v) {
    ++worker.votes[static_cast<std::size_t>(target_.codes[worker.found[v].second])];
  }
  // The first of equals: a tied vote goes to the lowest class.
  return static_cast<std::size_t>(std::max_element(worker.votes.begin(), worker.votes.end()) -
                                  worker.votes.begin());
}

}  // namespace bitsieve
