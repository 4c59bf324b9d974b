// The bodies of pair_kernels.hpp. See body.hpp for the rule about headers.

namespace pairs {

using D = typename Isa::D;
using L = typename Isa::L;
constexpr std::size_t wide = Isa::width_double;

void margins(const double* x, std::size_t n, const PairLine& line, double* out) {
  const D mean_other = Isa::broadcast(line.mean_other), mean_own = Isa::broadcast(line.mean_own);
  const D factor_other = Isa::broadcast(line.factor_other);
  const D factor_own = Isa::broadcast(line.factor_own), constant = Isa::broadcast(line.constant);
  std::size_t i = 0;
  for (; i + wide <= n; i += wide) {
    const D value = Isa::load_any(x + i);
    const D other = Isa::subtract(value, mean_other), own = Isa::subtract(value, mean_own);
    const D far = Isa::multiply(Isa::multiply(other, other), factor_other);
    const D near = Isa::multiply(Isa::multiply(own, own), factor_own);
    Isa::store_any(out + i, Isa::add(Isa::subtract(far, near), constant));
  }
  for (; i < n; ++i) {
    const double other = x[i] - line.mean_other, own = x[i] - line.mean_own;
    out[i] = (other * other * line.factor_other - own * own * line.factor_own) + line.constant;
  }
}

struct Sizes {
  std::size_t stride, rows, row_stride, n, ld;
};

// A features by B stay in registers for all samples.
template <std::size_t A, std::size_t B>
BITSIEVE_INLINE void count_tile(const double* a, const double* b, const Sizes& sizes,
                                double* nearest, std::int64_t* wrong) {
  const D zero = Isa::broadcast(0.0);
  L right[A][B];
  D least[A][B];
  for (std::size_t i = 0; i < A; ++i) {
    for (std::size_t j = 0; j < B; ++j) {
      right[i][j] = Isa::zero_long();
      least[i][j] = Isa::broadcast(1e300);
    }
  }
  for (std::size_t k = 0; k < sizes.n; k += wide) {
    D left[A], total[A][B];
    for (std::size_t i = 0; i < A; ++i) left[i] = Isa::load(a + i * sizes.stride + k);
    for (std::size_t j = 0; j < B; ++j) {
      const D many = Isa::load(b + j * sizes.stride + k);
      for (std::size_t i = 0; i < A; ++i) total[i][j] = Isa::add(left[i], many);
    }
    for (std::size_t r = 1; r < sizes.rows; ++r) {
      const std::size_t at = r * sizes.row_stride + k;
      for (std::size_t i = 0; i < A; ++i) left[i] = Isa::load(a + i * sizes.stride + at);
      for (std::size_t j = 0; j < B; ++j) {
        const D many = Isa::load(b + j * sizes.stride + at);
        for (std::size_t i = 0; i < A; ++i) {
          total[i][j] = Isa::minimum(total[i][j], Isa::add(left[i], many));
        }
      }
    }
    for (std::size_t i = 0; i < A; ++i) {
      for (std::size_t j = 0; j < B; ++j) {
        right[i][j] = Isa::count_greater(right[i][j], total[i][j], zero);
        least[i][j] = Isa::least_magnitude(least[i][j], total[i][j]);
      }
    }
  }
  for (std::size_t i = 0; i < A; ++i) {
    for (std::size_t j = 0; j < B; ++j) {
      alignas(64) std::int64_t lanes[wide];
      Isa::store_long(lanes, right[i][j]);
      std::int64_t count = static_cast<std::int64_t>(sizes.n);
      for (std::size_t l = 0; l < wide; ++l) count -= lanes[l];
      const std::size_t at = i * sizes.ld + j;
      const double found = Isa::least(least[i][j]);
      wrong[at] += count;
      if (found < nearest[at]) nearest[at] = found;
    }
  }
}

template <std::size_t A>
BITSIEVE_INLINE void count_row(const double* a, const double* b, std::size_t n_b,
                               const Sizes& sizes, double* nearest, std::int64_t* wrong) {
  constexpr std::size_t B = wide == 8 ? 4 : 2;
  std::size_t j = 0;
  for (; j + B <= n_b; j += B) {
    count_tile<A, B>(a, b + j * sizes.stride, sizes, nearest + j, wrong + j);
  }
  for (; j < n_b; ++j) {
    count_tile<A, 1>(a, b + j * sizes.stride, sizes, nearest + j, wrong + j);
  }
}

void count_wrong(const double* a, std::size_t n_a, const double* b, std::size_t n_b,
                 std::size_t stride, std::size_t rows, std::size_t row_stride, std::size_t n,
                 double* nearest, std::int64_t* wrong, std::size_t ld) {
  const Sizes sizes = {stride, rows, row_stride, n, ld};
  std::size_t i = 0;
  for (; i + 2 <= n_a; i += 2) {
    count_row<2>(a + i * stride, b, n_b, sizes, nearest + i * ld, wrong + i * ld);
  }
  if (i < n_a) count_row<1>(a + i * stride, b, n_b, sizes, nearest + i * ld, wrong + i * ld);
}

void count_ones(const std::uint64_t* a, const std::uint64_t* b, std::size_t n_b,
                std::size_t stride, const std::uint32_t* begin, std::size_t n_segments,
                double* counts) {
  for (std::size_t s = 0; s < n_segments; ++s) {
    const std::size_t first = begin[s], words = begin[s + 1] - first;
    double* out = counts + s * cell_lanes;
    for (std::size_t j = 0; j < n_b; ++j) {
      out[j] = static_cast<double>(common_ones(a + first, b + j * stride + first, words));
    }
    for (std::size_t j = n_b; j < cell_lanes; ++j) out[j] = 0;
  }
}

void count_cells(const PairCells& cells, double* wrong, double* nearest) {
  constexpr std::size_t V = cell_lanes / wide;
  const D zero = Isa::broadcast(0.0);
  for (std::size_t v = 0; v < V; ++v) {
    const std::size_t lane = v * wide;
    D least = Isa::broadcast(1e300);
    for (std::size_t y = 0; y < cells.n_classes; ++y) {
      D total = zero;
      for (std::size_t s = y * cells.n_folds; s < (y + 1) * cells.n_folds; ++s) {
        const double* own = cells.margins + s * cells.rows * 2;
        const double* many = cells.many_margins + s * cells.rows * 2 * cell_lanes + lane;
        const D ones = Isa::broadcast(cells.ones[s]), size = Isa::broadcast(cells.sizes[s]);
        const D many_ones = Isa::load(cells.many_ones + s * cell_lanes + lane);
        const D both = Isa::load(cells.counts + s * cell_lanes + lane);
        const D rest = Isa::subtract(many_ones, both);
        const D alone = Isa::subtract(ones, both);
        const D count[2][2] = {{Isa::subtract(Isa::subtract(size, ones), rest), rest},
                               {alone, both}};
        for (std::size_t x = 0; x < 2; ++x) {
          for (std::size_t z = 0; z < 2; ++z) {
            const double* place = many + z * cell_lanes;
            D found = Isa::add(Isa::broadcast(own[x]), Isa::load(place));
            for (std::size_t r = 1; r < cells.rows; ++r) {
              found = Isa::minimum(found, Isa::add(Isa::broadcast(own[2 * r + x]),
                                                   Isa::load(place + 2 * r * cell_lanes)));
            }
            total = Isa::add(total, Isa::where_greater(found, zero, zero, count[x][z]));
            least = Isa::least_magnitude(least, found);
          }
        }
      }
      Isa::store(wrong + y * cell_lanes + lane, total);
    }
    Isa::store(nearest + lane, least);
  }
}

}  // namespace pairs

const PairKernels pair_kernels = {pairs::margins, pairs::count_wrong, pairs::count_ones,
                                  pairs::count_cells};
