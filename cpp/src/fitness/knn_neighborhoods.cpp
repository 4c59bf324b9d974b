// Where the base distances of a neighborhood come from: one matrix for all splits.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "knn_flips.hpp"
#include "knn_named_flips.hpp"
#include "knn_worker.hpp"

namespace bitsieve {

// Cost: n^2 / 2 products a feature of the base, once, and n^2 steps a flip; of n rows where the
// state has their matrix, else of a panel of rows at a time, for any number of samples.
class KnnFitness::BaseDistances : public FlipSource {
 public:
  // The state of the planner must stand at the base mask where `from_state` says so.
  BaseDistances(KnnFitness& fitness, const Word* base, const FlipLayout& layout,
                const Splits& splits, std::size_t k, std::size_t n_flips, bool from_state)
      : fitness_(fitness),
        table_(fitness.table().view()),
        layout_(layout),
        n_counters_(splits.n_splits * layout.n_classes),
        from_state_(from_state),
        squares_(table_.ld, 0.0),
        base_features_(bits_of(base, fitness.n_words())),
        rows_(fitness.recheck_, base_features_, table_.n_samples, n_flips) {
    margin_.assign(table_.n_samples, static_cast<float>(least_margin(k)));
    if (rows_) return;
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
      margin_[i] = static_cast<float>(reach * reach * 1.001 + least_margin(k));
    }
  }

  std::size_t n_panels() const override {
    return from_state_ ? 1 : (table_.n_samples + panel_rows() - 1) / panel_rows();
  }

  void make(std::size_t panel, int n_threads, FlipPanel& out) override {
    const std::size_t begin = panel * panel_rows();
    const std::size_t end = std::min(begin + panel_rows(), table_.ld);
    out.distances.resize(panel_rows() * table_.ld);
    if (rows_) {
      measure_distances(begin, end, n_threads, out);
    } else if (from_state_) {
      copy_distances(out);
    } else {
      make_distances(begin, end, n_threads, out);
    }
    out.n_rows = std::min(end, table_.n_samples) - begin;
    out.tests.clear();
    out.places.clear();
    for (std::size_t t = 0; t < layout_.tests.size(); ++t) {
      FlipTest test = layout_.tests[t];
      const std::size_t i = static_cast<std::size_t>(test.sample);
      if (i < begin || i >= end) continue;
      test.row = static_cast<std::int32_t>(i - begin);
      out.tests.push_back(test);
      out.places.push_back(t);
    }
    out.groups = {{0, out.tests.size(), 0, 0, n_counters_, layout_.class_begin.data(), margin_.data()}};
  }

  const ExactDistance& exact() const override { return fitness_.recheck_; }

  double distance(std::size_t i, std::size_t j, std::size_t, FlipScratch& scratch) const override {
    return fitness_.recheck_.distance(i, j, scratch.features);
  }

 private:
  static constexpr std::size_t most_rows = 128;  // of a panel

  std::size_t panel_rows() const {
    return from_state_ ? table_.ld : std::min(table_.ld, most_rows);
  }

  static std::vector<std::int32_t> bits_of(const Word* mask, std::size_t n_words) {
    std::vector<std::int32_t> out;
    list_bits(mask, n_words, out);
    return out;
  }

  // In float64, rounded once.
  void measure_distances(std::size_t begin, std::size_t end, int n_threads, FlipPanel& out) const {
    const std::size_t n = table_.n_samples;
    parallel_for(std::min(end, n) - begin, n_threads, [&](std::size_t r) {
      float* distances = out.distances.data() + r * table_.ld;
      for (std::size_t j = 0; j < n; ++j) {
        distances[j] = static_cast<float>(rows_.distance(begin + r, j, nullptr));
      }
    });
  }

  // Exact in the state's units, rounded once.
  void copy_distances(FlipPanel& out) const {
    const FixedGram& gram = fitness_.planner_.state().gram();
    for (std::size_t i = 0; i < table_.n_samples; ++i) {
      for (std::size_t j = 0; j < table_.n_samples; ++j) {
        const std::int64_t distance = gram.at(i, i) + gram.at(j, j) - 2 * gram.at(i, j);
        out.distances[i * table_.ld + j] =
            static_cast<float>(static_cast<double>(distance) * gram.unit());
      }
    }
  }

  // Rows [begin, end), 16 to a task, in float32.
  void make_distances(std::size_t begin, std::size_t end, int n_threads, FlipPanel& out) {
    products_.resize(out.distances.size());
    partial_.resize(out.distances.size());
    parallel_for((end - begin) / 16, n_threads, [&](std::size_t k) {
      const std::size_t first = begin + k * 16, offset = k * 16 * table_.ld;
      float_gram(table_, base_features_, {}, {first, first + 16, 0, table_.ld, false},
                 products_.data() + offset, partial_.data() + offset);
      for (std::size_t i = first; i < first + 16; ++i) {
        const float* products = products_.data() + (i - begin) * table_.ld;
        float* distances = out.distances.data() + (i - begin) * table_.ld;
        for (std::size_t j = 0; j < table_.ld; ++j) {
          const double distance = squares_[i] + squares_[j] - 2 * static_cast<double>(products[j]);
          distances[j] = static_cast<float>(std::max(distance, 0.0));
        }
      }
    });
  }

  KnnFitness& fitness_;
  const TableView& table_;
  const FlipLayout& layout_;
  std::size_t n_counters_;
  bool from_state_;
  AlignedVector<float> products_, partial_;
  std::vector<double> squares_;
  std::vector<float> margin_;
  std::vector<std::int32_t> base_features_;
  BaseRows rows_;
};

bool KnnFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                    std::size_t n_masks, const TargetSplits& at,
                                    const Scorer& scorer, int n_threads, double* scores, bool*) {
  const std::size_t k = options_.n_neighbors;
  const bool counted = !is_ordered() && counts_flips(at.splits, target(), scorer, k);
  if (!counted && !NamedFlips::fits(at.splits, k)) return false;
  const bool from_state = planner_.move_near(base, n_masks, n_threads);
  if (!from_state && planner_.has_matrices()) return false;
  const FlipLayout layout = counted ? FlipLayout(at.splits, target()) : FlipLayout(at.splits);
  BaseDistances source(*this, base, layout, at.splits, k, n_masks, from_state);
  if (!counted) {
    NamedFlips pass(table().view(), recheck_, target(), at, base, n_words(), options_,
                    wants_values(scorer) ? n_values() : 0);
    auto& pool = workers(n_threads);
    return pass.run(source, flips, n_masks, n_threads, flips_open_,
                    [&](std::size_t m, const std::int32_t* classes, const double* numbers, int w) {
                      score_found(at, scorer, classes, numbers, *pool[static_cast<std::size_t>(w)],
                                  scores + m * at.splits.n_splits);
                    });
  }
  FlipPass pass(table().view(), target(), at, scorer, layout, base, n_words(), k);
  Worker& worker = *workers(n_threads)[0];
  flips_open_ += pass.run(source, flips, n_masks, n_threads, scores,
                          [&](double* out) { score_empty(at, scorer, worker, out); });
  return true;
}

}  // namespace bitsieve
