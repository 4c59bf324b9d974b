#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bitsieve/core/labelled_sort.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/pairs.hpp"
#include "relief_job.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t pairs_at_once = std::size_t{4} << 20;
constexpr std::size_t rows_at_once = 8;  // whose distances the exact re-check finds together
// Differences of values that finer limits may cost: so many, or such a share of the distances.
constexpr double most_differences = 0x1p28, largest_share = 1.0 / 64.0;

bool has_one_limit(ReliefRule rule) {
  return rule == ReliefRule::surf || rule == ReliefRule::surf_star || rule == ReliefRule::swrf_star;
}

bool uses_far(ReliefRule rule) {
  return rule == ReliefRule::surf_star || rule == ReliefRule::multisurf_star ||
         rule == ReliefRule::swrf_star;
}

// Mean and standard deviation of the distances of all pairs, and by how much the mean may be off.
struct Spread {
  double mean = 0.0, deviation = 0.0, error = 0.0;
};

// The whole numbers within reach of a limit, which may lie on either side of it; maybe none.
struct Bounds {
  std::int64_t first, last;
  Bounds(double limit, double reach)
      : first(static_cast<std::int64_t>(std::ceil(limit - reach))),
        last(static_cast<std::int64_t>(std::floor(limit + reach))) {}
};

// Where the pairs of one sample lie. Distances are whole numbers of a unit. Those within reach of
// a limit, by the errors of both, are open until they are decided.
struct Limits {
  double near = 0.0, far = 0.0;
  std::int64_t near_low = 0, near_high = 0, far_low = 0, far_high = 0;
  std::vector<std::pair<std::int32_t, Side>> open;          // by place
  std::vector<double> near_coefficients, far_coefficients;  // a class

