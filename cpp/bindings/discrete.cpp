// Cut points, and levels from them.
#include "bitsieve/discrete/cuts.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "bitsieve/core/parallel.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using Cuts = std::pair<Array<double>, Array<std::int64_t>>;

template <typename T>
SampleRows<T> view(const Array<T>& x) {
  require(x.ndim() == 2, "X must have shape (n_samples, n_features)");
  return {x.data(), static_cast<std::size_t>(x.shape(0)), static_cast<std::size_t>(x.shape(1))};
}

Cuts arrays(const CutPoints& cuts) {
  return {Array<double>(static_cast<py::ssize_t>(cuts.values.size()), cuts.values.data()),
          Array<std::int64_t>(static_cast<py::ssize_t>(cuts.begin.size()), cuts.begin.data())};
}

// Calls a kernel on the samples of either type, without the GIL.
template <typename Kernel>
CutPoints released(const Values& x, const Kernel& kernel) {
  return std::visit(
      [&](const auto& array) {
        const auto samples = view(array);
        const py::gil_scoped_release release;
        const InterruptScope scope(python_interrupt);
        return kernel(samples);
      },
      x);
}

Cuts mdl(const Values& x, const Array<std::int32_t>& classes, std::size_t n_classes,
         bool distinct, Threads n_threads) {
  std::visit([&](const auto& array) { check_codes(classes, view(array).n, n_classes); }, x);
  const std::int32_t* labels = classes.data();
  return arrays(released(x, [&](const auto& samples) {
    return mdl_cut_points(samples, labels, n_classes, distinct, n_threads);
  }));
}

Cuts mean_sd(const Values& x, double width, Threads n_threads) {
  require(std::isfinite(width) && width > 0, "width must be a positive number");
  return arrays(released(
      x, [&](const auto& samples) { return mean_sd_cut_points(samples, width, n_threads); }));
}

py::tuple levels(const Values& x, std::size_t max_levels, Threads n_threads) {
  require(max_levels >= 1 && max_levels <= 256, "max_levels must lie in [1, 256]");
  const auto p = static_cast<py::ssize_t>(
      std::visit([](const auto& array) { return view(array).p; }, x));
  Array<std::uint8_t> faults(p);
  static_assert(sizeof(LevelFault) == 1);
  auto* out = reinterpret_cast<LevelFault*>(faults.mutable_data());
  const Cuts cuts = arrays(released(
      x, [&](const auto& samples) { return level_cut_points(samples, max_levels, out, n_threads); }));
  return py::make_tuple(cuts.first, cuts.second, faults);
}

Array<std::uint8_t> apply(const Values& x, const Array<double>& cuts,
                          const Array<std::int64_t>& begin, bool missing_level, Threads n_threads) {
  return std::visit(
      [&](const auto& array) {
        const auto samples = view(array);
        require(length(begin) == samples.p + 1, "begin must have n_features + 1 entries");
        const std::int64_t* ends = begin.data();
        const std::int64_t limit = missing_level ? 254 : 255;
        require(ends[0] == 0 && ends[samples.p] == static_cast<std::int64_t>(length(cuts)),
                "begin must run from 0 to the number of cuts");
        for (std::size_t f = 0; f < samples.p; ++f) {
          require(ends[f + 1] >= ends[f] && ends[f + 1] - ends[f] <= limit,
                  "begin must ascend, by 255 cuts a column at most");
        }
        Array<std::uint8_t> codes({array.shape(0), array.shape(1)});
        std::uint8_t* out = codes.mutable_data();
        const double* values = cuts.data();
        {
          const py::gil_scoped_release release;
          const InterruptScope scope(python_interrupt);
          apply_cut_points(samples, values, ends, missing_level, out, n_threads);
        }
        return codes;
      },
      x);
}

}  // namespace

void register_discrete(py::module_& module) {
  module.def("mdl_cut_points", &mdl, py::arg("X").noconvert(), py::arg("classes").noconvert(),
             py::kw_only(), py::arg("n_classes"), py::arg("distinct"), py::arg("n_threads"));
  module.def("mean_sd_cut_points", &mean_sd, py::arg("X").noconvert(), py::kw_only(),
             py::arg("width"), py::arg("n_threads"));
  module.def("level_cut_points", &levels, py::arg("X").noconvert(), py::kw_only(),
             py::arg("max_levels"), py::arg("n_threads"));
  module.def("apply_cut_points", &apply, py::arg("X").noconvert(), py::arg("cuts").noconvert(),
             py::arg("begin").noconvert(), py::kw_only(), py::arg("missing_level"),
             py::arg("n_threads"));
}

}  // namespace bitsieve
