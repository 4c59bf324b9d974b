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

void squares(const double* rows, std::size_t ld, std::size_t m, double magic,
             std::int64_t* units) {
  const auto pin = Isa::broadcast(magic);
  const auto pinned = Isa::bits(pin);
  for (std::size_t f = 0; f < m; ++f, rows += ld) {
    for (std::size_t i = 0; i < ld; i += Isa::width_double) {
      const auto value = Isa::load(rows + i);
      const auto square = Isa::subtract_long(Isa::bits(Isa::scale_add(value, value, pin)), pinned);
      Isa::store_long(units + i, Isa::add(Isa::load_long(units + i), square));
    }
  }
}

// ---- tables -------------------------------------------------------------------------------

void tabulate(const double* left, const double* right, std::size_t n_groups, double magic,
              std::int64_t* tables) {
  using L = typename Isa::L;
  constexpr std::size_t W = Isa::width_double;
  const auto pin = Isa::broadcast(magic);
  const L pinned = Isa::bits(pin);
  for (std::size_t g = 0; g < n_groups; ++g) {
    for (std::size_t r = 0; r < solver_rows; ++r) {
      for (std::size_t c = 0; c < solver_columns; c += W) {
        std::int64_t* out = tables + r * solver_columns + c;
        const auto product = [&](std::size_t f) {
          return Isa::subtract_long(
              Isa::bits(Isa::scale_add(Isa::broadcast(left[f * solver_columns + r]),
                                                   Isa::load(right + f * solver_columns + c), pin)),
                          pinned);
        };
        const auto put = [&](std::size_t set, L sum) {
          Isa::store_long(out + set * solver_pairs, sum);
        };
        const L a = product(0), b = product(1), d = product(2), e = product(3);
        const L ab = Isa::add(a, b), de = Isa::add(d, e);
        put(0, Isa::zero_long());
        put(1, a);
        put(2, b);
        put(3, ab);
        put(4, d);
        put(5, Isa::add(a, d));
        put(6, Isa::add(b, d));
        put(7, Isa::add(ab, d));
        put(8, e);
        put(9, Isa::add(a, e));
        put(10, Isa::add(b, e));
        put(11, Isa::add(ab, e));
        put(12, de);
        put(13, Isa::add(a, de));
        put(14, Isa::add(b, de));
        put(15, Isa::add(ab, de));
      }
    }
    tables += solver_sets * solver_pairs;
    left += solver_group * solver_columns;
    right += solver_group * solver_columns;
  }
}

BITSIEVE_INLINE void add_groups(const std::int64_t* tables, std::size_t n_groups,
                                const std::uint16_t* places, std::size_t n_masks,
                                std::int64_t* sums) {
  using L = typename Isa::L;
  constexpr std::size_t W = Isa::width_double, V = solver_pairs / W;
  for (std::size_t m = 0; m < n_masks; ++m, places += solver_groups, sums += solver_pairs) {
    L total[V];
    for (std::size_t v = 0; v < V; ++v) total[v] = Isa::load_long(sums + v * W);
    for (std::size_t g = 0; g < n_groups; ++g) {
      const std::int64_t* entry = tables + places[g];
      for (std::size_t v = 0; v < V; ++v) {
        total[v] = Isa::add(total[v], Isa::load_long(entry + v * W));
      }
    }
    for (std::size_t v = 0; v < V; ++v) Isa::store_long(sums + v * W, total[v]);
  }
}

void add_tables(const std::int64_t* tables, std::size_t n_groups, const std::uint16_t* places,
                std::size_t n_masks, std::int64_t* sums) {
  if (n_groups == solver_groups) {
    add_groups(tables, solver_groups, places, n_masks, sums);  // the loop unrolled
  } else {
    add_groups(tables, n_groups, places, n_masks, sums);
  }
}

}  // namespace solver

const SolverKernels solver_kernels = {
    solver::gram,
    solver::squares,
    solver::tabulate,
    solver::add_tables,
};
