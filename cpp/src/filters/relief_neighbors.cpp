#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/neighbors.hpp"
#include "bitsieve/filters/pairs.hpp"
#include "relief_job.hpp"

namespace bitsieve {
namespace {

// Samples as the user numbers them.
struct Pair {
  std::int32_t first, second;
  double coefficient;
};

// Share of rank r among `count` neighbors; all shares of a list come to 1.
std::vector<double> shares(const std::vector<double>& rank_weights, std::size_t count) {
  if (rank_weights.empty()) return std::vector<double>(count, 1.0 / static_cast<double>(count));
  std::vector<double> out(rank_weights.begin(),
                          rank_weights.begin() + static_cast<std::ptrdiff_t>(count));
  const double total = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& share : out) share /= total;
  return out;
}

// Pairs of the first `rows` samples of an order with their neighbors.
template <typename T>
void collect(const ReliefJob<T>& job, const std::vector<std::int32_t>& order, std::size_t rows,
             const Neighbors& found, std::vector<Pair>* pairs) {
  const double m = static_cast<double>(job.instances.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int32_t mine = order[i];
    for (std::size_t g = 0; g < found.n_groups; ++g) {
      const std::size_t count = found.count(i, g);
      if (count == 0) continue;
      double factor = 1.0;
      if (job.options.rule == ReliefRule::relieff) {
        const auto own = static_cast<std::size_t>(job.codes[mine]);
        factor = job.sizes->factor(own, g) / m;
      } else if (job.options.rule == ReliefRule::relief) {
        factor = (g == 0 ? -1.0 : 1.0) / m;
      }
      const auto share = shares(job.options.rank_weights, count);
      for (std::size_t r = 0; r < count; ++r) {
        const std::int32_t other = order[static_cast<std::size_t>(found.list(i, g)[r])];
        pairs->push_back({mine, other, factor * share[r]});
      }
    }
  }
}

// From the influence of a neighbor to RReliefF's coefficient (2003, figure 3):
//   N_dCdA / N_dC - (N_dA - N_dCdA) / (m - N_dC).
void apply_target(const double* target, std::size_t n, std::vector<Pair>* pairs) {
  const auto [low, high] = std::minmax_element(target, target + n);
  const double range = *high - *low;
  const auto apart = [&](const Pair& pair) {
    return range > 0.0 ? std::fabs(target[pair.first] - target[pair.second]) / range : 0.0;
  };
  double different = 0.0, all = 0.0;
  for (const Pair& pair : *pairs) {
    different += pair.coefficient * apart(pair);
    all += pair.coefficient;
  }
  const double alike = all - different;
  for (Pair& pair : *pairs) {
    const double d = apart(pair);
    pair.coefficient *= (different > 0.0 ? d / different : 0.0) -
                        (alike > 0.0 ? (1.0 - d) / alike : 0.0);
  }
}

// Pairs by panels, each pair once and in a fixed order.
std::vector<PairPanel> merge(std::vector<Pair> pairs, std::size_t n, int n_threads) {
  const std::size_t n_panels = (n + panel_samples - 1) / panel_samples;
  const auto panel_of = [](const Pair& pair) {
    return static_cast<std::size_t>(pair.second) / panel_samples;
  };
  std::vector<std::size_t> begin(n_panels + 1, 0);
  for (Pair& pair : pairs) {
    if (pair.first > pair.second) std::swap(pair.first, pair.second);
    ++begin[panel_of(pair) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Pair> sorted(pairs.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const Pair& pair : pairs) sorted[next[panel_of(pair)]++] = pair;
  std::vector<Pair>().swap(pairs);
  std::vector<PairPanel> panels(n_panels);
  parallel_for(n_panels, n_threads, [&](std::size_t t) {
    const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(begin[t]);
    const auto to = sorted.begin() + static_cast<std::ptrdiff_t>(begin[t + 1]);
    std::stable_sort(from, to, [](const Pair& a, const Pair& b) {
      return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    PairPanel& panel = panels[t];
    for (auto pair = from; pair != to; ++pair) {
      if (pair == from || pair->first != (pair - 1)->first) panel.open(pair->first);
      if (pair != from && pair->first == (pair - 1)->first &&
          pair->second == (pair - 1)->second) {
        panel.coefficients.back() += pair->coefficient;
      } else {
        panel.add(pair->second, pair->coefficient);
      }
    }
  });
  return panels;
}

}  // namespace

template <typename T>
void weigh_neighbors(const ReliefJob<T>& job, double* weights) {
  const std::size_t n = job.samples.n;
  const ReliefRule rule = job.options.rule;
  const ExactManhattan recheck(job.scale, ExactManhattan::finest);
  const bool exact = job.options.precision == Precision::exact;
  const bool by_class = rule == ReliefRule::relieff;
  NeighborOptions wanted;
  wanted.n_neighbors =
      std::min(job.options.n_neighbors, std::min(n - 1, by_class ? job.sizes->largest() : n));
  wanted.ordered = !job.options.rank_weights.empty();
  wanted.grouping = by_class                     ? Grouping::classes
                    : rule == ReliefRule::relief ? Grouping::others
                                                 : Grouping::all;
  std::vector<Pair> pairs;
  job.over_strips([&](const std::vector<std::int32_t>& order, Distances* distances) {
    Neighbors found;
    nearest_by_group(job.samples, *distances, order, job.codes, job.n_classes, wanted,
                     exact ? &recheck : nullptr, job.options.n_threads, &found);
    collect(job, order, distances->rows, found, &pairs);
  });
  if (rule == ReliefRule::rrelieff) apply_target(job.target, n, &pairs);
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto panels = merge(std::move(pairs), n, job.options.n_threads);
  add_pair_weights(job.samples, job.scale, order, panels, job.options.n_threads, weights);
}

template void weigh_neighbors<float>(const ReliefJob<float>&, double*);
template void weigh_neighbors<double>(const ReliefJob<double>&, double*);

}  // namespace bitsieve
