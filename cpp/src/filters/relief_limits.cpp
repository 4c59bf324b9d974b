#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/pairs.hpp"
#include "relief_job.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t pairs_at_once = std::size_t{4} << 20;
constexpr std::size_t small_table = std::size_t{4} << 20;  // pairs times features

bool has_one_limit(ReliefRule rule) {
  return rule == ReliefRule::surf || rule == ReliefRule::surf_star;
}

bool uses_far(ReliefRule rule) {
  return rule == ReliefRule::surf_star || rule == ReliefRule::multisurf_star;
}

double sum_of(const Distances& distances) {
  double total = 0.0;
  for (std::size_t i = 0; i < distances.rows; ++i) {
    const std::int64_t* row = distances.row(i);
    // A row's sum is exact: below 2^63 for any table that fits in memory.
    total += static_cast<double>(std::accumulate(row, row + distances.n, std::int64_t{0}));
  }
  return total;
}

// In a small table all distances may be those of the arbiter. Only there do limits, which are
// means of distances, meet distances exactly.
template <typename T>
void make_exact(const ReliefJob<T>& job, const std::vector<std::int32_t>& order,
                Distances* distances) {
  const std::size_t n = job.samples.n;
  const bool off = std::any_of(distances->error.begin(), distances->error.end(),
                               [](double error) { return error > 0.0; });
  if (!off || job.options.precision != Precision::exact ||
      job.instances.size() * n * job.samples.p > small_table) {  // all strips or none
    return;
  }
  const DistanceArbiter arbiter(job.scale, DistanceArbiter::summable);
  for (std::size_t i = 0; i < distances->rows; ++i) {
    std::int64_t* row = distances->values.data() + i * distances->ld;
    for (std::size_t j = 0; j < n; ++j) {
      row[j] = j < i ? distances->row(j)[i]
                     : arbiter(job.samples, static_cast<std::size_t>(order[i]),
                               static_cast<std::size_t>(order[j]));
    }
  }
  distances->unit = arbiter.unit();
  distances->error.assign(n, 0.0);
}

enum class Side { near, between, far };

// Where the pairs of one sample lie. Distances are whole numbers, off by at most `error`, so
// those within reach of a limit are open: the arbiter decides them.
struct Limits {
  double near = 0.0, far = 0.0;  // in units
  std::int64_t near_low, near_high, far_low, far_high;
  std::vector<std::pair<std::int32_t, Side>> open;          // by place
  std::vector<double> near_coefficients, far_coefficients;  // a class

