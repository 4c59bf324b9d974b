// The table that compiled fitnesses share.
#include "table.hpp"

#include <cmath>
#include <memory>
#include <variant>
#include <vector>

#include "bitsieve/core/finite.hpp"
#include "bitsieve/core/parallel.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

// Whether each value is within its feature's bound: the errors that kernels allow for, and the
// fixed point, are made of these.
void check_bounds(const TableView& view, const double* max_abs) {
  for (std::size_t f = 0; f < view.n_features; ++f) {
    const auto most = static_cast<float>(max_abs[f]);
    const float* row = view.row(f);
    bool fine = true;
    for (std::size_t i = 0; i < view.ld; ++i) fine &= std::abs(row[i]) <= most;
    require(fine, "max_abs must bound the values of each feature");
    for (std::size_t i = view.n_samples; i < view.ld; ++i) {
      require(row[i] == 0, "features must be zero past the last sample");
    }
  }
}

TableView checked_view(const Array<float>& features, std::size_t n_samples,
                       const Numbers& max_abs) {
  require(features.ndim() == 2, "features must have shape (n_features, ld)");
  TableView view;
  view.values = features.data();
  view.n_features = static_cast<std::size_t>(features.shape(0));
  view.ld = static_cast<std::size_t>(features.shape(1));
  view.n_samples = n_samples;
  require(view.n_features > 0 && view.n_features < size_limit && n_samples > 0 &&
              n_samples < size_limit && view.ld % 16 == 0 && view.ld >= n_samples &&
              view.ld < n_samples + 16,
          "features must be padded to the next multiple of 16 samples");
  require(reinterpret_cast<std::uintptr_t>(view.values) % cache_line == 0,
          "features must be aligned to 64 bytes");
  require(length(max_abs) == view.n_features, "max_abs must have one value a feature");
  check_bounds(view, max_abs.data());
  return view;
}

Source checked_source(const Values& x, const TableView& view) {
  std::visit(
      [&](const auto& array) {
        require(array.ndim() == 2 && static_cast<std::size_t>(array.shape(0)) == view.n_samples &&
                    static_cast<std::size_t>(array.shape(1)) == view.n_features,
                "X must have shape (n_samples, n_features)");
        require(all_finite(array.data(), static_cast<std::size_t>(array.size()), 1),
                "X must be finite");
      },
      x);
  Source source;
  if (const auto* single = std::get_if<Array<float>>(&x)) {
    source.single = single->data();
  } else {
    source.doubles = std::get<Array<double>>(x).data();
  }
  return source;
}

std::shared_ptr<PyTable> make_table(Array<float> features, std::size_t n_samples, Values x,
                                    const Numbers& max_abs, bool exact) {
  const TableView view = checked_view(features, n_samples, max_abs);
  const Source source = checked_source(x, view);
  return std::make_shared<PyTable>(std::move(features), view, std::move(x), source, max_abs,
                                   exact);
}

// A view of the float64 copy without its padding; it keeps the table alive.
Numbers doubles(const std::shared_ptr<PyTable>& table, Threads n_threads) {
  const double* values = nullptr;
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    values = table->doubles(n_threads);
  }
  const auto ld = static_cast<py::ssize_t>(table->view().ld * sizeof(double));
  Numbers out({table->n_features(), table->n_samples()}, {ld, py::ssize_t{sizeof(double)}}, values,
              py::cast(table));
  out.attr("setflags")(py::arg("write") = false);
  return out;
}

}  // namespace

PyTable::PyTable(Array<float> features, const TableView& view, Values x, const Source& source,
                 const Numbers& max_abs, bool exact)
    : Table(view, {max_abs.data(), max_abs.data() + max_abs.size()}, source, exact),
      features_(std::move(features)),
      x_(std::move(x)) {}

void register_table(py::module_& module) {
  py::class_<PyTable, std::shared_ptr<PyTable>>(module, "Table")
      .def(py::init(&make_table),
           py::arg("features").noconvert(), py::kw_only(), py::arg("n_samples"),
           py::arg("X").noconvert(), py::arg("max_abs").noconvert(), py::arg("exact"))
      .def_property_readonly("n_samples", &PyTable::n_samples)
      .def_property_readonly("n_features", &PyTable::n_features)
      .def("doubles", &doubles, py::arg("n_threads") = 1);
}

}  // namespace bitsieve
