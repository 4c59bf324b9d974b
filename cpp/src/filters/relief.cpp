#include "bitsieve/filters/relief.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/neighbors.hpp"
#include "bitsieve/filters/pairs.hpp"

namespace bitsieve {
namespace {

// Distances of more samples than this come in strips of rows, without the symmetry.
constexpr std::size_t matrix_bytes = std::size_t{256} << 20;
constexpr std::size_t pairs_at_once = std::size_t{4} << 20;
constexpr std::size_t small_table = std::size_t{4} << 20;  // pairs times features

struct Pair {
  std::int32_t first, second;
  double coefficient;
};

// How many samples each class has.
class ClassSizes {
 public:
  ClassSizes(const std::int32_t* codes, std::size_t n, std::size_t n_classes)
      : n_(static_cast<double>(n)), sizes_(n_classes, 0.0) {
    for (std::size_t i = 0; i < n; ++i) sizes_[static_cast<std::size_t>(codes[i])] += 1.0;
  }
  // P(c) / (1 - P(own)) for misses, -1 for hits.
  double factor(std::size_t own, std::size_t c) const {
    const double others = n_ - sizes_[own];
    return c == own ? -1.0 : others > 0.0 ? sizes_[c] / others : 0.0;
  }
  std::size_t largest() const {
    return static_cast<std::size_t>(*std::max_element(sizes_.begin(), sizes_.end()));
  }

 private:
  double n_;
  std::vector<double> sizes_;
};

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

template <typename T>
class Family {
 public:
  Family(const SampleRows<T>& samples, const FeatureScale& scale, const std::int32_t* codes,
         std::size_t n_classes, const double* target, const ReliefOptions& options,
         double* weights)
      : samples_(samples),
        scale_(scale),
        codes_(codes),
        n_classes_(n_classes),
        target_(target),
        options_(options),
        weights_(weights) {
    instances_ = options.instances;
    if (instances_.empty()) {
      instances_.resize(samples.n);
      std::iota(instances_.begin(), instances_.end(), 0);
    }
    if (codes != nullptr) classes_.emplace(codes, samples.n, n_classes);
  }

  void run() {
    switch (options_.rule) {
      case ReliefRule::relief:
      case ReliefRule::relieff:
      case ReliefRule::rrelieff:
        by_neighbors();
        break;
      default:
        by_threshold();
    }
  }

 private:
  // Calls body(order, distances) for all instances, at most matrix_bytes of distances at a time.
  template <typename Body>
  void over_strips(Body&& body, bool refine = false) const {
    const std::size_t m = instances_.size();
    const std::size_t at_once =
        std::clamp(matrix_bytes / (samples_.n * sizeof(std::int64_t)), std::size_t{1}, m);
    for (std::size_t begin = 0; begin < m; begin += at_once) {
      const std::size_t rows = std::min(at_once, m - begin);
      auto order = order_with_first(samples_.n, instances_.data() + begin, rows);
      if (codes_ != nullptr) {
        // Classes together: what is counted a class is counted over runs.
        const auto by_class = [&](std::int32_t a, std::int32_t b) { return codes_[a] < codes_[b]; };
        const auto others = order.begin() + static_cast<std::ptrdiff_t>(rows);
        std::stable_sort(order.begin(), others, by_class);
        std::stable_sort(others, order.end(), by_class);
      }
      Distances distances;
      l1_distances(samples_, scale_, order, rows, options_.precision, options_.n_threads,
                   &distances);
      if (refine) make_exact(order, &distances);
      body(order, distances);
    }
  }

  // In a small table all distances may be those of the arbiter. Only there do limits, which are
  // means of distances, meet distances exactly.
  void make_exact(const std::vector<std::int32_t>& order, Distances* distances) const {
    const std::size_t n = samples_.n;
    const bool off = std::any_of(distances->error.begin(), distances->error.end(),
                                 [](double error) { return error > 0.0; });
    if (!off || options_.precision != Precision::exact ||
        instances_.size() * n * samples_.p > small_table) {  // never some strips and not others
      return;
    }
    const DistanceArbiter arbiter(scale_, DistanceArbiter::summable);
    for (std::size_t i = 0; i < distances->rows; ++i) {
      std::int64_t* row = distances->values.data() + i * distances->ld;
      for (std::size_t j = 0; j < n; ++j) {
        row[j] = j < i ? distances->row(j)[i]
                       : arbiter(samples_, static_cast<std::size_t>(order[i]),
                                 static_cast<std::size_t>(order[j]));
      }
    }
    distances->unit = arbiter.unit();
    distances->error.assign(n, 0.0);
  }

