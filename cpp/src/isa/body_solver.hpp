// The bodies of solver_kernels.hpp. See body.hpp for the rule about headers.

namespace solver {

template <int I, int J>
BITSIEVE_INLINE void gram_tile(const double* rows, std::size_t ld, std::size_t m, std::size_t i0,
                               std::size_t j0, double* gram, std::size_t ldc, bool fresh) {
  using D = typename Isa::D;
  D total[I][J];
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) total[i][j] = Isa::broadcast(0.0);
  }
  const double* left = rows + i0;
  const double* right = rows + j0;
  for (std::size_t f = 0; f < m; ++f, left += ld, right += ld) {
    D column[J];
    for (int j = 0; j < J; ++j) column[j] = Isa::load(right + j * Isa::width_double);
    for (int i = 0; i < I; ++i) {
      const D row = Isa::broadcast(left[i]);
      for (int j = 0; j < J; ++j) total[i][j] = Isa::scale_add(row, column[j], total[i][j]);
    }
  }
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) {
      double* out = gram + i * ldc + j * Isa::width_double;
      Isa::store(out, fresh ? total[i][j] : Isa::add(Isa::load(out), total[i][j]));
    }
  }
}

void gram(const double* rows, std::size_t ld, std::size_t m, std::size_t i_begin, std::size_t i_end,
          std::size_t j_begin, std::size_t j_end, double* gram, std::size_t ldc, bool fresh) {
  constexpr std::size_t I = Isa::fixed_rows, J = Isa::fixed_columns, W = Isa::width_double;
  for (std::size_t j = j_begin; j < j_end; j += J * W) {
    for (std::size_t i = i_begin; i < i_end; i += I) {
      gram_tile<I, J>(rows, ld, m, i, j, gram + (i - i_begin) * ldc + (j - j_begin), ldc, fresh);
    }
  }
}

}  // namespace solver

const SolverKernels solver_kernels = {
    solver::gram,
};
