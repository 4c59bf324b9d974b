// The ridge family, and the linear algebra that solvers share.
#include "bitsieve/core/isa.hpp"
#include "bitsieve/fitness/algebra.hpp"
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

}  // namespace

void register_fitness_ridge(py::module_& module) {
  module.def("solve_positive", &solve_positive, py::arg("A").noconvert(), py::arg("B").noconvert(),
             py::arg("bordered") = false);
  module.def("invert_positive", &invert_positive, py::arg("A").noconvert(),
             py::arg("bordered") = false);
}

}  // namespace bitsieve