  // Share of rank r among `count` neighbours; all shares of a list come to 1.
  std::vector<double> shares(std::size_t count) const {
    if (options_.rank_weights.empty()) {
      return std::vector<double>(count, 1.0 / static_cast<double>(count));
    }
    std::vector<double> out(options_.rank_weights.begin(),
                            options_.rank_weights.begin() + static_cast<std::ptrdiff_t>(count));
    const double total = std::accumulate(out.begin(), out.end(), 0.0);
    for (double& share : out) share /= total;
    return out;
  }

  void by_neighbors() {
    const DistanceArbiter arbiter(scale_, DistanceArbiter::finest);
    const bool exact = options_.precision == Precision::exact;
    NeighborOptions wanted;
    const bool by_class = options_.rule == ReliefRule::relieff;
    wanted.n_neighbors = std::min(
        options_.n_neighbors, std::min(samples_.n - 1, by_class ? classes_->largest() : samples_.n));
    wanted.ordered = !options_.rank_weights.empty();
    wanted.grouping = by_class                              ? Grouping::classes
                      : options_.rule == ReliefRule::relief ? Grouping::others
                                                            : Grouping::all;
    std::vector<Pair> pairs;
    over_strips([&](const std::vector<std::int32_t>& order, const Distances& distances) {
      Neighbors found;
      nearest_by_group(samples_, distances, order, codes_, n_classes_, wanted,
                       exact ? &arbiter : nullptr, options_.n_threads, &found);
      collect(order, distances.rows, found, &pairs);
    });
    if (options_.rule == ReliefRule::rrelieff) by_target(&pairs);
    std::vector<std::int32_t> order(samples_.n);
    std::iota(order.begin(), order.end(), 0);
    const auto panels = merge(std::move(pairs), samples_.n, options_.n_threads);
    add_pair_weights(samples_, scale_, order, panels, options_.n_threads, weights_);
  }

  // Pairs of instances with their neighbours, by the numbers of the user's rows.
  void collect(const std::vector<std::int32_t>& order, std::size_t rows, const Neighbors& found,
               std::vector<Pair>* pairs) const {
    const double m = static_cast<double>(instances_.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int32_t mine = order[i];
      for (std::size_t g = 0; g < found.n_groups; ++g) {
        const std::size_t count = found.count(i, g);
        if (count == 0) continue;
        double factor = 1.0;
        if (options_.rule == ReliefRule::relieff) {
          const auto own = static_cast<std::size_t>(codes_[mine]);
          factor = classes_->factor(own, g) / m;
        } else if (options_.rule == ReliefRule::relief) {
          factor = (g == 0 ? -1.0 : 1.0) / m;
        }
        const auto share = shares(count);
        for (std::size_t r = 0; r < count; ++r) {
          const std::int32_t other = order[static_cast<std::size_t>(found.list(i, g)[r])];
          pairs->push_back({mine, other, factor * share[r]});
        }
      }
    }
  }

