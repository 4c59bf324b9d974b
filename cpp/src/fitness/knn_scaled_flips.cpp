// Where the base distances of a neighborhood come from: test x training pairs of each split.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bitsieve/fitness/gram_planner.hpp"
#include "knn_flips.hpp"
#include "knn_named_flips.hpp"
#include "knn_scaled_worker.hpp"

namespace bitsieve {

// Cost: n_test x n products a split and a feature of the base, once, and as many steps a flip.
class ScaledKnnFitness::BaseDistances : public FlipSource {
 public:
  BaseDistances(const ScaledKnnFitness& fitness, const std::vector<std::int32_t>& base,
                const FlipLayout& layout, const Splits& splits, const ScaleView& scales,
                std::size_t n_flips)
      : fitness_(fitness),
        table_(fitness.table().view()),
        base_(base),
        layout_(layout),
        splits_(splits),
        scales_(scales),
        products_(table_),
        parts_(scaled_parts(splits, table_.ld)),
        rows_(fitness.recheck_, base, table_.n_samples, n_flips),
        factors_(base.size()) {
    std::size_t floats = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const std::size_t size = ScaledProducts::size_of(parts_[p], table_.ld);
      if (p > begin_.back() && floats + size > most_floats) {
        begin_.push_back(p);
        floats = 0;
      }
      floats += size;
    }
    begin_.push_back(parts_.size());
  }

  std::size_t n_panels() const override { return begin_.size() - 1; }

  void make(std::size_t panel, int, FlipPanel& out) override {
    const std::size_t n = table_.n_samples, ld = table_.ld;
    const std::size_t n_classes = layout_.n_classes;
    const std::size_t first = begin_[panel], n_parts = begin_[panel + 1] - first;
    if (!rows_) products_.make(base_, scales_, splits_, parts_.data() + first, n_parts);
    out.tests.clear();
    out.places.clear();
    out.groups.clear();
    out.margins.assign(n_parts * n, 0.0f);
    out.n_rows = 0;
    for (std::size_t p = 0; p < n_parts; ++p) out.n_rows += parts_[first + p].count;
    out.distances.assign(out.n_rows * ld, 0.0f);
    std::size_t row = 0;
    for (std::size_t p = 0; p < n_parts; ++p) {
      const ScaledPart& part = parts_[first + p];
      float* margin = out.margins.data() + p * n;
      if (rows_) {
        std::fill(margin, margin + n,
                  static_cast<float>(least_margin(fitness_.options_.n_neighbors)));
        for (std::size_t k = 0; k < base_.size(); ++k) {
          factors_[k] = scales_.inverse_of(part.split)[base_[k]];
        }
      } else {
        set_margins(products_.bounds(p), part.split, margin);
      }
      out.groups.push_back({out.tests.size(), part.count, part.split, part.split * n_classes,
                            n_classes,
                            layout_.class_begin.empty()
                                ? nullptr
                                : layout_.class_begin.data() + part.split * (n_classes + 1),
                            margin});
      for (std::size_t t = 0; t < part.count; ++t, ++row) {
        FlipTest test = layout_.tests[part.first + t];
        test.row = static_cast<std::int32_t>(row);
        test.counter -= static_cast<std::int32_t>(part.split * n_classes);
        out.tests.push_back(test);
        out.places.push_back(part.first + t);
        const std::size_t i = static_cast<std::size_t>(test.sample);
        float* distances = out.distances.data() + row * ld;
        if (rows_) {
          exact_row(i, distances);
        } else {
          float_row(p, t, i, distances);
        }
      }
    }
  }

  bool is_scaled() const override { return true; }
  double factor(std::size_t feature, std::size_t split) const override {
    return static_cast<double>(
        scaled_weight(scales_.inverse_of(split)[feature], table_.max_abs[feature]));
  }

  void exact_factors(const std::vector<std::int32_t>& features, std::size_t split,
                     std::vector<double>& out) const override {
    const double* inverse = scales_.inverse_of(split);
    for (const std::int32_t f : features) out.push_back(inverse[f]);
  }