  bool is_open(std::int64_t d) const {
    return (d >= near_low && d < near_high) || (d > far_low && d <= far_high);
  }
  Side certain(std::int64_t d) const {
    return d < near_low ? Side::near : d > far_high ? Side::far : Side::between;
  }
  Side side(std::size_t place, std::int64_t d) const {
    if (!open.empty() && is_open(d)) {
      const auto before = [](const auto& entry, std::size_t wanted) {
        return static_cast<std::size_t>(entry.first) < wanted;
      };
      return std::lower_bound(open.begin(), open.end(), place, before)->second;
    }
    return certain(d);
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

// The limits of the sample at place i, at whose row of distances, each off by at most `error`, we
// are; `all` is in the same unit. A distance at a limit is neither near nor far.
Limits limits_of(ReliefRule rule, const std::int64_t* row, std::size_t n, std::size_t i,
                 const Spread& all, double error) {
  double near = all.mean, far = all.mean, reach = all.error;
  if (!has_one_limit(rule)) {
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
    // A mean and a deviation of numbers that are off by `error` are off by no more than that.
    reach = 1.5 * error + (centre + band) * others * 0x1p-51;
  }
  reach += error + far * 0x1p-50;
  Limits out;
  out.near = near;
  out.far = far;
  const Bounds at(near, reach), beyond(far, reach);
  out.near_low = at.first;
  out.near_high = at.last + 1;
  if (!uses_far(rule)) {
    out.far_low = out.far_high = std::numeric_limits<std::int64_t>::max();
  } else if (rule == ReliefRule::surf_star) {  // what is not near is far
    out.far_low = out.near_low - 1;
    out.far_high = out.near_high - 1;
  } else {
    out.far_low = beyond.first - 1;
    out.far_high = beyond.last;
  }
  return out;
}

// The spread of all pairs from distances that come strip by strip.
class SpreadSums {
 public:
  template <typename T>
  explicit SpreadSums(const ReliefJob<T>& job)
      : rows_(static_cast<double>(job.instances.size())),
        n_pairs_(rows_ * static_cast<double>(job.samples.n - 1)),
        rounds_(job.options.precision == Precision::exact) {}
  void add(const Distances& distances) {
    double squares = 0.0;
    for (std::size_t i = 0; i < distances.rows; ++i) {
      const std::int64_t* row = distances.row(i);
      // A row's sum is exact: below 2^63 for any table that fits in memory.
      total_ += static_cast<double>(std::accumulate(row, row + distances.n, std::int64_t{0}));
      double own = 0.0;
      for (std::size_t j = 0; j < distances.n; ++j) {
        const double d = static_cast<double>(row[j]);
        own += d * d;
      }
      squares += own;
    }
    squares_ += squares;
    if (!rounds_) return;  // a coarse grid's distances are taken as they are
    const auto largest = std::max_element(distances.error.begin(), distances.error.end());
    error_ = std::max(error_, 2.0 * *largest);
  }
  Spread spread() const {
    const double mean = total_ / n_pairs_;
    const double variance = std::max(0.0, squares_ / n_pairs_ - mean * mean);
    return {mean, std::sqrt(variance), error_ + mean * rows_ * 0x1p-52};
  }

 private:
  double rows_, n_pairs_;
  bool rounds_;
  double total_ = 0.0, squares_ = 0.0, error_ = 0.0;
};

// The mean of all pairs' distances in the exact re-check's units, by the order of each feature's
// values.
template <typename T>
Spread fine_spread(const ReliefJob<T>& job, const ExactManhattan& recheck) {
  const std::size_t n = job.samples.n, p = job.samples.p;
  std::vector<double> means(p, 0.0);
  const double n_pairs = static_cast<double>(job.instances.size() * (n - 1));
  constexpr std::size_t block = 16;
  parallel_for((p + block - 1) / block, job.options.n_threads, [&](std::size_t chunk) {
    std::vector<double> values(n), sorted(n), before(n + 1, 0.0);
    std::vector<Labelled> items(n);
    LabelledSort sort;
    for (std::size_t f = chunk * block; f < std::min(p, (chunk + 1) * block); ++f) {
      const double factor = recheck.scale(f);
      if (factor == 0.0) continue;
      const bool nominal = job.scale.is_nominal(f);
      for (std::size_t j = 0; j < n; ++j) {
        const double off = static_cast<double>(job.samples.row(j)[f]) - job.scale.low[f];
        values[j] = nominal ? off : off * factor;
      }
      for (std::size_t j = 0; j < n; ++j) items[j] = {values[j], 0};
      sort(items);
      for (std::size_t j = 0; j < n; ++j) sorted[j] = items[j].value;
      double total = 0.0;
      if (!nominal && job.instances.size() == n) {
        for (std::size_t k = 0; k < n; ++k) {
          total += sorted[k] * 2.0 * (2.0 * static_cast<double>(k) + 1.0 - static_cast<double>(n));
        }
        means[f] = total / n_pairs;
        continue;
      }
      std::partial_sum(sorted.begin(), sorted.end(), before.begin() + 1);
      for (const std::int32_t instance : job.instances) {
        const double own = values[static_cast<std::size_t>(instance)];
        const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), own);
        const auto below = static_cast<std::size_t>(first - sorted.begin());
        const auto up_to = static_cast<std::size_t>(last - sorted.begin());
        if (nominal) {
          total += factor * static_cast<double>(n - (up_to - below));
        } else {
          total += own * static_cast<double>(below) - before[below];
          total += (before[n] - before[up_to]) - own * static_cast<double>(n - up_to);
        }
      }
      means[f] = total / n_pairs;
    }
  });
  const double mean = std::accumulate(means.begin(), means.end(), 0.0);
  // Values are at most 1 / unit each; sums of n of them, and of p means, round so often.
  const double grid = job.scale.largest_weight / recheck.unit();
  return {mean, 0.0,
          (static_cast<double>(n) * 4.0 + static_cast<double>(p)) * static_cast<double>(p) * grid *
              0x1p-52};
}

