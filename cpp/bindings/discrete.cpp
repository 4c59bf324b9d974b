// Cut points and levels, and the tables that hold them.
#include "bitsieve/discrete/cuts.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/discrete/levels.hpp"
#include "discrete_table.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using Wholes =
    std::variant<Array<float>, Array<double>, Bytes, Array<std::int8_t>, Array<std::int16_t>,
                 Codes, Lists>;
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

py::tuple run_encode(const Wholes& x, std::size_t most, Threads n_threads) {
  require(most >= 1 && most <= 256, "most must lie in [1, 256]");
  const auto encode = [&](const auto& array) {
    require(array.ndim() == 2, "X must have shape (n_samples, n_features)");
    const std::size_t n = static_cast<std::size_t>(array.shape(0));
    const std::size_t p = static_cast<std::size_t>(array.shape(1));
    Bytes codes({n, p});
    Codes n_levels(static_cast<py::ssize_t>(p));
    const auto* data = array.data();
    std::uint8_t* out = codes.mutable_data();
    std::int32_t* levels = n_levels.mutable_data();
    if (n > 0 && p > 0) {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      encode_levels(data, n, p, most, out, levels, n_threads);
    }
    return py::make_tuple(codes, n_levels);
  };
  return std::visit(encode, x);
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
  const py::arg_v correction = py::arg("correction") = "none";
  const py::arg_v prior = py::arg("prior") = 1.0;
  const py::arg_v features = py::arg("features").noconvert() = py::none();
  py::class_<PyDiscreteTable, std::shared_ptr<PyDiscreteTable>>(module, "DiscreteTable")
      .def(py::init<const Bytes&, const Codes&, Threads>(), py::arg("codes").noconvert(),
           py::arg("n_levels").noconvert(), py::arg("n_threads") = 1)
      .def_property_readonly("n_samples", &PyDiscreteTable::n_samples)
      .def_property_readonly("n_features", &PyDiscreteTable::n_features)
      .def("contingency", &PyDiscreteTable::contingency, py::arg("target").noconvert(),
           py::arg("n_levels"), py::arg("n_codes"), features)
      .def("entropies", &PyDiscreteTable::entropies, correction, prior)
      .def("mutual_information", &PyDiscreteTable::mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), features, correction, prior)
      .def("conditional_mutual_information", &PyDiscreteTable::conditional_mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), py::arg("given").noconvert(),
           py::arg("n_given"), features, correction, prior)
      .def("joint_mutual_information", &PyDiscreteTable::joint_mutual_information,
           py::arg("target").noconvert(), py::arg("n_levels"), py::arg("given").noconvert(),
           py::arg("n_given"), features, correction, prior);
  module.def(
      "sparse_discrete_table",
      [](const Lists& begin, const Codes& rows, const Bytes& values, const Bytes& rest,
         const Codes& n_levels, std::size_t n_samples, Threads n_threads) {
        return std::make_shared<PyDiscreteTable>(begin, rows, values, rest, n_levels,
                                                 n_samples, n_threads);
      },
      py::arg("begin").noconvert(), py::arg("rows").noconvert(), py::arg("values").noconvert(),
      py::arg("rest").noconvert(), py::arg("n_levels").noconvert(), py::arg("n_samples"),
      py::arg("n_threads") = 1);
  module.def("encode_levels", run_encode, py::arg("X").noconvert(), py::kw_only(),
             py::arg("most"), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
