// Neighborhoods of one mask: all p one-flip neighbors in one pass over the table.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/parallel.hpp"
#include "knn_worker.hpp"

namespace bitsieve {

// Tests and candidates in the kernel's layout: for each split its training samples, grouped by
// class and then once more, so that "all other classes" is one run too.
struct FlipLayout {
  std::vector<FlipTest> tests;
  std::vector<std::int32_t> candidates;
  std::vector<std::int32_t> class_begin;  // [n_splits][n_classes + 1]
};

namespace {

constexpr std::size_t most_candidates = 40000000;  // of a layout: 160 MB

bool fits(const Splits& splits) {
  std::size_t candidates = 0;
  for (const std::int32_t n : splits.n_train) candidates += 2 * static_cast<std::size_t>(n);
  return candidates <= most_candidates;
}

FlipLayout lay_out(const Splits& splits, const std::int32_t* codes, std::size_t n,
                   std::size_t n_classes) {
  FlipLayout out;
  std::vector<std::int32_t> begin(n_classes * 2 + 1);
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    std::size_t k = 0;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t c = 0; c < n_classes; ++c) {
        begin[k++] = static_cast<std::int32_t>(out.candidates.size());
        for (std::size_t j = 0; j < n; ++j) {
          if (codes[j] == static_cast<std::int32_t>(c) &&
              get_bit(splits.training.data() + j * splits.n_words, s)) {
            out.candidates.push_back(static_cast<std::int32_t>(j));
          }
        }
      }
    }
    begin[k] = static_cast<std::int32_t>(out.candidates.size());
    out.class_begin.insert(out.class_begin.end(), begin.begin(),
                           begin.begin() + static_cast<std::ptrdiff_t>(n_classes + 1));
    for (std::int64_t t = splits.test_begin[s]; t < splits.test_begin[s + 1]; ++t) {
      const std::int32_t i = splits.test_samples[static_cast<std::size_t>(t)];
      const std::size_t c = static_cast<std::size_t>(codes[i]);
      const std::int32_t counter = static_cast<std::int32_t>(s * n_classes + c);
      out.tests.push_back(
          {i, i, counter, begin[c], begin[c + 1], begin[c + 1], begin[c + n_classes]});
    }
  }
  return out;
}

}  // namespace

// One pass over the table for one-flip neighbors under 1-NN.
//
// Cost: n^2 / 2 products a feature of the base, once, and n^2 steps a flip; of n rows where the
// state has their matrix, else of a panel of rows at a time, for any number of samples.
class KnnFitness::Flips {
 public:
  // The state of the planner must stand at the base mask where `from_state` says so.
  Flips(KnnFitness& fitness, const Word* base, const TargetSplits& at, const Scorer& scorer,
        bool from_state)
      : fitness_(fitness),
        table_(fitness.table().view()),
        base_(base),
        at_(at),
        splits_(at.splits),
        scorer_(scorer),
        from_state_(from_state),
        hits_only_(scorer.takes_hits()),
        n_classes_(fitness.target().n_classes),
        codes_(fitness.target().codes.data()),
        layout_(lay_out(splits_, codes_, table_.n_samples, n_classes_)),
        n_counters_(splits_.n_splits * n_classes_ * (hits_only_ ? 1 : n_classes_)),
        squares_(table_.ld, 0.0),
        margin_(table_.n_samples) {
    list_bits(base, fitness.n_words(), base_features_);
    const double n_products = static_cast<double>(base_features_.size());
    double share = float_share, floor = (n_products + 1) * underflow;
    if (from_state) {
      const FixedGram& gram = fitness.planner_.state().gram();
      for (std::size_t i = 0; i < table_.n_samples; ++i) {
        squares_[i] = static_cast<double>(gram.at(i, i)) * gram.unit();
      }
      floor += n_products * 2 * gram.unit();
    } else {
      for (const std::int32_t f : base_features_) {
        const float* row = table_.row(static_cast<std::size_t>(f));
        for (std::size_t i = 0; i < table_.n_samples; ++i) {
          squares_[i] += static_cast<double>(row[i]) * row[i];
        }
      }
      share += gram_error(base_features_.size());
    }
    std::vector<double> roots(table_.n_samples);
    double farthest = 0;
    for (std::size_t i = 0; i < table_.n_samples; ++i) {
      roots[i] = std::sqrt(share * squares_[i] + floor);
      farthest = std::max(farthest, roots[i]);
    }
    for (std::size_t i = 0; i < table_.n_samples; ++i) {
      const double reach = roots[i] + farthest;
      margin_[i] = static_cast<float>(reach * reach * 1.001 + underflow);
    }
  }