// Instances of one strip, and their pairs with all samples.
template <typename T>
class Strip {
 public:
  Strip(const ReliefJob<T>& job, const std::vector<std::int32_t>& order, const Distances& distances,
        const Spread& all)
      : job_(job),
        order_(order),
        distances_(distances),
        all_(all),
        star_(uses_far(job.options.rule)),
        largest_error_(*std::max_element(distances.error.begin(), distances.error.end())),
        recheck_(job.scale, ExactManhattan::summable),
        class_of_(job.samples.n),
        limits_(distances.rows) {
    for (std::size_t j = 0; j < class_of_.size(); ++j) {
      class_of_[j] = static_cast<std::size_t>(job.codes[order[j]]);
      if (j == 0 || class_of_[j] != class_of_[j - 1]) runs_.push_back({j, j, class_of_[j]});
      runs_.back().end = j + 1;
    }
  }

  void weigh(double* weights) {
    const std::size_t rows = distances_.rows, n = job_.samples.n;
    over_rows([&](std::size_t i) { bound(i); });
    decide();
    over_rows([&](std::size_t i) { settle(i); });
    const std::size_t n_panels = (n + panel_samples - 1) / panel_samples;
    const std::size_t at_once =
        std::clamp(pairs_at_once / (rows * panel_samples), std::size_t{1}, n_panels);
    for (std::size_t begin = 0; begin < n_panels; begin += at_once) {
      std::vector<PairPanel> panels(std::min(at_once, n_panels - begin));
      parallel_for(panels.size(), job_.options.n_threads,
                   [&](std::size_t k) { fill((begin + k) * panel_samples, &panels[k]); });
      add_pair_weights(job_.samples, job_.scale, order_, panels, job_.options.n_threads, weights);
    }
  }

 private:
  // Places of one class that lie together.
  struct Run {
    std::size_t begin, end, group;
  };

  template <typename Body>
  void over_rows(const Body& body) const {
    const std::size_t rows = distances_.rows;
    constexpr std::size_t chunk_rows = 8;
    parallel_for((rows + chunk_rows - 1) / chunk_rows, job_.options.n_threads,
                 [&](std::size_t chunk) {
                   const std::size_t end = std::min(rows, (chunk + 1) * chunk_rows);
                   for (std::size_t i = chunk * chunk_rows; i < end; ++i) body(i);
                 });
  }

  Side at_limit() const {
    return job_.options.rule == ReliefRule::surf_star ? Side::far : Side::between;
  }
  bool is_exact() const { return job_.options.precision == Precision::exact; }

  // Limits of the sample at place i and the places open there, a coarse grid's by that grid.
  void bound(std::size_t i) {
    const std::int64_t* row = distances_.row(i);
    const double error =
        is_exact() && largest_error_ > 0.0 ? distances_.error[i] + largest_error_ + 1.0 : 0.0;
    Limits& limits = limits_[i];
    limits = limits_of(job_.options.rule, row, job_.samples.n, i, all_, error);
    std::size_t n_open = 0;
    for (std::size_t j = 0; j < job_.samples.n; ++j) n_open += limits.is_open(row[j]);
    if (n_open == 0) return;
    for (std::size_t j = 0; j < job_.samples.n; ++j) {
      if (j != i && limits.is_open(row[j])) {
        limits.open.emplace_back(static_cast<std::int32_t>(j), at_limit());
      }
    }
  }

