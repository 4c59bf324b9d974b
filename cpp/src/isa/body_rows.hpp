// The bodies of row_kernels.hpp. See body.hpp for the rule about headers.

namespace rows {

using F = typename Isa::F;

constexpr int most = 4;  // vectors that go through all steps together, to hide each other's latency

struct Constants {
  F rate, decay, keep_mean, add_mean, keep_square, add_square, epsilon, grid;
  BITSIEVE_INLINE explicit Constants(const RowSteps& steps)
      : rate(Isa::broadcast(steps.rate)),
        decay(Isa::broadcast(steps.decay)),
        keep_mean(Isa::broadcast(steps.keep_mean)),
        add_mean(Isa::broadcast(steps.add_mean)),
        keep_square(Isa::broadcast(steps.keep_square)),
        add_square(Isa::broadcast(steps.add_square)),
        epsilon(Isa::broadcast(steps.epsilon)),
        grid(Isa::broadcast(0x1p-100f)) {}
};

BITSIEVE_INLINE F on_grid(F a, const Constants& c) {
  return Isa::subtract(Isa::add(a, c.grid), c.grid);
}

// One step of a vector; g holds the gradient of the loss and the decay.
BITSIEVE_INLINE void adam(F& w, F& m, F& v, F g, F rate, F root, const Constants& c) {
  m = on_grid(Isa::add(Isa::multiply(c.keep_mean, m), Isa::multiply(c.add_mean, g)), c);
  const F square = Isa::multiply(Isa::multiply(c.add_square, g), g);
  v = on_grid(Isa::add(Isa::multiply(c.keep_square, v), square), c);
  const F spread = Isa::add(Isa::multiply(root, Isa::root(v)), c.epsilon);
  w = Isa::subtract(w, Isa::divide(Isa::multiply(rate, m), spread));
}

BITSIEVE_INLINE std::size_t place(std::uint64_t step, const RowSteps& steps) {
  return step < steps.n_rates ? static_cast<std::size_t>(step) : steps.n_rates - 1;
}

// J vectors, each of them at its place. All are read before any is written: two may share weights,
// which then come to the same bits.
template <int J>
BITSIEVE_INLINE void advance_vectors(float* weight, float* mean, float* square,
                                     const std::size_t* at, std::uint64_t first, std::uint64_t last,
                                     const RowSteps& steps) {
  const Constants c(steps);
  F w[J], m[J], v[J];
  for (int j = 0; j < J; ++j) w[j] = Isa::load_any(weight + at[j]);
  if (steps.rates == nullptr) {
    for (std::uint64_t t = first; t < last; ++t) {
      for (int j = 0; j < J; ++j) {
        w[j] = Isa::subtract(w[j], Isa::multiply(c.rate, Isa::multiply(c.decay, w[j])));
      }
    }
    for (int j = 0; j < J; ++j) Isa::store_any(weight + at[j], w[j]);
    return;
  }
  for (int j = 0; j < J; ++j) {
    m[j] = Isa::load_any(mean + at[j]);
    v[j] = Isa::load_any(square + at[j]);
  }
  for (std::uint64_t t = first + 1; t <= last; ++t) {
    const std::size_t of = place(t, steps);
    const F rate = Isa::broadcast(steps.rates[of]), root = Isa::broadcast(steps.roots[of]);
    for (int j = 0; j < J; ++j) {
      adam(w[j], m[j], v[j], Isa::multiply(c.decay, w[j]), rate, root, c);
    }
  }
  for (int j = 0; j < J; ++j) {
    Isa::store_any(weight + at[j], w[j]);
    Isa::store_any(mean + at[j], m[j]);
    Isa::store_any(square + at[j], v[j]);
  }
}

// The gradient of a row: of each draw, `n` apart, times the draw's gate, `ld` apart.
struct RowGradient {
  const float* gates;
  std::size_t ld;
  const float* values;
  std::size_t n, n_draws;