  bool is_open(std::int64_t d) const {
    return (d >= near_low && d < near_high) || (d > far_low && d <= far_high);
  }
  Side side(std::size_t place, std::int64_t d) const {
    if (!open.empty() && is_open(d)) {
      const auto before = [](const auto& entry, std::size_t wanted) {
        return static_cast<std::size_t>(entry.first) < wanted;
      };
      return std::lower_bound(open.begin(), open.end(), place, before)->second;
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

// The limits of the sample at place i, at whose row of distances we are; `mean` is that of all.
Limits limits_of(ReliefRule rule, const std::int64_t* row, std::size_t n, std::size_t i,
                 double mean, std::int64_t error) {
  Limits out;
  out.near = out.far = mean;
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
    out.near = centre - band;
    out.far = centre + band;
  }
  // d < near means d < ceil(near) for whole numbers.
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  const auto from = static_cast<std::int64_t>(std::ceil(out.near));
  const auto to = static_cast<std::int64_t>(std::floor(out.far));
  out.near_low = from - error;
  out.near_high = from + error;
  if (!uses_far(rule)) {
    out.far_low = out.far_high = never;
  } else if (rule == ReliefRule::surf_star) {  // what is not near is far
    out.far_low = from - 1 - error;
    out.far_high = from - 1 + error;
  } else {
    out.far_low = to - error;
    out.far_high = to + error;
  }
  return out;
}

// Instances of one strip, and their pairs with all samples.
template <typename T>
class Strip {
 public:
  Strip(const ReliefJob<T>& job, const std::vector<std::int32_t>& order, const Distances& distances,
        double mean)
      : job_(job),
        order_(order),
        distances_(distances),
        mean_(mean),
        star_(uses_far(job.options.rule)),
        largest_error_(*std::max_element(distances.error.begin(), distances.error.end())),
        arbiter_(job.scale, DistanceArbiter::summable),
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
    constexpr std::size_t chunk_rows = 8;
    const std::size_t n_chunks = (rows + chunk_rows - 1) / chunk_rows;
    parallel_for(n_chunks, job_.options.n_threads, [&](std::size_t chunk) {
      std::vector<double> near(job_.n_classes), far(job_.n_classes);
      const std::size_t end = std::min(rows, (chunk + 1) * chunk_rows);
      for (std::size_t i = chunk * chunk_rows; i < end; ++i) set_limits(i, &near, &far);
    });
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

  std::int64_t error_of(std::size_t i) const {
    if (job_.options.precision != Precision::exact || largest_error_ == 0.0) return 0;
    return static_cast<std::int64_t>(std::ceil(distances_.error[i] + largest_error_)) + 1;
  }

  // Limits and coefficients of the sample at place i; `near` and `far` have a number a class.
  void set_limits(std::size_t i, std::vector<double>* near, std::vector<double>* far) {
    const std::int64_t* row = distances_.row(i);
    Limits& limits = limits_[i];
    limits = limits_of(job_.options.rule, row, job_.samples.n, i, mean_, error_of(i));
    std::fill(near->begin(), near->end(), 0.0);
    std::fill(far->begin(), far->end(), 0.0);
    if (count(i, limits, near, far) > 0) {
      decide(i, &limits);
      for (const auto& [place, side] : limits.open) {
        const std::size_t c = class_of_[static_cast<std::size_t>(place)];
        // A narrow band: what counts as near for sure may be open towards far.
        const std::int64_t d = row[place];
        (*near)[c] += (side == Side::near) - (d < limits.near_low);
        (*far)[c] += (side == Side::far) - (d > limits.far_high);
      }
    }
    const double m = static_cast<double>(job_.instances.size());
    limits.near_coefficients.assign(job_.n_classes, 0.0);
    limits.far_coefficients.assign(job_.n_classes, 0.0);
    for (std::size_t c = 0; c < job_.n_classes; ++c) {
      const double factor = job_.sizes->factor(class_of_[i], c) / m;
      if ((*near)[c] > 0.0) limits.near_coefficients[c] = factor / (*near)[c];
      if (star_ && (*far)[c] > 0.0) limits.far_coefficients[c] = -factor / (*far)[c];
    }
  }

  // Adds those near and far for sure, a class; returns how many are open.
  std::int64_t count(std::size_t i, const Limits& limits, std::vector<double>* near,
                     std::vector<double>* far) const {
    const std::int64_t* row = distances_.row(i);
    std::int64_t n_open = 0;
    for (const Run& run : runs_) {
      std::int64_t n_near = 0, n_far = 0, up_to_open = 0, from_open = 0;
      for (std::size_t j = run.begin; j < run.end; ++j) {
        n_near += row[j] < limits.near_low;
        up_to_open += row[j] < limits.near_high;
      }
      if (star_) {
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
      (*near)[run.group] += static_cast<double>(n_near);
      (*far)[run.group] += static_cast<double>(n_far);
    }
    return n_open;
  }

  // Decides the open pairs of a row by exact distances.
  void decide(std::size_t i, Limits* limits) const {
    const std::int64_t* row = distances_.row(i);
    const auto mine = static_cast<std::size_t>(order_[i]);
    for (std::size_t j = 0; j < job_.samples.n; ++j) {
      if (j == i || !limits->is_open(row[j])) continue;
      const auto other = static_cast<std::size_t>(order_[j]);
      const double exact = static_cast<double>(arbiter_(job_.samples, mine, other)) *
                           (arbiter_.unit() / distances_.unit);
      Side side = Side::between;
      if (exact < limits->near) {
        side = Side::near;
      } else if (star_ && (job_.options.rule == ReliefRule::surf_star || exact > limits->far)) {
        side = Side::far;
      }
      limits->open.emplace_back(static_cast<std::int32_t>(j), side);
    }
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
        if (c != 0.0) panel->add(static_cast<std::int32_t>(j), c);
      }
    }
  }

  const ReliefJob<T>& job_;
  const std::vector<std::int32_t>& order_;
  const Distances& distances_;
  double mean_;
  bool star_;
  double largest_error_;
  DistanceArbiter arbiter_;
  std::vector<std::size_t> class_of_;  // a place
  std::vector<Run> runs_;
  std::vector<Limits> limits_;  // a row
};

}  // namespace

template <typename T>
void weigh_by_limits(const ReliefJob<T>& job, double* weights) {
  const bool global = has_one_limit(job.options.rule);
  const double n_pairs = static_cast<double>(job.instances.size() * (job.samples.n - 1));
  double mean = 0.0;
  if (global && job.in_strips()) {  // the mean over all pairs comes first
    job.over_strips([&](const std::vector<std::int32_t>&, Distances* distances) {
      mean += sum_of(*distances) / n_pairs;
    });
  }
  job.over_strips([&](const std::vector<std::int32_t>& order, Distances* distances) {
    make_exact(job, order, distances);
    if (global && !job.in_strips()) mean = sum_of(*distances) / n_pairs;
    Strip<T>(job, order, *distances, mean).weigh(weights);
  });
}

template void weigh_by_limits<float>(const ReliefJob<float>&, double*);
template void weigh_by_limits<double>(const ReliefJob<double>&, double*);

}  // namespace bitsieve