  // Decides what is open: by finer distances, and what they leave open without any rounding.
  void decide() {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      if (!limits_[i].open.empty()) rows.push_back(i);
    }
    if (rows.empty() || !is_exact()) return;
    std::vector<std::vector<std::size_t>> left(rows.size());  // positions in the row's open ones
    if (largest_error_ > 0.0 && !affords_finer_limits(rows.size())) {
      parallel_for(rows.size(), job_.options.n_threads, [&](std::size_t k) { decide_row(rows[k]); });
      return;
    }
    if (largest_error_ > 0.0) {
      Spread fine;
      if (has_one_limit(job_.options.rule)) fine = fine_spread(job_, recheck_);
      const std::size_t n_chunks = (rows.size() + rows_at_once - 1) / rows_at_once;
      parallel_for(n_chunks, job_.options.n_threads, [&](std::size_t chunk) {
        const std::size_t begin = chunk * rows_at_once;
        decide_rows(rows.data() + begin, std::min(rows_at_once, rows.size() - begin), fine,
                    left.data() + begin);
      });
    } else {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        left[k].resize(limits_[rows[k]].open.size());
        std::iota(left[k].begin(), left[k].end(), std::size_t{0});
      }
    }
    if (!job_.options.decide) return;
    std::vector<std::int64_t> pairs;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (const std::size_t at : left[k]) {
        pairs.push_back(order_[rows[k]]);
        pairs.push_back(order_[static_cast<std::size_t>(limits_[rows[k]].open[at].first)]);
      }
    }
    if (pairs.empty()) return;
    const std::vector<Side> sides = job_.options.decide(pairs);
    auto side = sides.begin();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (const std::size_t at : left[k]) limits_[rows[k]].open[at].second = *side++;
    }
  }

  // Whether finer distances may be found for whole rows, or the finer mean of all.
  bool affords_finer_limits(std::size_t n_rows) const {
    const double n = static_cast<double>(job_.samples.n);
    const double table = n * static_cast<double>(job_.samples.p);
    const double work = table * (has_one_limit(job_.options.rule) ? 2.0 * std::log2(n + 1.0)
                                                                  : static_cast<double>(n_rows));
    const double all = table * static_cast<double>(distances_.rows);
    return work <= std::max(most_differences, largest_share * all);
  }

  // In a large table open pairs are finer ones, but the limits stay those of the distances.
  void decide_row(std::size_t i) {
    const Limits grid = limits_of(job_.options.rule, distances_.row(i), job_.samples.n, i, all_, 0.0);
    const double ratio = recheck_.unit() / distances_.unit;
    for (auto& [place, side] : limits_[i].open) {
      const double exact =
          ratio * static_cast<double>(recheck_(job_.samples, static_cast<std::size_t>(order_[i]),
                                               static_cast<std::size_t>(order_[place])));
      side = Side::between;
      if (exact < grid.near) {
        side = Side::near;
      } else if (star_ && (job_.options.rule == ReliefRule::surf_star || exact > grid.far)) {
        side = Side::far;
      }
    }
  }

  // Decides the open pairs of a few rows by the exact re-check, and lists those that it cannot. The
  // rows share each other sample while it lies in cache.
  void decide_rows(const std::size_t* rows, std::size_t count, const Spread& fine,
                   std::vector<std::size_t>* left) {
    const std::size_t n = job_.samples.n;
    const bool whole_rows = !has_one_limit(job_.options.rule);
    std::vector<std::int64_t> found(count * n, 0);
    std::vector<std::size_t> next(count, 0);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < count; ++k) {
        const auto& open = limits_[rows[k]].open;
        const bool wanted =
            next[k] < open.size() && static_cast<std::size_t>(open[next[k]].first) == j;
        next[k] += wanted;
        if ((wanted || whole_rows) && j != rows[k]) {
          found[k * n + j] = recheck_(job_.samples, static_cast<std::size_t>(order_[rows[k]]),
                                      static_cast<std::size_t>(order_[j]));
        }
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t* row = found.data() + k * n;
      const Limits finer =
          limits_of(job_.options.rule, row, n, rows[k], fine, recheck_.error());
      auto& open = limits_[rows[k]].open;
      for (std::size_t at = 0; at < open.size(); ++at) {
        const std::int64_t d = row[open[at].first];
        open[at].second = finer.certain(d);
        if (finer.is_open(d)) {
          open[at].second = at_limit();
          left[k].push_back(at);
        }
      }
    }
  }

  // Coefficients of the sample at place i, from how many are near and far in each class.
  void settle(std::size_t i) {
    const std::int64_t* row = distances_.row(i);
    Limits& limits = limits_[i];
    std::vector<double> near(job_.n_classes, 0.0), far(job_.n_classes, 0.0);
    for (const Run& run : runs_) {
      std::int64_t n_near = 0, n_far = 0;
      for (std::size_t j = run.begin; j < run.end; ++j) n_near += row[j] < limits.near_low;
      if (star_) {
        for (std::size_t j = run.begin; j < run.end; ++j) n_far += row[j] > limits.far_high;
      }
      if (run.begin <= i && i < run.end) {  // a sample is not its own neighbor
        n_near -= row[i] < limits.near_low;
        n_far -= row[i] > limits.far_high;
      }
      near[run.group] += static_cast<double>(n_near);
      far[run.group] += static_cast<double>(n_far);
    }
    for (const auto& [place, side] : limits.open) {
      const auto j = static_cast<std::size_t>(place);
      // A narrow band: what counts as near for sure may be open towards far.
      near[class_of_[j]] += (side == Side::near) - (row[j] < limits.near_low);
      far[class_of_[j]] += (side == Side::far) - (row[j] > limits.far_high);
    }
    const double m = static_cast<double>(job_.instances.size());
    limits.near_coefficients.assign(job_.n_classes, 0.0);
    limits.far_coefficients.assign(job_.n_classes, 0.0);
    for (std::size_t c = 0; c < job_.n_classes; ++c) {
      const double factor = job_.sizes->factor(class_of_[i], c) / m;
      if (near[c] > 0.0) limits.near_coefficients[c] = factor / near[c];
      if (star_ && far[c] > 0.0) limits.far_coefficients[c] = -factor / far[c];
    }
  }

  // What SWRF* multiplies a pair's coefficient by: 2 / (1 + exp(-4 off / deviation)) - 1, the
  // sign apart.
  double weight(std::int64_t d) const {
    if (job_.options.rule != ReliefRule::swrf_star || all_.deviation == 0.0) return 1.0;
    return std::tanh(2.0 * std::fabs(static_cast<double>(d) - all_.mean) / all_.deviation);
  }

  // Pairs of all instances with the samples at the places of one panel.
  void fill(std::size_t first, PairPanel* panel) const {
    const std::size_t rows = distances_.rows;
    const std::size_t last = std::min(first + panel_samples, job_.samples.n);
    for (std::size_t i = 0; i < std::min(rows, last); ++i) {
      const std::int64_t* row = distances_.row(i);
      panel->open(static_cast<std::int32_t>(i));
      for (std::size_t j = std::max(first, i + 1); j < last; ++j) {
        double c = limits_[i].coefficient(j, row[j], class_of_[j]);
        if (j < rows) c += limits_[j].coefficient(i, row[j], class_of_[i]);
        if (c != 0.0) panel->add(static_cast<std::int32_t>(j), c * weight(row[j]));
      }
    }
  }

  const ReliefJob<T>& job_;
  const std::vector<std::int32_t>& order_;
  const Distances& distances_;
  const Spread& all_;
  bool star_;
  double largest_error_;
  ExactManhattan recheck_;
  std::vector<std::size_t> class_of_;  // a place
  std::vector<Run> runs_;
  std::vector<Limits> limits_;  // a row
};

}  // namespace

template <typename T>
void weigh_by_limits(const ReliefJob<T>& job, double* weights) {
  const bool global = has_one_limit(job.options.rule);
  SpreadSums sums(job);
  if (global && job.in_strips()) {  // the mean over all pairs comes first
    job.over_strips(
        [&](const std::vector<std::int32_t>&, Distances* distances) { sums.add(*distances); });
  }
  job.over_strips([&](const std::vector<std::int32_t>& order, Distances* distances) {
    if (global && !job.in_strips()) sums.add(*distances);
    const Spread all = global ? sums.spread() : Spread{};
    Strip<T>(job, order, *distances, all).weigh(weights);
  });
}

template void weigh_by_limits<float>(const ReliefJob<float>&, double*);
template void weigh_by_limits<double>(const ReliefJob<double>&, double*);

}  // namespace bitsieve