  // From the influence of a neighbour to RReliefF's coefficient (2003, figure 3):
  //   N_dCdA / N_dC - (N_dA - N_dCdA) / (m - N_dC).
  void by_target(std::vector<Pair>* pairs) const {
    const auto [low, high] = std::minmax_element(target_, target_ + samples_.n);
    const double range = *high - *low;
    const auto apart = [&](const Pair& pair) {
      return range > 0.0 ? std::fabs(target_[pair.first] - target_[pair.second]) / range : 0.0;
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

  // Places of one class that lie together.
  struct Run {
    std::size_t begin, end, group;
  };

  enum class Side { near, between, far };

  // Where the pairs of one sample lie. Distances are whole numbers, off by at most `error`, so
  // those within reach of a limit are open: the arbiter decided them.
  struct Row {
    double near = 0.0, far = 0.0;  // the limits, in units
    std::int64_t near_low, near_high, far_low, far_high;
    std::vector<std::pair<std::int32_t, Side>> open;  // by place
    std::vector<double> near_coefficients, far_coefficients;  // a class

    bool is_open(std::int64_t d) const {
      return (d >= near_low && d < near_high) || (d > far_low && d <= far_high);
    }
    Side side(std::size_t place, std::int64_t d) const {
      if (!open.empty() && is_open(d)) {
        const auto found = std::lower_bound(
            open.begin(), open.end(), place,
            [](const auto& entry, std::size_t wanted) { return static_cast<std::size_t>(entry.first) < wanted; });
        return found->second;
      }
      return d < near_low ? Side::near : d > far_high ? Side::far : Side::between;
    }
    double coefficient(std::size_t place, std::int64_t d, std::size_t group) const {
      switch (side(place, d)) {
        case Side::near:
          return near_coefficients[group];
        case Side::far:
          return far_coefficients[group];
        default:
          return 0.0;
      }
    }
  };

  void by_threshold() {
    const bool global =
        options_.rule == ReliefRule::surf || options_.rule == ReliefRule::surf_star;
    const double n_pairs = static_cast<double>(instances_.size() * (samples_.n - 1));
    double mean = 0.0;
    const bool in_strips =
        instances_.size() * samples_.n * sizeof(std::int64_t) > matrix_bytes;
    if (global && in_strips) {  // the mean over all pairs comes first
      over_strips([&](const std::vector<std::int32_t>&, const Distances& distances) {
        mean += sum_of(distances) / n_pairs;
      });
    }
    over_strips(
        [&](const std::vector<std::int32_t>& order, const Distances& distances) {
          if (global && !in_strips) mean = sum_of(distances) / n_pairs;
          weigh_strip(order, distances, mean);
        },
        true);
  }

  static double sum_of(const Distances& distances) {
    double total = 0.0;
    for (std::size_t i = 0; i < distances.rows; ++i) {
      const std::int64_t* row = distances.row(i);
      // A row's sum is exact: below 2^63 for any table that fits in memory.
      total += static_cast<double>(std::accumulate(row, row + distances.n, std::int64_t{0}));
    }
    return total;
  }

  Row thresholds(const std::int64_t* row, std::size_t i, double mean, std::int64_t error) const {
    const std::size_t n = samples_.n;
    double near = mean, far = mean;
    const bool own = options_.rule == ReliefRule::multisurf ||
                     options_.rule == ReliefRule::multisurf_star;
    if (own) {
      const std::int64_t total = std::accumulate(row, row + n, std::int64_t{0});
      const double others = static_cast<double>(n - 1);
      const double centre = static_cast<double>(total) / others;
      double part[4] = {0.0, 0.0, 0.0, 0.0};  // running sums that need not wait for each other
      const auto add = [&](std::size_t from, std::size_t to) {
        for (std::size_t j = from; j < to; ++j) {
          const double off = static_cast<double>(row[j]) - centre;
          part[j % 4] += off * off;
        }
      };
      add(0, i);
      add(i + 1, n);
      const double squares = (part[0] + part[1]) + (part[2] + part[3]);
      const double band = 0.5 * std::sqrt(squares / others);
      near = centre - band;
      far = centre + band;
    }
    // d < near means d < ceil(near) for whole numbers.
    constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    Row out;
    out.near = near;
    out.far = far;
    const auto from = static_cast<std::int64_t>(std::ceil(near));
    const auto to = static_cast<std::int64_t>(std::floor(far));
    out.near_low = from - error;
    out.near_high = from + error;
    if (!uses_far()) {
      out.far_low = out.far_high = never;
    } else if (options_.rule == ReliefRule::surf_star) {  // what is not near is far
      out.far_low = from - 1 - error;
      out.far_high = from - 1 + error;
    } else {
      out.far_low = to - error;
      out.far_high = to + error;
    }
    return out;
  }

  bool uses_far() const {
    return options_.rule == ReliefRule::surf_star || options_.rule == ReliefRule::multisurf_star;
  }

  // Decides the open pairs of a row by exact distances.
  void decide(const std::vector<std::int32_t>& order, const Distances& distances,
              const DistanceArbiter& arbiter, std::size_t i, Row* rule) const {
    const std::int64_t* row = distances.row(i);
    for (std::size_t j = 0; j < samples_.n; ++j) {
      if (j == i || !rule->is_open(row[j])) continue;
      const double exact = static_cast<double>(arbiter(samples_, static_cast<std::size_t>(order[i]),
                                                       static_cast<std::size_t>(order[j]))) *
                           (arbiter.unit() / distances.unit);
      Side side = Side::between;
      if (exact < rule->near) {
        side = Side::near;
      } else if (uses_far() && (options_.rule == ReliefRule::surf_star || exact > rule->far)) {
        side = Side::far;
      }
      rule->open.emplace_back(static_cast<std::int32_t>(j), side);
    }
  }

  void weigh_strip(const std::vector<std::int32_t>& order, const Distances& distances,
                   double mean) {
    const std::size_t n = samples_.n, rows = distances.rows;
    const double m = static_cast<double>(instances_.size());
    std::vector<std::int32_t> group(n);
    for (std::size_t j = 0; j < n; ++j) group[j] = codes_[order[j]];
    std::vector<Run> runs;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == 0 || group[j] != group[j - 1]) runs.push_back({j, j, static_cast<std::size_t>(group[j])});
      runs.back().end = j + 1;
    }
    std::vector<Row> rule(rows);
    const DistanceArbiter arbiter(scale_, DistanceArbiter::summable);
    const double largest_error =
        *std::max_element(distances.error.begin(), distances.error.end());
    const auto error_of = [&](std::size_t i) {
      if (options_.precision != Precision::exact || largest_error == 0.0) return std::int64_t{0};
      return static_cast<std::int64_t>(std::ceil(distances.error[i] + largest_error)) + 1;
    };
    constexpr std::size_t chunk_rows = 8;
    parallel_for((rows + chunk_rows - 1) / chunk_rows, options_.n_threads, [&](std::size_t chunk) {
      std::vector<double> near(n_classes_), far(n_classes_);
      for (std::size_t i = chunk * chunk_rows; i < std::min(rows, (chunk + 1) * chunk_rows); ++i) {
        const std::int64_t* row = distances.row(i);
        rule[i] = thresholds(row, i, mean, error_of(i));
        std::fill(near.begin(), near.end(), 0.0);
        std::fill(far.begin(), far.end(), 0.0);
        std::int64_t n_open = 0;
        const Row& limits = rule[i];
        for (const Run& run : runs) {
          std::int64_t n_near = 0, n_far = 0, up_to_open = 0, from_open = 0;
          for (std::size_t j = run.begin; j < run.end; ++j) {
            n_near += row[j] < limits.near_low;
            up_to_open += row[j] < limits.near_high;
          }
          if (uses_far()) {
            for (std::size_t j = run.begin; j < run.end; ++j) {
              n_far += row[j] > limits.far_high;
              from_open += row[j] > limits.far_low;
            }
          }
          n_open += (up_to_open - n_near) + (from_open - n_far);
          if (run.begin <= i && i < run.end) {  // a sample is not its own neighbour
            n_near -= row[i] < limits.near_low;
            n_far -= row[i] > limits.far_high;
          }
          near[run.group] += static_cast<double>(n_near);
          far[run.group] += static_cast<double>(n_far);
        }
        if (n_open > 0) {
          decide(order, distances, arbiter, i, &rule[i]);
          for (const auto& [place, side] : rule[i].open) {
            const auto c = static_cast<std::size_t>(group[static_cast<std::size_t>(place)]);
            // A narrow band: what counts as near for sure may be open towards far.
            const std::int64_t d = row[place];
            near[c] += (side == Side::near) - (d < limits.near_low);
            far[c] += (side == Side::far) - (d > limits.far_high);
          }
        }
        const auto own = static_cast<std::size_t>(group[i]);
        rule[i].near_coefficients.assign(n_classes_, 0.0);
        rule[i].far_coefficients.assign(n_classes_, 0.0);
        for (std::size_t c = 0; c < n_classes_; ++c) {
          const double factor = classes_->factor(own, c) / m;
          if (near[c] > 0.0) rule[i].near_coefficients[c] = factor / near[c];
          if (uses_far() && far[c] > 0.0) rule[i].far_coefficients[c] = -factor / far[c];
        }
      }
    });
    const std::size_t n_panels = (n + panel_samples - 1) / panel_samples;
    const std::size_t at_once =
        std::clamp(pairs_at_once / (rows * panel_samples), std::size_t{1}, n_panels);
    for (std::size_t begin = 0; begin < n_panels; begin += at_once) {
      std::vector<PairPanel> panels(std::min(at_once, n_panels - begin));
      parallel_for(panels.size(), options_.n_threads, [&](std::size_t k) {
        PairPanel& panel = panels[k];
        const std::size_t first = (begin + k) * panel_samples;
        const std::size_t last = std::min(first + panel_samples, n);
        for (std::size_t i = 0; i < std::min(rows, last); ++i) {
          const std::int64_t* row = distances.row(i);
          const auto mine = static_cast<std::size_t>(group[i]);
          panel.open(static_cast<std::int32_t>(i));
          for (std::size_t j = std::max(first, i + 1); j < last; ++j) {
            double c = rule[i].coefficient(j, row[j], static_cast<std::size_t>(group[j]));
            if (j < rows) c += rule[j].coefficient(i, row[j], mine);
            if (c != 0.0) panel.add(static_cast<std::int32_t>(j), c);
          }
        }
      });
      add_pair_weights(samples_, scale_, order, panels, options_.n_threads, weights_);
    }
  }

  const SampleRows<T>& samples_;
  const FeatureScale& scale_;
  const std::int32_t* codes_;
  std::size_t n_classes_;
  const double* target_;
  const ReliefOptions& options_;
  double* weights_;
  std::vector<std::int32_t> instances_;
  std::optional<ClassSizes> classes_;
};

}  // namespace

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
  Family<T>(samples, *scale, codes, n_classes, target, options, weights).run();
}

template void relief_weights<float>(const SampleRows<float>&, FeatureScale*, const std::int32_t*,
                                    std::size_t, const double*, const ReliefOptions&, double*);
template void relief_weights<double>(const SampleRows<double>&, FeatureScale*, const std::int32_t*,
                                     std::size_t, const double*, const ReliefOptions&, double*);

}  // namespace bitsieve
