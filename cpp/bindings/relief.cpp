// The Relief family.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/neighbors.hpp"
#include "bitsieve/filters/relief.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

template <typename T>
SampleRows<T> relief_samples(const Array<T>& x) {
  require(x.ndim() == 2 && x.shape(0) >= 2 && x.shape(1) >= 1,
          "X must have shape (n_samples, n_features), with two samples or more");
  require(static_cast<std::uint64_t>(x.shape(0)) < (std::uint64_t{1} << 31) &&
              static_cast<std::uint64_t>(x.shape(1)) < (std::uint64_t{1} << 31),
          "X must have fewer than 2^31 samples and features");
  return {x.data(), static_cast<std::size_t>(x.shape(0)), static_cast<std::size_t>(x.shape(1))};
}

FeatureScale feature_scale(const std::optional<Array<std::uint8_t>>& discrete,
                           const std::optional<Array<double>>& feature_weights, std::size_t p) {
  FeatureScale scale;
  if (discrete) {
    require(discrete->ndim() == 1 && static_cast<std::size_t>(discrete->size()) == p,
            "discrete must have one value a feature");
    scale.nominal.assign(discrete->data(), discrete->data() + p);
    if (std::none_of(scale.nominal.begin(), scale.nominal.end(), [](auto v) { return v != 0; })) {
      scale.nominal.clear();
    }
  }
  if (feature_weights) {
    require(feature_weights->ndim() == 1 && static_cast<std::size_t>(feature_weights->size()) == p,
            "feature_weights must have one value a feature");
    const double* w = feature_weights->data();
    require(std::all_of(w, w + p, [](double v) { return v >= 0.0 && std::isfinite(v); }),
            "feature_weights must be finite and at least 0");
    scale.weights.assign(w, w + p);
    scale.largest_weight = *std::max_element(w, w + p);
    require(scale.largest_weight > 0.0, "one of feature_weights must be above 0");
  }
  return scale;
}

template <typename T>
void check_nominal(const SampleRows<T>& samples, const FeatureScale& scale) {
  if (scale.nominal.empty()) return;
  for (std::size_t i = 0; i < samples.n; ++i) {
    for (std::size_t f = 0; f < samples.p; ++f) {
      if (!scale.is_nominal(f)) continue;
      const double v = static_cast<double>(samples.row(i)[f]);
      if (v >= 0.0 && v < 65536.0 && v == std::floor(v)) continue;
      throw std::invalid_argument("column " + std::to_string(f) +
                                  " is discrete: its values must be codes from 0 to 65535");
    }
  }
}

