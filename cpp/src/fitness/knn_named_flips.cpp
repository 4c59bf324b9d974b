#include "knn_named_flips.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace named_flips {

constexpr std::size_t most_kept = std::size_t{1} << 26;      // bytes of what masks predict
constexpr std::size_t least_kept = 256;                      // masks a passage of several panels
constexpr std::size_t most_gathered = std::size_t{1} << 23;  // numbers of a flip: 64 MB
constexpr std::size_t tests_at_once = 256;                   // of a call of the kernel

// As MaskFitness::Answer, for KnnVotes.
struct Answer {
  std::int32_t* hits;
  std::int32_t* confusion;
  std::int32_t* classes;
  double* values;
};

}  // namespace named_flips

struct NamedFlips::Scratch {
  Scratch(const Target& target, KnnOptions options) : votes(target, options) {}

  FlipBlock block;
  AlignedVector<float> places;
  std::vector<std::uint16_t> unsure, unordered;
  std::vector<std::int32_t> features;  // of the lane's mask
  std::vector<double> factors;         // and theirs in the call's split
  bool has_lane = false;               // whether both are
  std::vector<double> rows;            // [kept_][n_samples][stride_]
  std::vector<std::uint8_t> has_row;
  std::vector<double> about, sorted;
  std::vector<std::size_t> candidates;
  std::vector<std::pair<double, std::size_t>> found;  // (squared distance, sample), nearest first
  KnnVotes votes;
};

struct NamedFlips::Call {
  const FlipSource& source;
  const FlipPanel& panel;
  const FlipGroup& group;
  std::size_t first, count;  // tests of the panel
  const float* values;       // of all lanes
  std::size_t lane;
  std::size_t feature;  // that flips in this lane
  bool joins;
  std::size_t place;  // of the feature among those of the base
};

bool NamedFlips::fits(const Splits& splits, std::size_t n_neighbors) {
  return n_neighbors <= most_voters &&
         std::all_of(splits.n_train.begin(), splits.n_train.end(), [&](std::int32_t n) {
           return static_cast<std::size_t>(n) >= n_neighbors;
         });
}

NamedFlips::NamedFlips(const TableView& table, const ExactDistance& exact, const Target& target,
                       const TargetSplits& at, const Word* base, std::size_t n_words,
                       KnnOptions options, std::size_t n_values)
    : table_(table),
      exact_(exact),
      target_(target),
      splits_(at.splits),
      base_(base),
      options_(options),
      n_tests_(at.splits.test_samples.size()),
      n_values_(n_values) {
  list_bits(base, n_words, features_);
  stride_ = features_.size() / 8 * 8 + 8;
  const std::size_t of_flip = table.n_samples * stride_;
  kept_ = of_flip * flip_lanes <= named_flips::most_gathered / 8 ? flip_lanes
          : of_flip <= named_flips::most_gathered                ? 1
                                                                 : 0;
  if (kept_ == 0) return;
  rows_.resize(table.n_samples * features_.size());
  for (std::size_t i = 0; i < table.n_samples; ++i) {
    exact.gather(i, features_, rows_.data() + i * features_.size());
  }
}

bool NamedFlips::run(FlipSource& source, const std::int64_t* flips, std::size_t n_masks,
                     int n_threads, std::uint64_t& n_open,
                     FunctionRef<std::size_t, const std::int32_t*, const double*, int> score) {
  const int threads = std::clamp(n_threads, 1, max_threads);
  const std::size_t bytes =
      std::max<std::size_t>(n_tests_ * (n_values_ > 0 ? 8 * n_values_ : 4), 1);
  const std::size_t least = flip_lanes * static_cast<std::size_t>(threads);
  const std::size_t at_once =
      std::max(named_flips::most_kept / bytes, least) / flip_lanes * flip_lanes;
  if (source.n_panels() > 1 && at_once < std::min(named_flips::least_kept, n_masks)) return false;
  std::vector<Scratch> pool(static_cast<std::size_t>(threads), Scratch(target_, options_));
  std::vector<std::uint64_t> open(pool.size(), 0);
  FlipPanel panel;
  for (std::size_t first = 0; first < n_masks; first += at_once) {
    const std::size_t count = std::min(at_once, n_masks - first);
    const std::size_t n_blocks = (count + flip_lanes - 1) / flip_lanes;
    classes_.resize(n_values_ > 0 ? 0 : count * n_tests_);
    values_.resize(count * n_tests_ * n_values_);
    for (std::size_t p = 0; p < source.n_panels(); ++p) {
      if (source.n_panels() > 1 || first == 0) {
        source.make(p, n_threads, panel);
        order_candidates(table_, {}, panel, n_threads, order_);
      }
      parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int w) {
        const std::size_t begin = b * flip_lanes, worker = static_cast<std::size_t>(w);
        open[worker] += block(source, panel, flips + first + begin,
                              std::min(flip_lanes, count - begin), pool[worker], begin);
      });
    }
    parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int w) {
      for (std::size_t m = b * flip_lanes; m < std::min(count, (b + 1) * flip_lanes); ++m) {
        const bool is_empty = features_.size() == 1 && flips[first + m] == features_[0];
        score(first + m, is_empty || n_values_ > 0 ? nullptr : classes_.data() + m * n_tests_,
              is_empty || n_values_ == 0 ? nullptr : values_.data() + m * n_tests_ * n_values_, w);
      }
    });
  }
  n_open += std::accumulate(open.begin(), open.end(), std::uint64_t{0});
  return true;
}

