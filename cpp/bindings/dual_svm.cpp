// Support vector machines on a kernel matrix.
#include "bitsieve/fitness/dual_svm.hpp"

#include <cmath>

#include "bitsieve/core/parallel.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

py::tuple dual_svm(const Numbers& matrix, const Array<std::int8_t>& signs, double C,
                   double tolerance, Threads n_threads) {
  require(matrix.ndim() == 2 && matrix.shape(0) == matrix.shape(1) && matrix.shape(0) > 0,
          "K must have shape (n_samples, n_samples)");
  require(signs.ndim() == 2 && signs.shape(1) == matrix.shape(0),
          "signs must have shape (n_problems, n_samples)");
  require(C > 0 && C <= most_svm_value, "C must be positive and at most 1e150");
  require(tolerance >= least_svm_tolerance && tolerance <= most_svm_value,
          "tolerance must be from 1e-12 to 1e150");
  const std::size_t n = static_cast<std::size_t>(matrix.shape(0));
  const std::size_t n_problems = static_cast<std::size_t>(signs.shape(0));
  const double* values = matrix.data();
  const std::int8_t* sides = signs.data();
  Numbers coefficients({n_problems, n}), intercepts(signs.shape(0)), violations(signs.shape(0));
  double *b = coefficients.mutable_data(), *intercept = intercepts.mutable_data();
  double* violation = violations.mutable_data();
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    bool fine = true;
    for (std::size_t k = 0; k < n * n; ++k) fine &= std::abs(values[k]) <= most_svm_value;
    require(fine, "K must be finite, its values at most 1e150");
    for (std::size_t k = 0; k < n_problems * n; ++k) fine &= sides[k] == 1 || sides[k] == -1;
    require(fine, "signs must be 1 or -1");
    solve_dual_svms({values, n, C, tolerance}, sides, n_problems, n_threads, b, intercept,
                    violation);
  }
  return py::make_tuple(coefficients, intercepts, violations);
}

}  // namespace

void register_dual_svm(py::module_& module) {
  module.def("dual_svm", &dual_svm, py::arg("K").noconvert(), py::arg("signs").noconvert(),
             py::arg("C"), py::arg("tolerance"), py::arg("n_threads") = 1);
}

}  // namespace bitsieve
