#include "bitsieve/filters/relief.hpp"

#include <algorithm>
#include <numeric>

#include "relief_job.hpp"

namespace bitsieve {
namespace {

// Distances of more samples than this come in strips of rows, without the symmetry.
constexpr std::size_t matrix_bytes = std::size_t{256} << 20;

}  // namespace

template <typename T>
std::size_t ReliefJob<T>::rows_at_once() const {
  return std::clamp(matrix_bytes / (samples.n * sizeof(std::int64_t)), std::size_t{1},
                    instances.size());
}

template <typename T>
void ReliefJob<T>::over_strips(const Body& body) const {
  const std::size_t m = instances.size(), at_once = rows_at_once();
  for (std::size_t begin = 0; begin < m; begin += at_once) {
    const std::size_t rows = std::min(at_once, m - begin);
    auto order = order_with_first(samples.n, instances.data() + begin, rows);
    if (codes != nullptr) {
      // Classes together: what is counted a class is counted over runs.
      const auto by_class = [&](std::int32_t a, std::int32_t b) { return codes[a] < codes[b]; };
      const auto others = order.begin() + static_cast<std::ptrdiff_t>(rows);
      std::stable_sort(order.begin(), others, by_class);
      std::stable_sort(others, order.end(), by_class);
    }
    Distances distances;
    l1_distances(samples, scale, order, rows, options.precision, options.n_threads, &distances);
    body(order, &distances);
  }
}

std::vector<std::int32_t> order_with_first(std::size_t n, const std::int32_t* first,
                                           std::size_t n_first) {
  std::vector<std::int32_t> order(first, first + n_first);
  std::vector<char> taken(n, 0);
  for (const std::int32_t i : order) taken[static_cast<std::size_t>(i)] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (!taken[i]) order.push_back(static_cast<std::int32_t>(i));
  }
  return order;
}

template <typename T>
void relief_weights(const SampleRows<T>& samples, FeatureScale* scale, const std::int32_t* codes,
                    std::size_t n_classes, const double* target, const ReliefOptions& options,
                    double* weights) {
  std::fill(weights, weights + samples.p, 0.0);
  measure_ranges(samples, options.n_threads, scale);
  const bool by_limits = options.rule != ReliefRule::relief &&
                         options.rule != ReliefRule::relieff &&
                         options.rule != ReliefRule::rrelieff;
  if (by_limits && options.precision == Precision::exact) {
    find_common(samples, options.n_threads, scale);
  }
  ReliefJob<T> job{samples, *scale, codes, n_classes, target, options, options.instances, {}};
  if (job.instances.empty()) {
    job.instances.resize(samples.n);
    std::iota(job.instances.begin(), job.instances.end(), 0);
  }
  if (codes != nullptr) job.sizes.emplace(codes, samples.n, n_classes);
  if (by_limits) {
    weigh_by_limits(job, weights);
  } else {
    weigh_neighbors(job, weights);
  }
}

template struct ReliefJob<float>;
template struct ReliefJob<double>;

template void relief_weights<float>(const SampleRows<float>&, FeatureScale*, const std::int32_t*,
                                    std::size_t, const double*, const ReliefOptions&, double*);
template void relief_weights<double>(const SampleRows<double>&, FeatureScale*, const std::int32_t*,
                                     std::size_t, const double*, const ReliefOptions&, double*);

}  // namespace bitsieve
