#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitsieve/fitness/discrete_bayes.hpp"

namespace bitsieve {
namespace {

// scikit-learn keeps a number for each category up to the largest.
constexpr double most_categories = 65536;

}  // namespace

struct CategoricalFitness::Seen : Learnt {
  std::vector<bool> has_unseen;  // [n_features]
};

CategoricalFitness::CategoricalFitness(std::shared_ptr<const Table> table, Target target,
                                       SplitSource source, DiscreteOptions options,
                                       std::size_t min_categories)
    : DiscreteBayesFitness(std::move(table), std::move(target), std::move(source),
                           std::move(options)),
      min_categories_(min_categories),
      largest_(refused_.size()) {
  const TableView& view = this->table().view();
  const double* row = this->table().doubles(1);
  for (std::size_t f = 0; f < view.n_features; ++f, row += view.ld) {
    const auto [least, most] = std::minmax_element(row, row + view.n_samples);
    refused_[f] = *least <= -1 || *most >= most_categories;  // they are cut towards zero
    if (!refused_[f]) largest_[f] = static_cast<std::int32_t>(*most);
  }
}

// Where the largest category is in test and training parts alike, nothing is unseen. All its samples
// are mostly tested apart from one another, which a few of them show.
bool CategoricalFitness::has_unseen(const Splits& splits, std::size_t feature) const {
  const double* row = table().doubles(1) + feature * table().view().ld;
  const std::size_t n = target().codes.size();
  const auto most = static_cast<std::size_t>(largest_[feature]);
  if (refused_[feature] || most < min_categories_) return false;
  if (splits.complementary) {
    for (std::size_t w = 0; w < splits.n_words; ++w) {
      Word together = ~Word{0};
      for (std::size_t i = 0; i < n && together != 0; ++i) {
        if (static_cast<std::size_t>(row[i]) == most) together &= splits.testing[i * splits.n_words + w];
      }
      if (together != 0) return true;
    }
    return false;
  }
  for (std::size_t s = 0; s < splits.n_splits; ++s) {
    std::size_t trained = min_categories_, tested = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t next = static_cast<std::size_t>(row[i]) + 1;
      if (get_bit(splits.training.data() + i * splits.n_words, s)) trained = std::max(trained, next);
      if (get_bit(splits.testing.data() + i * splits.n_words, s)) tested = std::max(tested, next);
    }
    if (tested > trained) return true;
  }
  return false;
}

std::unique_ptr<AdditiveFitness::State> CategoricalFitness::make_state(
    const TargetSplits& at) const {
  auto seen = std::make_unique<Seen>();
  learn(*seen, at);
  seen->has_unseen.resize(refused_.size());
  for (std::size_t f = 0; f < refused_.size(); ++f) seen->has_unseen[f] = has_unseen(at.splits, f);
  return seen;
}

bool CategoricalFitness::declines(const State& state, const TargetSplits& at,
                                  const std::vector<std::int32_t>& features,
                                  const double* params) const {
  const std::vector<bool>& unseen = static_cast<const Seen&>(state).has_unseen;
  return DiscreteBayesFitness::declines(state, at, features, params) ||
         std::any_of(features.begin(), features.end(),
                     [&](std::int32_t f) { return unseen[static_cast<std::size_t>(f)]; });
}

