// The ridge family, and the linear algebra that solvers share.
#include "bitsieve/core/isa.hpp"
#include "bitsieve/fitness/algebra.hpp"
#include "bitsieve/fitness/ridge.hpp"
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

constexpr std::size_t largest_system = std::size_t{1} << 14;

// Finite values of (rows, n) with rows that end in zeros.
AlignedVector<double> padded(const Numbers& from, std::size_t ld, const char* message) {
  const std::size_t rows = static_cast<std::size_t>(from.shape(0));
  const std::size_t n = static_cast<std::size_t>(from.shape(1));
  AlignedVector<double> out(rows * ld, 0.0);
  bool fine = true;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double value = from.data()[i * n + j];
      fine &= std::isfinite(value);
      out[i * ld + j] = value;
    }
  }
  require(fine, message);
  return out;
}

Numbers unpadded(const AlignedVector<double>& from, std::size_t rows, std::size_t n,
                 std::size_t ld) {
  Numbers out({rows, n});
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(from.data() + i * ld, n, out.mutable_data() + i * n);
  }
  return out;
}

struct System {
  std::size_t n, ld;
  AlignedVector<double> a, inverse_diagonal;
  double inflation;

  explicit System(const Numbers& matrix) {
    require(matrix.ndim() == 2 && matrix.shape(0) == matrix.shape(1) && matrix.shape(0) > 0 &&
                static_cast<std::size_t>(matrix.shape(0)) <= largest_system,
            "A must have shape (n, n), n at most 16384");
    require(kernels().has_fma, "the instruction set has no fused multiply-add");
    n = static_cast<std::size_t>(matrix.shape(0));
    ld = algebra_ld(n);
    a = padded(matrix, ld, "A must be finite");
    inverse_diagonal.assign(ld, 0.0);
    inflation = cholesky(a.data(), n, ld, inverse_diagonal.data());
    require(std::isfinite(inflation), "A is not positive definite");
  }
};

// Of a symmetric positive definite A (its upper triangle): X with AX = B, or of the bordered system,
// and the inflation that cholesky() says.
py::tuple solve_positive(const Numbers& matrix, const Numbers& right, bool bordered) {
  System system(matrix);
  require(right.ndim() == 2 && static_cast<std::size_t>(right.shape(0)) == system.n,
          "B must have shape (n, n_columns)");
  const std::size_t columns = static_cast<std::size_t>(right.shape(1)), ld = algebra_ld(columns);
  AlignedVector<double> b = padded(right, ld, "B must be finite");
  Border border;
  if (bordered) {
    solve_bordered(system.a.data(), system.inverse_diagonal.data(), system.n, system.ld, b.data(),
                   ld, ld, border, nullptr);
  } else {
    solve_symmetric(system.a.data(), system.inverse_diagonal.data(), system.n, system.ld, b.data(),
                    ld, ld);
  }
  return py::make_tuple(unpadded(b, system.n, columns, ld), system.inflation);
}

Numbers invert_positive(const Numbers& matrix, bool bordered) {
  System system(matrix);
  AlignedVector<double> work(system.n * system.ld), out(system.n * system.ld, 0.0);
  invert_symmetric(system.a.data(), system.inverse_diagonal.data(), system.n, system.ld,
                   work.data(), out.data());
  Border border;
  if (bordered) border_inverse(out.data(), system.n, system.ld, border);
  return unpadded(out, system.n, system.n, system.ld);
}

struct PyRidge : PyFitness {
  using PyFitness::PyFitness;
};

constexpr int most_degree = 64;

std::unique_ptr<PyRidge> make_ridge(const std::shared_ptr<PyTable>& table,
                                    const TargetArray& target, std::size_t n_classes,
                                    std::size_t n_repeats, std::size_t n_folds, bool stratified,
                                    const std::string& kernel, double alpha, bool fit_intercept,
                                    bool least_norm, bool balanced,
                                    const std::optional<Numbers>& class_weights, double gamma,
                                    int degree, double coef0, const ScalerOptions& scaler) {
  using Kernel = RidgeSettings::Kernel;
  RidgeSettings settings;
  require(kernel == "linear" || kernel == "rbf" || kernel == "polynomial",
          "kernel must be 'linear', 'rbf' or 'polynomial'");
  settings.kernel = kernel == "linear" ? Kernel::linear
                                       : (kernel == "rbf" ? Kernel::rbf : Kernel::polynomial);
  require(alpha >= 0 && std::isfinite(alpha), "alpha must be finite and not negative");
  require(alpha > 0 || kernel == "linear", "alpha must be positive but for a linear kernel");
  require(gamma >= 0 && std::isfinite(gamma), "gamma must be finite and not negative");
  require(std::isfinite(coef0), "coef0 must be finite");
  require(degree >= 0 && degree <= most_degree, "degree must lie in [0, 64]");
  require(!fit_intercept || kernel == "linear", "an intercept takes a linear kernel");
  require(!least_norm || alpha == 0, "least_norm takes alpha=0");
  settings.alpha = alpha;
  settings.fit_intercept = fit_intercept;
  settings.least_norm = least_norm;
  settings.balanced = balanced;
  settings.gamma = gamma;
  settings.degree = degree;
  settings.coef0 = coef0;
  settings.scaler = scaler;
  if (class_weights) {
    check_numbers(*class_weights, n_classes, "class_weights must have one finite number a class");
    const double* weights = class_weights->data();
    settings.class_weights.assign(weights, weights + n_classes);
    for (const double weight : settings.class_weights) {
      require(weight >= 0, "class_weights must not be negative");
    }
  }
  return make_model<PyRidge, RidgeFitness>(table, target, n_classes, n_repeats, n_folds, stratified,
                                           settings);
}

}  // namespace

void register_fitness_ridge(py::module_& module) {
  py::class_<PyRidge, PyFitness>(module, "RidgeFitness")
      .def(py::init(&make_ridge), py::arg("table").none(false), py::kw_only(),
           py::arg("target").noconvert(), py::arg("n_classes"), py::arg("n_repeats"),
           py::arg("n_folds"), py::arg("stratified"), py::arg("kernel") = "linear",
           py::arg("alpha") = 1.0, py::arg("fit_intercept") = true, py::arg("least_norm") = false,
           py::arg("balanced") = false, py::arg("class_weights").noconvert() = py::none(),
           py::arg("gamma") = 0.0, py::arg("degree") = 3, py::arg("coef0") = 1.0,
           py::arg("scaler") = ScalerOptions());
  module.def("solve_positive", &solve_positive, py::arg("A").noconvert(), py::arg("B").noconvert(),
             py::arg("bordered") = false);
  module.def("invert_positive", &invert_positive, py::arg("A").noconvert(),
             py::arg("bordered") = false);
}

}  // namespace bitsieve
