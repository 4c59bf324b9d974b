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
  std::vector<std::size_t> seen_in(static_cast<std::size_t>(most_categories), view.n_features);
  for (std::size_t f = 0; f < view.n_features; ++f, row += view.ld) {
    const auto [least, most] = std::minmax_element(row, row + view.n_samples);
    refused_[f] = *least <= -1 || *most >= most_categories;  // they are cut towards zero
    if (refused_[f]) continue;
    largest_[f] = static_cast<std::int32_t>(*most);
    std::size_t n_levels = 0;
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      std::size_t& last = seen_in[static_cast<std::size_t>(row[i])];
      n_levels += last != f;
      last = f;
    }
    most_levels_ = std::max(most_levels_, n_levels);
  }
  most_levels_ = std::max<std::size_t>(most_levels_, 1);
  for (std::size_t k = 0; k <= view.n_samples; ++k) {
    log_count_.push_back(std::log(static_cast<double>(k) + this->options().alpha));
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
  for (std::size_t f = 0; f < refused_.size(); ++f) {
    if (!has_unseen(at.splits, f)) continue;
    seen->has_unseen[f] = seen->has_refused = true;
  }
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

// Of a block: the place of each (sample, lane) among levels, [lanes][most_levels]; of a lane how many
// levels it has; of a level its category, how many samples have it, and their weights by class, in
// twice the digits.
struct CategoricalFitness::Levels {
  Levels(double* kept, std::size_t n, std::size_t most_levels, std::size_t n_classes)
      : place(kept),
        n_levels(place + n * lanes),
        category(n_levels + lanes),
        count(category + lanes * most_levels),
        sum(count + lanes * most_levels),
        rest(sum + lanes * most_levels * n_classes),
        end(rest + lanes * most_levels * n_classes) {}

  static std::size_t size(std::size_t n, std::size_t most_levels, std::size_t n_classes) {
    return lanes * (n + 1 + 2 * most_levels * (1 + n_classes));
  }

  double *place, *n_levels, *category, *count, *sum, *rest, *end;
};

void CategoricalFitness::add(std::size_t i, const double* place, double* count, double* sum,
                             double* rest) const {
  const std::size_t n_classes = target().n_classes, c = static_cast<std::size_t>(target().codes[i]);
  const double weight = weight_of(i);
  for (std::size_t l = 0; l < lanes; ++l) {
    const auto level = static_cast<std::size_t>(place[i * lanes + l]);
    const std::size_t k = level * n_classes + c;
    const double added = sum[k] + weight, part = added - sum[k];
    count[level] += 1;
    rest[k] += (sum[k] - (added - part)) + (weight - part);
    sum[k] = added;
  }
}

std::size_t CategoricalFitness::block_size(const State&) const {
  return Levels::size(target().codes.size(), most_levels_, target().n_classes);
}

void CategoricalFitness::begin_block(const State&, const FeatureBlock& block) const {
  const std::size_t n = target().codes.size();
  const Levels levels(block.kept, n, most_levels_, target().n_classes);
  std::fill(levels.n_levels, levels.end, 0.0);
  std::vector<std::int32_t> level_of;  // of a category
  for (std::size_t l = 0; l < lanes; ++l) {
    const auto f = static_cast<std::size_t>(block.features[l]);
    level_of.assign(static_cast<std::size_t>(largest_[f]) + 1, -1);
    for (std::size_t i = 0; i < n; ++i) {  // a refused one has one level
      const double value = refused_[f] ? 0.0 : block.values[i * lanes + l];
      std::int32_t& level = level_of[static_cast<std::size_t>(value)];
      if (level < 0) {
        level = static_cast<std::int32_t>(levels.n_levels[l]);
        levels.category[l * most_levels_ + static_cast<std::size_t>(level)] = std::trunc(value);
        levels.n_levels[l] += 1;
      }
      levels.place[i * lanes + l] = static_cast<double>(l * most_levels_) + level;
    }
  }
  for (std::size_t i = 0; i < n; ++i) add(i, levels.place, levels.count, levels.sum, levels.rest);
}

void CategoricalFitness::terms(const State& state, const TargetSplits& at,
                               const FeatureBlock& block, const double*, bool, std::size_t split,
                               double* out, Scratch& scratch) const {
  const Splits& splits = at.splits;
  const std::size_t n = target().codes.size(), n_classes = target().n_classes;
  const std::size_t n_levels = lanes * most_levels_, width = n_levels * n_classes;
  const Levels all(block.kept, n, most_levels_, n_classes);
  const std::int32_t* tests = splits.test_samples.data() + splits.test_begin[split];
  const auto n_tests =
      static_cast<std::size_t>(splits.test_begin[split + 1] - splits.test_begin[split]);
  scratch.resize(n_levels + 3 * width);
  double *count = scratch.data(), *sum = count + n_levels, *rest = sum + width, *costs = rest + width;
  std::fill(count, costs, 0.0);
  if (splits.complementary) {
    for (std::size_t k = 0; k < n_tests; ++k) {
      add(static_cast<std::size_t>(tests[k]), all.place, count, sum, rest);
    }
    for (std::size_t k = 0; k < n_levels; ++k) count[k] = all.count[k] - count[k];
    for (std::size_t k = 0; k < width; ++k) {
      sum[k] = std::max((all.sum[k] - sum[k]) + (all.rest[k] - rest[k]), 0.0);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      if (get_bit(splits.training.data() + i * splits.n_words, split)) {
        add(i, all.place, count, sum, rest);
      }
    }
    for (std::size_t k = 0; k < width; ++k) sum[k] += rest[k];
  }
  const double* weight = static_cast<const Seen&>(state).weight.data() + split * n_classes;
  const double alpha = options().alpha;
  const bool whole = target().weights.empty();
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::size_t first = l * most_levels_;
    const std::size_t last = first + static_cast<std::size_t>(all.n_levels[l]);
    double n_categories = static_cast<double>(min_categories_);
    for (std::size_t k = first; k < last; ++k) {
      if (count[k] > 0) n_categories = std::max(n_categories, all.category[k] + 1);
    }
    for (std::size_t c = 0; c < n_classes; ++c) {  // costs[c][level]
      const double log_weight = std::log(weight[c] + alpha * n_categories);
      for (std::size_t k = first; k < last; ++k) {
        const double own = sum[k * n_classes + c];
        const double log = whole ? log_count_[static_cast<std::size_t>(own)] : std::log(own + alpha);
        costs[c * n_levels + k] = log_weight - log;
      }
    }
    for (std::size_t k = first; k < last; ++k) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < n_classes; ++c) {
        if (weight[c] > 0) least = std::min(least, costs[c * n_levels + k]);
      }
      for (std::size_t c = 0; c < n_classes; ++c) {
        double& cost = costs[c * n_levels + k];
        cost = weight[c] > 0 ? cost - least : 0.0;
      }
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c, costs += n_levels) {
    for (std::size_t k = 0; k < n_tests; ++k, out += lanes) {
      const double* place = all.place + static_cast<std::size_t>(tests[k]) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) out[l] = costs[static_cast<std::int32_t>(place[l])];
    }
  }
}

}  // namespace bitsieve