// Up to flip_lanes flips, the first of them mask `first` of those at hand.
std::uint64_t NamedFlips::block(const FlipSource& source, const FlipPanel& panel,
                                const std::int64_t* flips, std::size_t lanes, Scratch& own,
                                std::size_t first) {
  const std::size_t k = options_.n_neighbors;
  own.block.load(table_, base_, flips, lanes);
  own.rows.resize(kept_ * table_.n_samples * stride_);
  own.has_row.assign(kept_ * table_.n_samples, 0);
  std::uint64_t decided = 0;
  for (const FlipGroup& group : panel.groups) {
    const float* values = own.block.values_in(source, group.split);
    for (std::size_t t = 0; t < group.count; t += named_flips::tests_at_once) {
      const std::size_t count = std::min(named_flips::tests_at_once, group.count - t);
      const FlipVotes votes{panel.tests.data() + group.first + t,
                            count,
                            order_.data(),
                            table_.n_samples,
                            splits_.training.data(),
                            splits_.n_words,
                            group.counter,
                            0,
                            1,
                            k,
                            false};
      own.places.resize(count * k * flip_lanes);
      own.unsure.resize(count);
      own.unordered.resize(count);
      kernels().neighbor->flips_places(values, own.block.sign(), group.margin, own.block.spread(),
                                       votes, own.places.data(), own.unsure.data(),
                                       own.unordered.data());
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t f = static_cast<std::size_t>(flips[lane]);
        const std::size_t place = static_cast<std::size_t>(
            std::lower_bound(features_.begin(), features_.end(), static_cast<std::int32_t>(f)) -
            features_.begin());
        decided += decide({source, panel, group, group.first + t, count, values, lane, f,
                           !get_bit(base_, f), place},
                          own, first + lane);
      }
    }
  }
  return decided;
}

// What the tests of a call say under one flip.
std::uint64_t NamedFlips::decide(const Call& call, Scratch& own, std::size_t mask) {
  named_flips::Answer answer{nullptr, nullptr, nullptr, nullptr};
  if (n_values_ > 0) {
    answer.values = values_.data() + mask * n_tests_ * n_values_;
  } else {
    answer.classes = classes_.data() + mask * n_tests_;
  }
  own.has_lane = false;
  own.votes.begin(call.count);
  std::uint64_t decided = 0;
  for (std::size_t t = 0; t < call.count; ++t) {
    const FlipTest& test = call.panel.tests[call.first + t];
    const std::size_t at = call.panel.places[call.first + t];
    if (((own.unsure[t] >> call.lane) & 1u) != 0) {
      ++decided;
      name_exactly(call, t, own);
    } else if (name(call, t, own)) {
      answer.classes[at] = target_.codes[own.found[0].second];
      continue;
    }
    for (const auto& [square, j] : own.found) {
      if (!own.votes.is_open(t)) break;
      own.votes.add(t, j, square);
    }
    const std::size_t split = call.group.counter + static_cast<std::size_t>(test.counter);
    own.votes.write(t, static_cast<std::size_t>(test.sample),
                    {static_cast<std::int32_t>(split), static_cast<std::int64_t>(at)}, answer);
  }
  return decided;
}

