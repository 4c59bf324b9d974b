#include "bitsieve/filters/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

struct Candidate {
  std::int64_t distance;
  std::int32_t place;
};

template <typename T>
class RowSearch {
 public:
  RowSearch(const SampleRows<T>& samples, const Distances& distances,
            const std::vector<std::int32_t>& order, const NeighborOptions& options,
            const ExactManhattan* recheck)
      : samples_(samples),
        distances_(distances),
        order_(order),
        options_(options),
        recheck_(recheck),
        largest_error_(*std::max_element(distances.error.begin(), distances.error.end())) {}

  // How far apart two distances of a row may be and still be told apart only by the exact re-check.
  std::int64_t slack(std::size_t row) const {
    if (recheck_ == nullptr) return 0;
    return static_cast<std::int64_t>(std::ceil(2.0 * (distances_.error[row] + largest_error_)));
  }

  // Writes the k nearest of the candidates, which reach to `slack` beyond the k-th distance `last`.
  void choose(std::size_t row, std::size_t k, std::int64_t last, std::vector<Candidate>* candidates,
              std::int32_t* out) {
    std::vector<Candidate>& c = *candidates;
    const std::int64_t open = slack(row);
    if (k < c.size()) {
      const auto first_open = std::partition(
          c.begin(), c.end(), [&](const Candidate& a) { return a.distance < last - open; });
      sort(row, first_open, c.end(), open > 0);
    }
    if (options_.ordered) {
      sort(row, c.begin(), c.begin() + static_cast<std::ptrdiff_t>(k), open > 0);
    }
    for (std::size_t r = 0; r < k; ++r) out[r] = c[r].place;
  }

 private:
  using Iterator = std::vector<Candidate>::iterator;

  void sort(std::size_t row, Iterator begin, Iterator end, bool ask) {
    if (ask) {
      const auto mine = static_cast<std::size_t>(order_[row]);
      for (Iterator c = begin; c != end; ++c) {
        const auto other = static_cast<std::size_t>(order_[static_cast<std::size_t>(c->place)]);
        c->distance = recheck_->in_steps((*recheck_)(samples_, mine, other));
      }
    }
    std::sort(begin, end, [&](const Candidate& a, const Candidate& b) {
      if (a.distance != b.distance) return a.distance < b.distance;
      return order_[static_cast<std::size_t>(a.place)] < order_[static_cast<std::size_t>(b.place)];
    });
  }

  const SampleRows<T>& samples_;
  const Distances& distances_;
  const std::vector<std::int32_t>& order_;
  const NeighborOptions& options_;
  const ExactManhattan* recheck_;
  double largest_error_;
};

}  // namespace

template <typename T>
void nearest_by_group(const SampleRows<T>& samples, const Distances& distances,
                      const std::vector<std::int32_t>& order, const std::int32_t* codes,
                      std::size_t n_classes, const NeighborOptions& options,
                      const ExactManhattan* recheck, int n_threads, Neighbors* neighbors) {
  const std::size_t n = distances.n, rows = distances.rows;
  neighbors->n_groups = options.grouping == Grouping::classes  ? n_classes
                        : options.grouping == Grouping::others ? 2
                                                               : 1;
  neighbors->n_neighbors = std::min(options.n_neighbors, n - 1);
  const std::size_t n_groups = neighbors->n_groups, k = neighbors->n_neighbors;
  neighbors->samples.assign(rows * n_groups * k, -1);
  neighbors->counts.assign(rows * n_groups, 0);
  std::vector<std::int32_t> group(n);
  if (options.grouping == Grouping::classes) {
    for (std::size_t j = 0; j < n; ++j) group[j] = codes[static_cast<std::size_t>(order[j])];
  }
  constexpr std::size_t chunk_rows = 8;
  parallel_for((rows + chunk_rows - 1) / chunk_rows, n_threads, [&](std::size_t chunk) {
    RowSearch<T> search(samples, distances, order, options, recheck);
    std::vector<std::vector<std::int64_t>> least(n_groups);  // heaps: the k least, largest on top
    std::vector<std::vector<Candidate>> candidates(n_groups);
    std::vector<std::int64_t> bound(n_groups);
    std::vector<std::int32_t> in_group(n);
    for (std::size_t i = chunk * chunk_rows; i < std::min(rows, (chunk + 1) * chunk_rows); ++i) {
      const std::int64_t* row = distances.row(i);
      const std::int32_t* group_of = group.data();
      if (options.grouping == Grouping::others) {
        for (std::size_t j = 0; j < n; ++j) in_group[j] = codes[order[i]] == codes[order[j]] ? 0 : 1;
        group_of = in_group.data();
      }
      for (std::size_t g = 0; g < n_groups; ++g) {
        least[g].clear();
        candidates[g].clear();
        bound[g] = std::numeric_limits<std::int64_t>::max();
      }
      // The k-th distance of every group, then all that might be nearer than it.
      for (std::size_t j = 0; j < n; ++j) {
        const auto g = static_cast<std::size_t>(group_of[j]);
        if (row[j] >= bound[g] || j == i) continue;
        std::vector<std::int64_t>& heap = least[g];
        if (heap.size() == k) {
          std::pop_heap(heap.begin(), heap.end());
          heap.back() = row[j];
        } else {
          heap.push_back(row[j]);
        }
        std::push_heap(heap.begin(), heap.end());
        if (heap.size() == k) bound[g] = heap.front();
      }
      const std::int64_t slack = search.slack(i);
      for (std::size_t g = 0; g < n_groups; ++g) {
        bound[g] = least[g].empty() ? -1 : least[g].front() + slack;
      }
      for (std::size_t j = 0; j < n; ++j) {
        const auto g = static_cast<std::size_t>(group_of[j]);
        if (row[j] > bound[g] || j == i) continue;
        candidates[g].push_back({row[j], static_cast<std::int32_t>(j)});
      }
      for (std::size_t g = 0; g < n_groups; ++g) {
        const std::size_t found = least[g].size();
        neighbors->counts[i * n_groups + g] = static_cast<std::int32_t>(found);
        if (found == 0) continue;
        search.choose(i, found, least[g].front(), &candidates[g],
                      neighbors->samples.data() + (i * n_groups + g) * k);
      }
    }
  });
}

template void nearest_by_group<float>(const SampleRows<float>&, const Distances&,
                                      const std::vector<std::int32_t>&, const std::int32_t*,
                                      std::size_t, const NeighborOptions&, const ExactManhattan*, int,
                                      Neighbors*);
template void nearest_by_group<double>(const SampleRows<double>&, const Distances&,
                                       const std::vector<std::int32_t>&, const std::int32_t*,
                                       std::size_t, const NeighborOptions&, const ExactManhattan*, int,
                                       Neighbors*);

}  // namespace bitsieve