  // Returns how many (test, flip) pairs the exact re-check had to decide.
  std::uint64_t run(const std::int64_t* flips, std::size_t n_masks, int n_threads,
                    double* scores) {
    auto& pool = fitness_.workers(n_threads);
    const std::size_t panel_rows = from_state_ ? table_.ld : std::min(table_.ld, most_rows);
    distances_.resize(panel_rows * table_.ld);
    if (from_state_) copy_distances();
    // Hits of many flips are kept while the panels pass.
    const std::size_t at_once =
        std::max<std::size_t>(most_hits / n_counters_, 1024) / flip_lanes * flip_lanes;
    std::vector<std::uint64_t> open(pool.size(), 0);
    for (std::size_t first = 0; first < n_masks; first += at_once) {
      const std::size_t count = std::min(at_once, n_masks - first);
      const std::size_t n_blocks = (count + flip_lanes - 1) / flip_lanes;
      hits_.assign(n_blocks * flip_lanes * n_counters_, 0);
      for (std::size_t row = 0; row < table_.n_samples; row += panel_rows) {
        if (!from_state_) make_distances(row, std::min(row + panel_rows, table_.ld), n_threads);
        gather_tests(row, row + panel_rows);
        parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int w) {
          const std::size_t begin = b * flip_lanes;
          const std::size_t worker = static_cast<std::size_t>(w);
          open[worker] += block(flips + first + begin, std::min(flip_lanes, count - begin),
                                static_cast<Finder&>(*pool[worker]),
                                hits_.data() + begin * n_counters_);
        });
      }
      parallel_for_worker(n_blocks, n_threads, [&](std::size_t b, int w) {
        Worker& worker = *pool[static_cast<std::size_t>(w)];
        for (std::size_t m = b * flip_lanes; m < std::min(count, (b + 1) * flip_lanes); ++m) {
          double* out = scores + (first + m) * splits_.n_splits;
          if (base_features_.size() == 1 && flips[first + m] == base_features_[0]) {
            fitness_.score_empty(at_, scorer_, worker, out);
          } else {
            score(hits_.data() + m * n_counters_, worker, out);
          }
        }
      });
    }
    return std::accumulate(open.begin(), open.end(), std::uint64_t{0});
  }

 private:
  static constexpr std::size_t most_rows = 128;                    // of a panel
  static constexpr std::size_t most_hits = std::size_t{1} << 24;  // kept at once: 64 MB

  void score(const std::int32_t* counts, Worker& worker, double* out) const {
    if (hits_only_) {
      scorer_.of_hits(at_, counts, worker.scratch, out);
      return;
    }
    scorer_.of_confusion(at_, counts, worker.scratch, out);
  }

  // Exact in the state's units, rounded once.
  void copy_distances() {
    const FixedGram& gram = fitness_.planner_.state().gram();
    for (std::size_t i = 0; i < table_.n_samples; ++i) {
      for (std::size_t j = 0; j < table_.n_samples; ++j) {
        const std::int64_t distance = gram.at(i, i) + gram.at(j, j) - 2 * gram.at(i, j);
        distances_[i * table_.ld + j] =
            static_cast<float>(static_cast<double>(distance) * gram.unit());
      }
    }
  }

  // Rows [begin, end), 16 to a task, in float32.
  void make_distances(std::size_t begin, std::size_t end, int n_threads) {
    products_.resize(distances_.size());
    partial_.resize(distances_.size());
    parallel_for((end - begin) / 16, n_threads, [&](std::size_t k) {
      const std::size_t first = begin + k * 16, offset = k * 16 * table_.ld;
      float_gram(table_, base_features_, {}, {first, first + 16, 0, table_.ld, false},
                 products_.data() + offset, partial_.data() + offset);
      for (std::size_t i = first; i < first + 16; ++i) {
        const float* products = products_.data() + (i - begin) * table_.ld;
        float* distances = distances_.data() + (i - begin) * table_.ld;
        for (std::size_t j = 0; j < table_.ld; ++j) {
          const double distance = squares_[i] + squares_[j] - 2 * static_cast<double>(products[j]);
          distances[j] = static_cast<float>(std::max(distance, 0.0));
        }
      }
    });
  }

  // The tests of the samples [begin, end).
  void gather_tests(std::size_t begin, std::size_t end) {
    tests_.clear();
    for (FlipTest test : layout_.tests) {
      const std::size_t i = static_cast<std::size_t>(test.sample);
      if (i < begin || i >= end) continue;
      test.row = static_cast<std::int32_t>(i - begin);
      tests_.push_back(test);
    }
  }

  // Up to flip_lanes flips; returns as run().
  std::uint64_t block(const std::int64_t* flips, std::size_t lanes, Finder& worker,
                      std::int32_t* hits) const {
    alignas(cache_line) float sign[flip_lanes] = {};
    alignas(cache_line) float spread[flip_lanes] = {};
    worker.values.assign(table_.n_samples * flip_lanes, 0.0f);
    worker.correct.resize(n_counters_ * flip_lanes);
    worker.unsure.resize(tests_.size());
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t f = static_cast<std::size_t>(flips[lane]);
      const float* row = table_.row(f);
      for (std::size_t j = 0; j < table_.n_samples; ++j) {
        worker.values[j * flip_lanes + lane] = row[j];
      }
      sign[lane] = get_bit(base_, f) ? -1.0f : 1.0f;
      spread[lane] = static_cast<float>(table_.max_abs[f]);
    }
    const FlipTests tests{tests_.data(), tests_.size(),      layout_.candidates.data(),
                          n_counters_,   layout_.class_begin.data(), n_classes_};
    const auto count = hits_only_ ? kernels().flips_nearest : kernels().flips_class;
    count(worker.values.data(), distances_.data(), table_.ld, sign, margin_.data(), spread, tests,
          worker.correct.data(), worker.unsure.data());
    std::uint64_t decided = 0;
    for (std::size_t t = 0; t < tests_.size(); ++t) {
      unsigned open = worker.unsure[t] & ((1u << lanes) - 1u);
      for (; open != 0; open &= open - 1) {
        const std::size_t lane = static_cast<std::size_t>(std::countr_zero(open));
        const std::size_t f = static_cast<std::size_t>(flips[lane]);
        ++decided;
        const std::size_t found = recheck(tests_[t], f, lane, sign[lane], worker);
        const std::size_t counter = static_cast<std::size_t>(tests_[t].counter);
        if (!hits_only_ && found < n_classes_) {
          ++worker.correct[(counter * n_classes_ + found) * flip_lanes + lane];
        } else if (hits_only_ && found == counter % n_classes_) {
          ++worker.correct[counter * flip_lanes + lane];
        }
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      for (std::size_t c = 0; c < n_counters_; ++c) {
        hits[lane * n_counters_ + c] += worker.correct[c * flip_lanes + lane];
      }
    }
    return decided;
  }

  // The class of the nearest neighbor: the exact re-check measures whoever may be it.
  std::size_t recheck(const FlipTest& test, std::size_t flip, std::size_t lane, float sign,
                      Finder& worker) const {
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const float* distances = distances_.data() + static_cast<std::size_t>(test.row) * table_.ld;
    const double own = static_cast<double>(worker.values[i * flip_lanes + lane]);
    const auto approximate = [&](std::size_t j) {
      const double d = own - static_cast<double>(worker.values[j * flip_lanes + lane]);
      return static_cast<double>(distances[j]) + static_cast<double>(sign) * d * d;
    };
    const auto for_candidates = [&](auto&& body) {
      for (std::int32_t c = test.same_begin; c < test.same_end; ++c) {
        body(static_cast<std::size_t>(layout_.candidates[static_cast<std::size_t>(c)]));
      }
      for (std::int32_t c = test.other_begin; c < test.other_end; ++c) {
        body(static_cast<std::size_t>(layout_.candidates[static_cast<std::size_t>(c)]));
      }
    };
    double least = std::numeric_limits<double>::infinity();
    for_candidates([&](std::size_t j) { least = std::min(least, approximate(j)); });
    const double reach = std::abs(own) + table_.max_abs[flip];
    const double bound = static_cast<double>(margin_[i]) + float_share * reach * reach +
                         float_share * std::abs(least);

    worker.features = base_features_;
    const std::int32_t f = static_cast<std::int32_t>(flip);
    const auto place = std::lower_bound(worker.features.begin(), worker.features.end(), f);
    if (sign > 0) {
      worker.features.insert(place, f);
    } else {
      worker.features.erase(place);
    }
    double best = std::numeric_limits<double>::infinity();
    std::size_t nearest = table_.n_samples;
    for_candidates([&](std::size_t j) {
      if (approximate(j) > least + 4 * bound) return;
      const double distance = fitness_.recheck_.distance(i, j, worker.features);
      if (distance < best || (distance == best && j < nearest)) {
        best = distance;
        nearest = j;
      }
    });
    return nearest < table_.n_samples ? static_cast<std::size_t>(codes_[nearest]) : n_classes_;
  }

  KnnFitness& fitness_;
  const TableView& table_;
  const Word* base_;
  TargetSplits at_;
  const Splits& splits_;
  const Scorer& scorer_;
  bool from_state_, hits_only_;
  std::size_t n_classes_;
  const std::int32_t* codes_;
  FlipLayout layout_;
  std::size_t n_counters_;
  std::vector<FlipTest> tests_;      // of the panel
  AlignedVector<float> distances_;   // [rows of the panel][ld] under the base mask
  AlignedVector<float> products_, partial_;
  std::vector<double> squares_;
  std::vector<float> margin_;
  std::vector<std::int32_t> base_features_, hits_;
};

bool KnnFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                    std::size_t n_masks, const TargetSplits& at,
                                    const Scorer& scorer, int n_threads, double* scores,
                                    bool*) {
  if (options_.n_neighbors != 1 || !target().is_classes() || !fits(at.splits)) return false;
  if (!scorer.takes_hits() && target().n_classes > flip_classes) return false;
  const bool from_state = planner_.move_near(base, n_masks, n_threads);
  if (!from_state && planner_.has_matrices()) return false;
  flips_open_ += Flips(*this, base, at, scorer, from_state).run(flips, n_masks, n_threads, scores);
  return true;
}

}  // namespace bitsieve