// The neighbors that the kernel named, measured where their distances or their order count; true
// where all are of one class and nothing else is wanted.
bool NamedFlips::name(const Call& call, std::size_t t, Scratch& own) const {
  const FlipTest& test = call.panel.tests[call.first + t];
  const std::size_t k = options_.n_neighbors;
  const VoteCandidate* row =
      order_.data() + static_cast<std::size_t>(test.row) * table_.n_samples;
  own.found.clear();
  bool is_one_class = n_values_ == 0;
  for (std::size_t s = 0; s < k; ++s) {
    const std::size_t place =
        static_cast<std::size_t>(own.places[(t * k + s) * flip_lanes + call.lane]);
    own.found.emplace_back(0.0, static_cast<std::size_t>(row[place].sample));
    is_one_class = is_one_class && target_.codes[own.found[s].second] ==
                                       target_.codes[own.found[0].second];
  }
  if (is_one_class) return true;
  const bool is_loose = ((own.unordered[t] >> call.lane) & 1u) != 0;
  if (options_.by_distance || (!target_.is_classes() && is_loose)) {
    measure_found(call, static_cast<std::size_t>(test.sample), own);
  }
  return false;
}

void NamedFlips::measure_found(const Call& call, std::size_t i, Scratch& own) const {
  for (auto& [square, j] : own.found) square = measure(call, i, j, own);
  std::sort(own.found.begin(), own.found.end());
}

// The exact re-check measures whoever may be a neighbor.
void NamedFlips::name_exactly(const Call& call, std::size_t t, Scratch& own) const {
  const FlipTest& test = call.panel.tests[call.first + t];
  const std::size_t i = static_cast<std::size_t>(test.sample);
  const std::size_t split = call.group.counter + static_cast<std::size_t>(test.counter);
  const float* distances =
      call.panel.distances.data() + static_cast<std::size_t>(test.row) * table_.ld;
  const double value = static_cast<double>(call.values[i * flip_lanes + call.lane]);
  const double sign = call.joins ? 1 : -1;
  own.about.clear();
  own.candidates.clear();
  bool finite = true;
  for (std::size_t j = 0; j < table_.n_samples; ++j) {
    if (!get_bit(splits_.training.data() + j * splits_.n_words, split)) continue;
    const double d = value - static_cast<double>(call.values[j * flip_lanes + call.lane]);
    own.about.push_back(static_cast<double>(distances[j]) + sign * d * d);
    own.candidates.push_back(j);
    finite = finite && std::isfinite(own.about.back());
  }
  const std::size_t k = options_.n_neighbors;
  double reach = std::numeric_limits<double>::infinity();
  if (finite) {
    reach = reach_of_nearest(own.about, k, value,
                             widest_in(call.source, table_, call.feature, call.group.split),
                             static_cast<double>(call.group.margin[i]), own.sorted);
  }
  own.found.clear();
  for (std::size_t c = 0; c < own.about.size(); ++c) {
    if (!(own.about[c] > reach)) own.found.emplace_back(0.0, own.candidates[c]);
  }
  measure_found(call, i, own);
  own.found.resize(k);
}

// What measure() needs of the lane's flip and the call's split.
void NamedFlips::begin_lane(const Call& call, Scratch& own) const {
  own.features = features_;
  const auto place = own.features.begin() + static_cast<std::ptrdiff_t>(call.place);
  if (call.joins) {
    own.features.insert(place, static_cast<std::int32_t>(call.feature));
  } else {
    own.features.erase(place);
  }
  own.factors.clear();
  if (call.source.is_scaled()) {
    call.source.exact_factors(own.features, call.group.split, own.factors);
    own.factors.resize(std::max(stride_, own.factors.size()), 0.0);
  }
  if (kept_ == 1) own.has_row.assign(table_.n_samples, 0);
  own.has_lane = true;
}

// The values of a sample under the lane's flip.
const double* NamedFlips::row_of(const Call& call, std::size_t i, Scratch& own) const {
  const std::size_t at = (kept_ == 1 ? 0 : call.lane) * table_.n_samples + i;
  double* row = own.rows.data() + at * stride_;
  if (own.has_row[at] != 0) return row;
  own.has_row[at] = 1;
  const std::size_t m = features_.size();
  const double* base = rows_.data() + i * m;
  double* end = std::copy(base, base + call.place, row);
  if (call.joins) *end++ = exact_.value(i, call.feature);
  end = std::copy(base + call.place + (call.joins ? 0 : 1), base + m, end);
  std::fill(end, row + stride_, 0.0);
  return row;
}

double NamedFlips::measure(const Call& call, std::size_t i, std::size_t j, Scratch& own) const {
  if (!own.has_lane) begin_lane(call, own);
  const double* factors = call.source.is_scaled() ? own.factors.data() : nullptr;
  if (kept_ > 0) {
    const double* a = row_of(call, i, own);
    return kernels().neighbor->squared_distance(a, row_of(call, j, own), factors, stride_);
  }
  return factors == nullptr ? exact_.distance(i, j, own.features)
                            : exact_.distance(i, j, own.features, factors);
}

}  // namespace bitsieve