  BITSIEVE_INLINE F at(std::size_t j) const {
    F total = of_draw(0, j);
    for (std::size_t k = 1; k < n_draws; ++k) total = Isa::add(total, of_draw(k, j));
    return total;
  }
  BITSIEVE_INLINE F of_draw(std::size_t k, std::size_t j) const {
    const F g = Isa::load_any(values + k * n + j);
    return gates == nullptr ? g : Isa::multiply(Isa::broadcast(gates[k * ld]), g);
  }
};

template <int J>
BITSIEVE_INLINE void learn_vectors(float* weight, float* mean, float* square, const std::size_t* at,
                                   const RowGradient& gradient, std::uint64_t step,
                                   const RowSteps& steps) {
  const Constants c(steps);
  F w[J], g[J];
  for (int j = 0; j < J; ++j) {
    w[j] = Isa::load_any(weight + at[j]);
    g[j] = Isa::add(Isa::multiply(c.decay, w[j]), gradient.at(at[j]));
  }
  if (steps.rates == nullptr) {
    for (int j = 0; j < J; ++j) {
      Isa::store_any(weight + at[j], Isa::subtract(w[j], Isa::multiply(c.rate, g[j])));
    }
    return;
  }
  const std::size_t of = place(step, steps);
  const F rate = Isa::broadcast(steps.rates[of]), root = Isa::broadcast(steps.roots[of]);
  F m[J], v[J];
  for (int j = 0; j < J; ++j) {
    m[j] = Isa::load_any(mean + at[j]);
    v[j] = Isa::load_any(square + at[j]);
    adam(w[j], m[j], v[j], g[j], rate, root, c);
  }
  for (int j = 0; j < J; ++j) {
    Isa::store_any(weight + at[j], w[j]);
    Isa::store_any(mean + at[j], m[j]);
    Isa::store_any(square + at[j], v[j]);
  }
}

// Calls take(places, J) for the vectors of n >= width weights, J of them together. The last vector
// ends where the weights do; it goes with the one whose weights it shares.
template <class Take>
BITSIEVE_INLINE void in_vectors(std::size_t n, const Take& take) {
  constexpr std::size_t width = Isa::width;
  std::size_t left = (n + width - 1) / width;
  for (std::size_t j = 0; left > 0;) {
    const std::size_t count =
        left > most ? (left == most + 1 ? most - 1 : static_cast<std::size_t>(most)) : left;
    std::size_t at[most];
    for (std::size_t i = 0; i < count; ++i, j += width) at[i] = j + width <= n ? j : n - width;
    take(at, count);
    left -= count;
  }
}

// Fewer weights than a vector has, with zeros after them.
struct Short {
  float weight[Isa::width] = {}, mean[Isa::width] = {}, square[Isa::width] = {};

  BITSIEVE_INLINE Short(const float* w, const float* m, const float* v, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) weight[k] = w[k];
    if (m == nullptr) return;
    for (std::size_t k = 0; k < n; ++k) mean[k] = m[k];
    for (std::size_t k = 0; k < n; ++k) square[k] = v[k];
  }
  BITSIEVE_INLINE void give(float* w, float* m, float* v, std::size_t n) const {
    for (std::size_t k = 0; k < n; ++k) w[k] = weight[k];
    if (m == nullptr) return;
    for (std::size_t k = 0; k < n; ++k) m[k] = mean[k];
    for (std::size_t k = 0; k < n; ++k) v[k] = square[k];
  }
};

constexpr std::size_t start[1] = {0};

void advance(float* weight, float* mean, float* square, std::size_t n, std::uint64_t first,
             std::uint64_t last, const RowSteps& steps) {
  if (n < Isa::width) {
    float* m = steps.rates == nullptr ? nullptr : mean;
    Short row(weight, m, square, n);
    advance_vectors<1>(row.weight, row.mean, row.square, start, first, last, steps);
    row.give(weight, m, square, n);
    return;
  }
  in_vectors(n, [&](const std::size_t* at, std::size_t count) {
    if (count == 4) {
      advance_vectors<4>(weight, mean, square, at, first, last, steps);
    } else if (count == 3) {
      advance_vectors<3>(weight, mean, square, at, first, last, steps);
    } else if (count == 2) {
      advance_vectors<2>(weight, mean, square, at, first, last, steps);
    } else {
      advance_vectors<1>(weight, mean, square, at, first, last, steps);
    }
  });
}

void learn(float* weight, float* mean, float* square, std::size_t n, const float* gates,
           std::size_t ld, const float* gradient, std::size_t n_draws, std::uint64_t step,
           const RowSteps& steps) {
  if (n < Isa::width) {
    float* m = steps.rates == nullptr ? nullptr : mean;
    Short row(weight, m, square, n);
    float total[Isa::width] = {};
    for (std::size_t k = 0; k < n_draws; ++k) {
      const float gate = gates == nullptr ? 1.0f : gates[k * ld];
      for (std::size_t j = 0; j < n; ++j) {
        const float g = gate * gradient[k * n + j];
        total[j] = k == 0 ? g : total[j] + g;
      }
    }
    const RowGradient summed{nullptr, 0, total, Isa::width, 1};
    learn_vectors<1>(row.weight, row.mean, row.square, start, summed, step, steps);
    row.give(weight, m, square, n);
    return;
  }
  const RowGradient of_draws{gates, ld, gradient, n, n_draws};
  in_vectors(n, [&](const std::size_t* at, std::size_t count) {
    if (count == 4) {
      learn_vectors<4>(weight, mean, square, at, of_draws, step, steps);
    } else if (count == 3) {
      learn_vectors<3>(weight, mean, square, at, of_draws, step, steps);
    } else if (count == 2) {
      learn_vectors<2>(weight, mean, square, at, of_draws, step, steps);
    } else {
      learn_vectors<1>(weight, mean, square, at, of_draws, step, steps);
    }
  });
}

}  // namespace rows

const RowKernels row_kernels = {rows::advance, rows::learn};