void CategoricalFitness::terms(const State& state, const TargetSplits& at,
                               const FeatureBlock& block, const double*, bool, std::size_t first,
                               std::size_t last, double* out, Scratch& scratch) const {
  const Seen& seen = static_cast<const Seen&>(state);
  const Splits& splits = at.splits;
  const std::size_t n = target().codes.size(), n_classes = target().n_classes;
  std::vector<std::int32_t> place(n), level_of;  // of a sample, of a category
  std::vector<std::size_t> category;             // of a level: those that occur
  std::vector<std::int32_t> n_all, n_part;       // samples by level
  for (std::size_t lane = 0; lane < block.n; ++lane) {
    const auto feature = static_cast<std::size_t>(block.features[lane]);
    double* to = out + lane;
    category.clear();
    level_of.assign(static_cast<std::size_t>(largest_[feature]) + 1, -1);
    for (std::size_t i = 0; i < n && !refused_[feature]; ++i) {
      const auto value = static_cast<std::size_t>(block.values[i * lanes + lane]);
      if (level_of[value] < 0) {
        level_of[value] = static_cast<std::int32_t>(category.size());
        category.push_back(value);
      }
      place[i] = level_of[value];
    }
    const std::size_t n_levels = category.size(), width = n_levels * n_classes;
    n_all.assign(n_levels, 0);
    scratch.assign(5 * width, 0.0);
    double *all = scratch.data(), *all_rest = all + width, *part = all_rest + width;
    double *rest = part + width, *costs = rest + width;
    const auto add = [&](std::size_t i, std::vector<std::int32_t>& counts, double* sum,
                         double* left) {
      const auto level = static_cast<std::size_t>(place[i]);
      const std::size_t k = level * n_classes + static_cast<std::size_t>(target().codes[i]);
      const double value = weight_of(i), added = sum[k] + value, share = added - sum[k];
      ++counts[level];
      left[k] += (sum[k] - (added - share)) + (value - share);
      sum[k] = added;
    };
    for (std::size_t i = 0; i < n && splits.complementary && n_levels > 0; ++i) {
      add(i, n_all, all, all_rest);
    }
    for (std::size_t s = first; s < last; ++s) {
      const std::int32_t* tests = splits.test_samples.data() + splits.test_begin[s];
      const auto n_tests = static_cast<std::size_t>(splits.test_begin[s + 1] - splits.test_begin[s]);
      if (n_levels == 0) {  // its masks are declined
        for (std::size_t k = 0; k < n_classes * n_tests; ++k, to += lanes) *to = 0;
        continue;
      }
      n_part.assign(n_levels, 0);
      std::fill_n(part, 2 * width, 0.0);
      for (std::size_t k = 0; k < n_tests && splits.complementary; ++k) {
        add(static_cast<std::size_t>(tests[k]), n_part, part, rest);
      }
      for (std::size_t i = 0; i < n && !splits.complementary; ++i) {
        if (get_bit(splits.training.data() + i * splits.n_words, s)) add(i, n_part, part, rest);
      }
      std::size_t n_categories = min_categories_;
      for (std::size_t level = 0; level < n_levels; ++level) {
        const std::int32_t trained = n_part[level];
        if ((splits.complementary ? n_all[level] - trained : trained) > 0) {
          n_categories = std::max(n_categories, category[level] + 1);
        }
      }
      const double* weight = seen.weight.data() + s * n_classes;
      const double alpha = options().alpha, smooth = alpha * static_cast<double>(n_categories);
      for (std::size_t c = 0; c < n_classes; ++c) {
        const double log_weight = std::log(weight[c] + smooth);
        for (std::size_t k = c; k < width; k += n_classes) {
          const double count = splits.complementary
                                   ? std::max((all[k] - part[k]) + (all_rest[k] - rest[k]), 0.0)
                                   : part[k] + rest[k];
          costs[k] = log_weight - std::log(count + alpha);
        }
      }
      for (std::size_t k = 0; k < width; k += n_classes) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < n_classes; ++c) {
          if (weight[c] > 0) least = std::min(least, costs[k + c]);
        }
        for (std::size_t c = 0; c < n_classes; ++c) {
          costs[k + c] = weight[c] > 0 ? costs[k + c] - least : 0.0;
        }
      }
      for (std::size_t c = 0; c < n_classes; ++c) {
        for (std::size_t k = 0; k < n_tests; ++k, to += lanes) {
          const auto level = static_cast<std::size_t>(place[static_cast<std::size_t>(tests[k])]);
          *to = costs[level * n_classes + c];
        }
      }
    }
  }
  for (std::size_t lane = block.n; lane < lanes; ++lane) {
    double* to = out + lane;
    for (std::size_t s = first; s < last; ++s) {
      const auto n_tests = splits.test_begin[s + 1] - splits.test_begin[s];
      for (std::int64_t k = 0; k < n_tests * static_cast<std::int64_t>(n_classes); ++k, to += lanes) {
        *to = 0;
      }
    }
  }
}

}  // namespace bitsieve
