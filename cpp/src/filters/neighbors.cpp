#include "bitsieve/filters/neighbors.hpp"

#include <algorithm>
#include <cmath>

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
            const DistanceArbiter* arbiter)
      : samples_(samples),
        distances_(distances),
        order_(order),
        options_(options),
        arbiter_(arbiter),
        largest_error_(*std::max_element(distances.error.begin(), distances.error.end())) {}

  // Writes the nearest of the candidates and returns how many.
  std::size_t find(std::size_t row, std::vector<Candidate>* candidates, std::int32_t* out) {
    std::vector<Candidate>& c = *candidates;
    const std::size_t k = std::min(options_.n_neighbors, c.size());
    if (k == 0) return 0;
    // Two distances are told apart where they differ by more than both may be off.
    const double off = distances_.error[row] + largest_error_;
    const auto slack = arbiter_ == nullptr ? std::int64_t{0}
                                           : static_cast<std::int64_t>(std::ceil(2.0 * off));
    if (k < c.size()) {
      std::nth_element(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(k - 1), c.end(),
                       [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
      const std::int64_t last = c[k - 1].distance;
      const auto open = std::partition(c.begin(), c.end(), [&](const Candidate& a) {
        return a.distance < last - slack;
      });
      const auto out_of_reach = std::partition(
          open, c.end(), [&](const Candidate& a) { return a.distance <= last + slack; });
      const auto sure = static_cast<std::size_t>(open - c.begin());
      if (sure + static_cast<std::size_t>(out_of_reach - open) > k) {
        sort(row, open, out_of_reach, slack > 0);
      }
    }
    if (options_.ordered) {
      sort(row, c.begin(), c.begin() + static_cast<std::ptrdiff_t>(k), slack > 0);
    }
    for (std::size_t r = 0; r < k; ++r) out[r] = c[r].place;
    return k;
  }

 private:
  using Iterator = std::vector<Candidate>::iterator;

  void sort(std::size_t row, Iterator begin, Iterator end, bool ask) {
    if (ask) {
      const auto mine = static_cast<std::size_t>(order_[row]);
      for (Iterator c = begin; c != end; ++c) {
        c->distance = (*arbiter_)(samples_, mine,
                                  static_cast<std::size_t>(order_[static_cast<std::size_t>(c->place)]));
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
  const DistanceArbiter* arbiter_;
  double largest_error_;
};

}  // namespace

template <typename T>
void nearest_by_group(const SampleRows<T>& samples, const Distances& distances,
                      const std::vector<std::int32_t>& order, const std::int32_t* codes,
                      std::size_t n_classes, const NeighborOptions& options,
                      const DistanceArbiter* arbiter, int n_threads, Neighbors* neighbors) {
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
    RowSearch<T> search(samples, distances, order, options, arbiter);
    std::vector<std::vector<Candidate>> candidates(n_groups);
    for (std::size_t i = chunk * chunk_rows; i < std::min(rows, (chunk + 1) * chunk_rows); ++i) {
      for (auto& list : candidates) list.clear();
      const std::int64_t* row = distances.row(i);
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        const auto place = static_cast<std::int32_t>(j);
        std::size_t g = 0;
        if (options.grouping == Grouping::classes) {
          g = static_cast<std::size_t>(group[j]);
        } else if (options.grouping == Grouping::others) {
          g = codes[order[i]] == codes[order[j]] ? 0 : 1;
        }
        candidates[g].push_back({row[j], place});
      }
      for (std::size_t g = 0; g < n_groups; ++g) {
        const std::size_t found = search.find(
            i, &candidates[g], neighbors->samples.data() + (i * n_groups + g) * k);
        neighbors->counts[i * n_groups + g] = static_cast<std::int32_t>(found);
      }
    }
  });
}

template void nearest_by_group<float>(const SampleRows<float>&, const Distances&,
                                      const std::vector<std::int32_t>&, const std::int32_t*,
                                      std::size_t, const NeighborOptions&, const DistanceArbiter*, int,
                                      Neighbors*);
template void nearest_by_group<double>(const SampleRows<double>&, const Distances&,
                                       const std::vector<std::int32_t>&, const std::int32_t*,
                                       std::size_t, const NeighborOptions&, const DistanceArbiter*, int,
                                       Neighbors*);

}  // namespace bitsieve
