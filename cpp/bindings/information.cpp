// The greedy selections over discrete tables.
#include <cmath>
#include <string>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/filters/greedy.hpp"
#include "discrete_table.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

py::tuple run_information(const PyDiscreteTable& table, const LevelCodes& target, int n_levels,
                          const std::string& criterion, std::size_t n_select, double beta,
                          const std::string& correction, double prior, bool lazy, Threads n_threads) {
  GreedySettings settings;
  settings.criterion = criterion_of(criterion);
  settings.beta = beta;
  settings.n_select = n_select;
  settings.lazy = lazy;
  require(std::isfinite(beta) && beta >= 0, "beta must be a number of at least 0");
  require(n_select >= 1 && n_select <= table.n_features() && n_select <= (std::size_t{1} << 17),
          "n_select must lie in [1, min(n_features, 2^17)]");
  const EntropyTable entropy(table.n_samples(), correction_of(correction, prior), prior);
  const Variable y = table.variable(target, n_levels, "target");
  Selection selection;
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    selection = greedy_information(table.table(), y, entropy, settings, n_threads);
  }
  return as_tuple(selection);
}

}  // namespace

void register_information(py::module_& module) {
  const py::arg_v correction = py::arg("correction") = "none";
  const py::arg_v prior = py::arg("prior") = 1.0;
  module.def("greedy_information", run_information, py::arg("table"),
             py::arg("target").noconvert(), py::arg("n_levels"), py::kw_only(),
             py::arg("criterion"), py::arg("n_select"), py::arg("beta") = 1.0, correction, prior,
             py::arg("lazy") = true, py::arg("n_threads") = 1);
}

}  // namespace bitsieve