std::vector<std::int32_t> check_rows(const std::optional<Lists>& rows, std::size_t n) {
  std::vector<std::int32_t> out;
  if (!rows) {
    out.resize(n);
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  require(rows->ndim() == 1 && rows->size() >= 1, "rows must be one-dimensional and not empty");
  std::vector<char> seen(n, 0);
  for (py::ssize_t k = 0; k < rows->size(); ++k) {
    const std::int64_t i = rows->data()[k];
    require(i >= 0 && static_cast<std::size_t>(i) < n, "rows must lie in [0, n_samples)");
    require(!seen[static_cast<std::size_t>(i)], "rows must be distinct");
    seen[static_cast<std::size_t>(i)] = 1;
    out.push_back(static_cast<std::int32_t>(i));
  }
  return out;
}

template <typename Value>
Value by_name(const std::string& name, const std::vector<std::pair<const char*, Value>>& known,
              const char* what) {
  for (const auto& [word, value] : known) {
    if (name == word) return value;
  }
  throw std::invalid_argument(std::string("unknown ") + what + " \"" + name + "\"");
}

ReliefRule rule_by_name(const std::string& name) {
  return by_name<ReliefRule>(name,
                             {{"relief", ReliefRule::relief},
                              {"relieff", ReliefRule::relieff},
                              {"rrelieff", ReliefRule::rrelieff},
                              {"surf", ReliefRule::surf},
                              {"surf_star", ReliefRule::surf_star},
                              {"multisurf", ReliefRule::multisurf},
                              {"multisurf_star", ReliefRule::multisurf_star},
                              {"swrf_star", ReliefRule::swrf_star}},
                             "algorithm");
}

Precision precision_by_name(const std::string& name) {
  return by_name<Precision>(
      name,
      {{"exact", Precision::exact}, {"int16", Precision::word}, {"uint8", Precision::byte}},
      "precision");
}

// A Python function of (n_pairs, 2) samples that returns int8 -1, 0, 1: near, between, far.
std::function<std::vector<Side>(const std::vector<std::int64_t>&)> sides_by(
    const py::function& decide) {
  return [decide](const std::vector<std::int64_t>& pairs) {
    const py::gil_scoped_acquire acquire;
    const auto n = static_cast<py::ssize_t>(pairs.size() / 2);
    Array<std::int64_t> given({n, py::ssize_t{2}});
    std::copy(pairs.begin(), pairs.end(), given.mutable_data());
    const auto found = py::cast<Array<std::int8_t>>(decide(given));
    require(found.ndim() == 1 && found.size() == n, "decide must return one side a pair");
    std::vector<Side> out;
    for (py::ssize_t k = 0; k < n; ++k) {
      const int side = found.data()[k];
      out.push_back(side < 0 ? Side::near : side > 0 ? Side::far : Side::between);
    }
    return out;
  };
}

Array<double> relief(const Values& x, const std::string& algorithm,
                     const std::optional<Codes>& codes, std::size_t n_classes,
                     const std::optional<Array<double>>& target, const std::optional<Lists>& rows,
                     std::size_t n_neighbors, const std::optional<Array<double>>& rank_weights,
                     const std::optional<Array<std::uint8_t>>& discrete,
                     const std::optional<Array<double>>& feature_weights,
                     const std::string& precision, const std::optional<py::function>& decide,
                     Threads n_threads) {
  ReliefOptions options;
  if (decide) options.decide = sides_by(*decide);
  options.rule = rule_by_name(algorithm);
  options.precision = precision_by_name(precision);
  options.n_neighbors = n_neighbors;
  options.n_threads = n_threads;
  require(n_neighbors >= 1, "n_neighbors must be at least 1");
  return std::visit(
      [&](const auto& array) {
        const auto samples = relief_samples(array);
        FeatureScale scale = feature_scale(discrete, feature_weights, samples.p);
        check_nominal(samples, scale);
        const bool numeric = options.rule == ReliefRule::rrelieff;
        if (numeric) {
          require(target.has_value(), "target is needed");
          check_numbers(*target, samples.n, "target must have one finite value a sample");
        } else {
          require(codes.has_value(), "codes are needed");
          check_codes(*codes, samples.n, n_classes);
        }
        if (rows) options.instances = check_rows(rows, samples.n);
        if (rank_weights) {
          const double* w = rank_weights->data();
          const auto count = static_cast<std::size_t>(rank_weights->size());
          require(rank_weights->ndim() == 1 && count >= std::min(n_neighbors, samples.n - 1),
                  "rank_weights must have one value a neighbor");
          require(std::all_of(w, w + count, [](double v) { return v > 0.0 && std::isfinite(v); }),
                  "rank_weights must be finite and above 0");
          options.rank_weights.assign(w, w + count);
        }
        Array<double> out(static_cast<py::ssize_t>(samples.p));
        double* weights = out.mutable_data();
        const std::int32_t* class_codes = numeric ? nullptr : codes->data();
        const double* numbers = numeric ? target->data() : nullptr;
        const py::gil_scoped_release release;
        const InterruptScope scope(python_interrupt);
        relief_weights(samples, &scale, class_codes, n_classes, numbers, options, weights);
        return out;
      },
      x);
}

py::tuple neighbors_of(const Values& x, const Codes& codes, std::size_t n_classes,
                       const std::optional<Lists>& rows, std::size_t n_neighbors,
                       const std::optional<Array<std::uint8_t>>& discrete,
                       const std::optional<Array<double>>& feature_weights, Threads n_threads) {
  require(n_neighbors >= 1, "n_neighbors must be at least 1");
  return std::visit(
      [&](const auto& array) -> py::tuple {
        const auto samples = relief_samples(array);
        FeatureScale scale = feature_scale(discrete, feature_weights, samples.p);
        check_nominal(samples, scale);
        check_codes(codes, samples.n, n_classes);
        const auto wanted = check_rows(rows, samples.n);
        NeighborOptions options;
        options.n_neighbors = std::min(n_neighbors, samples.n - 1);
        options.ordered = true;
        const std::size_t k = options.n_neighbors;
        Codes indices({wanted.size(), n_classes, k});
        Array<double> apart({wanted.size(), n_classes, k});
        std::int32_t* index = indices.mutable_data();
        double* distance = apart.mutable_data();
        const std::int32_t* class_codes = codes.data();
        {
          const py::gil_scoped_release release;
          const InterruptScope scope(python_interrupt);
          measure_ranges(samples, n_threads, &scale);
          const auto order = order_with_first(samples.n, wanted.data(), wanted.size());
          Distances distances;
          l1_distances(samples, scale, order, wanted.size(), Precision::exact, n_threads,
                       &distances);
          const ExactManhattan recheck(scale, ExactManhattan::finest);
          Neighbors found;
          nearest_by_group(samples, distances, order, class_codes, n_classes, options, &recheck,
                           n_threads, &found);
          for (std::size_t i = 0; i < wanted.size(); ++i) {
            for (std::size_t c = 0; c < n_classes; ++c) {
              for (std::size_t r = 0; r < k; ++r, ++index, ++distance) {
                *index = -1;
                *distance = std::numeric_limits<double>::infinity();
                if (r >= found.count(i, c)) continue;
                *index = order[static_cast<std::size_t>(found.list(i, c)[r])];
                *distance = recheck.unit() *
                            static_cast<double>(recheck(samples, static_cast<std::size_t>(wanted[i]),
                                                        static_cast<std::size_t>(*index)));
              }
            }
          }
        }
        return py::make_tuple(indices, apart);
      },
      x);
}

}  // namespace

void register_relief(py::module_& module) {
  const auto none = py::none();
  module.def("relief", &relief, py::arg("X").noconvert(), py::kw_only(), py::arg("algorithm"),
             py::arg("codes").noconvert() = none, py::arg("n_classes") = 0,
             py::arg("target").noconvert() = none, py::arg("rows").noconvert() = none,
             py::arg("n_neighbors") = 1, py::arg("rank_weights").noconvert() = none,
             py::arg("discrete").noconvert() = none, py::arg("feature_weights").noconvert() = none,
             py::arg("precision") = "exact", py::arg("decide") = none, py::arg("n_threads") = 1);
  module.def("relief_neighbors", &neighbors_of, py::arg("X").noconvert(),
             py::arg("codes").noconvert(), py::arg("n_classes"), py::kw_only(),
             py::arg("rows").noconvert() = none, py::arg("n_neighbors") = 10,
             py::arg("discrete").noconvert() = none, py::arg("feature_weights").noconvert() = none,
             py::arg("n_threads") = 1);
}

}  // namespace bitsieve