  const ExactDistance& exact() const override { return fitness_.recheck_; }

  double distance(std::size_t i, std::size_t j, std::size_t split,
                  FlipScratch& scratch) const override {
    if (scratch.factors.empty()) exact_factors(scratch.features, split, scratch.factors);
    return fitness_.recheck_.distance(i, j, scratch.features, scratch.factors.data());
  }

 private:
  static constexpr std::size_t most_floats = std::size_t{1} << 20;  // of a panel

  void float_row(std::size_t p, std::size_t t, std::size_t i, float* distances) const {
    const double* squares = products_.squares(p);
    const float* products = products_.row(p, t);
    for (std::size_t j = 0; j < table_.n_samples; ++j) {
      const double distance = squares[i] + squares[j] - 2 * static_cast<double>(products[j]);
      distances[j] = products_.is_finite(p) ? static_cast<float>(std::max(distance, 0.0))
                                            : std::numeric_limits<float>::quiet_NaN();
    }
  }

  static constexpr double most_distance = 1e30;

  // Rounded once, which the kernels' bounds allow for; NaN as a whole where float32 ends.
  void exact_row(std::size_t i, float* distances) const {
    const std::size_t n = table_.n_samples;
    bool finite = true;
    for (std::size_t j = 0; j < n; ++j) {
      const double distance = rows_.distance(i, j, factors_.data());
      finite = finite && distance < most_distance;
      distances[j] = static_cast<float>(distance);
    }
    if (!finite) std::fill(distances, distances + n, std::numeric_limits<float>::quiet_NaN());
  }

  void set_margins(const double* bounds, std::size_t split, float* margin) const {
    const std::size_t n = table_.n_samples;
    double farthest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (get_bit(splits_.training.data() + j * splits_.n_words, split)) {
        farthest = std::max(farthest, std::sqrt(bounds[j]));
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double reach = std::sqrt(bounds[i]) + farthest;
      margin[i] = static_cast<float>(reach * reach * 1.001 +
                                     least_margin(fitness_.options_.n_neighbors));
    }
  }

  const ScaledKnnFitness& fitness_;
  const TableView& table_;
  const std::vector<std::int32_t>& base_;
  const FlipLayout& layout_;
  const Splits& splits_;
  const ScaleView& scales_;
  ScaledProducts products_;
  std::vector<ScaledPart> parts_;
  BaseRows rows_;
  std::vector<double> factors_;  // of the base's features
  std::vector<std::size_t> begin_{0};  // of panels among parts
};

bool ScaledKnnFitness::evaluate_neighbors(const Word* base, const std::int64_t* flips,
                                          std::size_t n_masks, const TargetSplits& at,
                                          const Scorer& scorer, int n_threads, double* scores,
                                          bool*) {
  const std::size_t k = options_.n_neighbors;
  const bool counted = !is_ordered() && counts_flips(at.splits, target(), scorer, k);
  if (!counted && !NamedFlips::fits(at.splits, k)) return false;
  std::vector<Word> all(base, base + n_words());
  for (std::size_t m = 0; m < n_masks; ++m) set_bit(all.data(), static_cast<std::size_t>(flips[m]));
  std::vector<std::int32_t> features, base_features;
  list_bits(all.data(), n_words(), features);
  list_bits(base, n_words(), base_features);
  scales_->prepare(all.data(), 1, &at, n_threads);
  Finder& worker = static_cast<Finder&>(*workers(n_threads)[0]);
  ScaleView scales = scales_->view(features, at, worker.own, n_threads);
  if (scales.place != features.data()) return false;  // too many to be kept, and found by feature
  scales.place = base_features.data();
  const FlipLayout layout = counted ? FlipLayout(at.splits, target()) : FlipLayout(at.splits);
  BaseDistances source(*this, base_features, layout, at.splits, scales, n_masks);
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
  flips_open_ += pass.run(source, flips, n_masks, n_threads, scores,
                          [&](double* out) { score_empty(at, scorer, worker, out); });
  return true;
}

}  // namespace bitsieve
