// The bodies of svm_kernels.hpp. See body.hpp for the rule about headers.

namespace svm {

using D = typename Isa::D;
constexpr int width = Isa::width_double;
constexpr int vectors = svm_lanes / width;  // chains of one operation, side by side
constexpr double infinity = __builtin_huge_val();

// The greatest value seen in each lane and the first place of it.
struct Search {
  D best[vectors], place[vectors];

  BITSIEVE_INLINE explicit Search(double least) {
    for (int u = 0; u < vectors; ++u) {
      best[u] = Isa::broadcast(least);
      place[u] = Isa::broadcast(0.0);
    }
  }
  BITSIEVE_INLINE void see(int u, D value, D at) {
    place[u] = Isa::where_greater(value, best[u], at, place[u]);
    best[u] = Isa::maximum(best[u], value);
  }
  BITSIEVE_INLINE double result(std::size_t& index) const {
    D top = best[0];
    for (int u = 1; u < vectors; ++u) top = Isa::maximum(top, best[u]);
    const double value = Isa::most(top);
    const D all = Isa::broadcast(value), none = Isa::broadcast(infinity);
    D first = none;
    for (int u = 0; u < vectors; ++u) {
      first = Isa::minimum(first, Isa::where_greater(all, best[u], none, place[u]));
    }
    index = static_cast<std::size_t>(Isa::least(first));
    return value;
  }
};

alignas(64) const double numbers[svm_lanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};

// Places of the next svm_lanes samples.
struct Places {
  D at[vectors];
  BITSIEVE_INLINE Places() {
    for (int u = 0; u < vectors; ++u) at[u] = Isa::load(numbers + u * width);
  }
  BITSIEVE_INLINE void next() {
    const D turn = Isa::broadcast(static_cast<double>(svm_lanes));
    for (int u = 0; u < vectors; ++u) at[u] = Isa::add(at[u], turn);
  }
};

void invert(const double* matrix, std::size_t n, std::size_t ld, const double* diagonal,
            double* inverse) {
  const D one = Isa::broadcast(1.0), least = Isa::broadcast(1e-300);
  const D share = Isa::broadcast(0x1p-44);
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = matrix + i * ld;
    const D own = Isa::broadcast(diagonal[i]);
    for (std::size_t j = 0; j < ld; j += width) {
      const D sum = Isa::add(own, Isa::load(diagonal + j)), product = Isa::load(row + j);
      const D distance = Isa::subtract(Isa::subtract(sum, product), product);
      const D kept = Isa::maximum(Isa::maximum(distance, Isa::multiply(share, sum)), least);
      Isa::store(inverse + i * ld + j, Isa::divide(one, kept));
    }
  }
}

void subtract(const double* row, std::size_t ld, double step, double* slack) {
  const D factor = Isa::broadcast(step);
  for (std::size_t j = 0; j < ld; j += width) {
    const D moved = Isa::multiply(factor, Isa::load(row + j));
    Isa::store(slack + j, Isa::subtract(Isa::load(slack + j), moved));
  }
}

// The slack after a step along a pair, and the pair that violates most then.
BITSIEVE_INLINE SvmViolation move_slack(const SvmState& s, std::size_t up, std::size_t down,
                                        double step, std::size_t& next) {
  const double *row_up = s.matrix + up * s.ld, *row_down = s.matrix + down * s.ld;
  const D factor = Isa::broadcast(step);
  Search rising(-infinity);
  Places places;
  D least[vectors];
  for (int u = 0; u < vectors; ++u) least[u] = Isa::broadcast(infinity);
  for (std::size_t k = 0; k < s.ld; k += svm_lanes) {
    for (int u = 0; u < vectors; ++u) {
      const std::size_t at = k + u * width;
      const D along = Isa::subtract(Isa::load(row_up + at), Isa::load(row_down + at));
      const D slack = Isa::subtract(Isa::load(s.slack + at), Isa::multiply(factor, along));
      Isa::store(s.slack + at, slack);
      rising.see(u, Isa::add(slack, Isa::load(s.raise_bar + at)), places.at[u]);
      least[u] = Isa::minimum(least[u], Isa::add(slack, Isa::load(s.drop_bar + at)));
    }
    places.next();
  }
  for (int u = 1; u < vectors; ++u) least[0] = Isa::minimum(least[0], least[u]);
  return {rising.result(next), Isa::least(least[0])};
}

// The partner of sample `up` that lowers the objective most.
BITSIEVE_INLINE std::size_t best_partner(const SvmState& s, std::size_t up, double most) {
  const double* inverse = s.inverse + up * s.ld;
  const D top = Isa::broadcast(most), zero = Isa::broadcast(0.0);
  Search gains(0.0);
  Places places;
  for (std::size_t k = 0; k < s.ld; k += svm_lanes) {
    for (int u = 0; u < vectors; ++u) {
      const std::size_t at = k + u * width;
      const D barred = Isa::add(Isa::load(s.slack + at), Isa::load(s.drop_bar + at));
      const D apart = Isa::maximum(Isa::subtract(top, barred), zero);
      const D gain = Isa::multiply(Isa::multiply(apart, apart), Isa::load(inverse + at));
      gains.see(u, gain, places.at[u]);
    }
    places.next();
  }
  std::size_t down = 0;
  gains.result(down);
  return down;
}

// Written only where it changes: a small store stalls the wide load that follows.
BITSIEVE_INLINE void set_bar(double& bar, double value) {
  if (bar != value) bar = value;
}

BITSIEVE_INLINE void set_coefficient(const SvmState& s, std::size_t k, double value) {
  s.coefficients[k] = value;
  set_bar(s.raise_bar[k], value < s.upper[k] ? 0.0 : -infinity);
  set_bar(s.drop_bar[k], value > s.lower[k] ? 0.0 : infinity);
}

SvmViolation optimise(const SvmState& s, double tolerance, std::uint64_t most,
                      std::uint64_t& steps) {
  std::size_t up = 0, down = 0, next = 0;
  double step = 0.0;
  for (std::uint64_t done = 0;; ++done) {
    const SvmViolation left = move_slack(s, up, down, step, next);
    if (!(left.most - left.least > tolerance) || done == most) {
      steps += done;
      return left;
    }
    up = next;
    down = best_partner(s, up, left.most);
    const double room_up = s.upper[up] - s.coefficients[up];
    const double room_down = s.coefficients[down] - s.lower[down];
    const double room = room_up < room_down ? room_up : room_down;
    step = (left.most - s.slack[down]) * s.inverse[up * s.ld + down];
    step = step < room ? step : room;
    // A coefficient that takes all its room is at its bound to the bit.
    const double risen = step == room_up ? s.upper[up] : s.coefficients[up] + step;
    const double dropped = step == room_down ? s.lower[down] : s.coefficients[down] - step;
    set_coefficient(s, up, risen);
    set_coefficient(s, down, dropped);
  }
}

}  // namespace svm

const SvmKernels svm_kernels = {svm::invert, svm::subtract, svm::optimise};
