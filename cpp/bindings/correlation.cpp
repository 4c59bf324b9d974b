// Columns as unit vectors, and greedy selection by relevance and correlation.
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/columns.hpp"
#include "bitsieve/filters/correlation.hpp"
#include "information.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

// A table whose columns become unit vectors, the relevance and what it is measured against.
class PyUnitColumns {
 public:
  PyUnitColumns(Values x, bool ranks, const std::optional<Codes>& codes,
                std::size_t n_classes, const std::optional<Numbers>& numbers, Threads n_threads)
      : x_(std::move(x)) {
    const auto make = [&](const auto& array) {
      require(array.ndim() == 2 && array.shape(0) > 0 && array.shape(1) > 0,
              "X must have shape (n_samples, n_features)");
      const std::size_t n = static_cast<std::size_t>(array.shape(0));
      const std::size_t p = static_cast<std::size_t>(array.shape(1));
      const FTarget target = f_target(codes, n_classes, numbers, n);
      const auto* data = array.data();
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      columns_ = std::make_unique<UnitColumns>(data, n, p, ranks, target, n_threads);
    };
    std::visit(make, x_);
  }

  PyUnitColumns(Lists begin, Codes rows, Numbers values, std::size_t n, bool ranks,
                const std::optional<Codes>& codes, std::size_t n_classes,
                const std::optional<Numbers>& numbers, Threads n_threads)
      : begin_(std::move(begin)), rows_(std::move(rows)), values_(std::move(values)) {
    require(length(begin_) >= 2, "begin must have n_features + 1 entries");
    const std::size_t p = length(begin_) - 1;
    check_columns(begin_, rows_, p, n);
    require(length(rows_) == length(values_), "rows and values must be of one length");
    const FTarget target = f_target(codes, n_classes, numbers, n);
    const SparseColumns sparse{begin_.data(), rows_.data(), values_.data()};
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    columns_ = std::make_unique<UnitColumns>(sparse, n, p, ranks, target, n_threads);
  }

  bool is_finite() const { return columns_->is_finite(); }

  Numbers f_values() const {
    return Numbers(static_cast<py::ssize_t>(columns_->f_values().size()),
                   columns_->f_values().data());
  }

  py::tuple select(const Numbers& relevance, std::size_t n_select, bool quotient, double least,
                   bool lazy, Threads n_threads) const {
    require(columns_->is_finite(), "X must hold finite numbers");
    require(length(relevance) == columns_->p(), "relevance must have one value a feature");
    for (std::size_t f = 0; f < columns_->p(); ++f) {
      const double value = relevance.data()[f];
      require(value > -std::numeric_limits<double>::infinity() && (value >= 0 || !quotient),
              "relevance must be numbers, and not negative for a quotient");
    }
    require(n_select >= 1 && n_select <= columns_->p(), "n_select must lie in [1, n_features]");
    require(least > 0 && least <= 1, "least must lie in (0, 1]");
    CorrelationSettings settings;
    settings.quotient = quotient;
    settings.least = least;
    settings.n_select = n_select;
    settings.lazy = lazy;
    Selection selection;
    const double* values = relevance.data();
    {
      const py::gil_scoped_release release;
      const InterruptScope scope(python_interrupt);
      selection = greedy_correlation(*columns_, values, settings, n_threads);
    }
    return as_tuple(selection);
  }

 private:
  static FTarget f_target(const std::optional<Codes>& codes, std::size_t n_classes,
                          const std::optional<Numbers>& numbers, std::size_t n) {
    FTarget target;
    if (codes) {
      require(n_classes >= 2 && n_classes < n, "n_classes must lie in [2, n_samples)");
      check_codes(*codes, n, n_classes);
      std::vector<std::uint8_t> seen(n_classes, 0);
      for (std::size_t i = 0; i < n; ++i) seen[static_cast<std::size_t>(codes->data()[i])] = 1;
      require(std::accumulate(seen.begin(), seen.end(), std::size_t{0}) == n_classes,
              "every class must have a sample");
      target.codes = codes->data();
      target.n_classes = n_classes;
    } else if (numbers) {
      check_numbers(*numbers, n, "numbers must have one finite value a sample");
      target.numbers = numbers->data();
    }
    return target;
  }

  Values x_;  // the columns point into these
  Lists begin_;
  Codes rows_;
  Numbers values_;
  std::unique_ptr<UnitColumns> columns_;
};

}  // namespace

void register_correlation(py::module_& module) {
  py::class_<PyUnitColumns>(module, "UnitColumns")
      .def(py::init<Values, bool, const std::optional<Codes>&, std::size_t,
                    const std::optional<Numbers>&, Threads>(),
           py::arg("X").noconvert(), py::kw_only(), py::arg("ranks") = false,
           py::arg("codes").noconvert() = py::none(), py::arg("n_classes") = 0,
           py::arg("numbers").noconvert() = py::none(), py::arg("n_threads") = 1)
      .def_property_readonly("is_finite", &PyUnitColumns::is_finite)
      .def("f_values", &PyUnitColumns::f_values)
      .def("select", &PyUnitColumns::select, py::arg("relevance").noconvert(), py::kw_only(),
           py::arg("n_select"), py::arg("quotient"), py::arg("least") = 0.001,
           py::arg("lazy") = true, py::arg("n_threads") = 1);
  module.def(
      "sparse_unit_columns",
      [](Lists begin, Codes rows, Numbers values, std::size_t n_samples, bool ranks,
         const std::optional<Codes>& codes, std::size_t n_classes,
         const std::optional<Numbers>& numbers, Threads n_threads) {
        return std::make_unique<PyUnitColumns>(std::move(begin), std::move(rows),
                                               std::move(values), n_samples, ranks, codes,
                                               n_classes, numbers, n_threads);
      },
      py::arg("begin").noconvert(), py::arg("rows").noconvert(), py::arg("values").noconvert(),
      py::arg("n_samples"), py::kw_only(), py::arg("ranks") = false,
      py::arg("codes").noconvert() = py::none(), py::arg("n_classes") = 0,
      py::arg("numbers").noconvert() = py::none(), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
