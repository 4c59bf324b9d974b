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

template <int J>
BITSIEVE_INLINE void advance_vectors(float* weight, float* mean, float* square,
                                     std::uint64_t first, std::uint64_t last,
                                     const RowSteps& steps) {
  const Constants c(steps);
  F w[J], m[J], v[J];
  for (int j = 0; j < J; ++j) w[j] = Isa::load_any(weight + j * Isa::width);
  if (steps.rates == nullptr) {
    for (std::uint64_t t = first; t < last; ++t) {
      for (int j = 0; j < J; ++j) {
        w[j] = Isa::subtract(w[j], Isa::multiply(c.rate, Isa::multiply(c.decay, w[j])));
      }
    }
    for (int j = 0; j < J; ++j) Isa::store_any(weight + j * Isa::width, w[j]);
    return;
  }
  for (int j = 0; j < J; ++j) {
    m[j] = Isa::load_any(mean + j * Isa::width);
    v[j] = Isa::load_any(square + j * Isa::width);
  }
  for (std::uint64_t t = first + 1; t <= last; ++t) {
    const std::size_t at = place(t, steps);
    const F rate = Isa::broadcast(steps.rates[at]), root = Isa::broadcast(steps.roots[at]);
    for (int j = 0; j < J; ++j) {
      adam(w[j], m[j], v[j], Isa::multiply(c.decay, w[j]), rate, root, c);
    }
  }
  for (int j = 0; j < J; ++j) {
    Isa::store_any(weight + j * Isa::width, w[j]);
    Isa::store_any(mean + j * Isa::width, m[j]);
    Isa::store_any(square + j * Isa::width, v[j]);
  }
}

template <int J>
BITSIEVE_INLINE void learn_vectors(float* weight, float* mean, float* square, const float* gradient,
                                   std::uint64_t step, const RowSteps& steps) {
  const Constants c(steps);
  const std::size_t at = steps.rates == nullptr ? 0 : place(step, steps);
  for (int j = 0; j < J; ++j) {
    const std::size_t k = static_cast<std::size_t>(j) * Isa::width;
    F w = Isa::load_any(weight + k);
    const F g = Isa::add(Isa::multiply(c.decay, w), Isa::load_any(gradient + k));
    if (steps.rates == nullptr) {
      w = Isa::subtract(w, Isa::multiply(c.rate, g));
    } else {
      F m = Isa::load_any(mean + k), v = Isa::load_any(square + k);
      adam(w, m, v, g, Isa::broadcast(steps.rates[at]), Isa::broadcast(steps.roots[at]), c);
      Isa::store_any(mean + k, m);
      Isa::store_any(square + k, v);
    }
    Isa::store_any(weight + k, w);
  }
}

constexpr std::size_t turn = most * Isa::width;  // weights that go together

// What is left of a row past whole turns, with zeros up to a whole one.
struct Rest {
  float weight[turn], mean[turn], square[turn];

  BITSIEVE_INLINE void take(const float* w, const float* m, const float* v, std::size_t n) {
    for (std::size_t k = 0; k < turn; ++k) {
      weight[k] = k < n ? w[k] : 0.0f;
      mean[k] = m != nullptr && k < n ? m[k] : 0.0f;
      square[k] = v != nullptr && k < n ? v[k] : 0.0f;
    }
  }
  BITSIEVE_INLINE void give(float* w, float* m, float* v, std::size_t n) const {
    for (std::size_t k = 0; k < n; ++k) w[k] = weight[k];
    if (m == nullptr) return;
    for (std::size_t k = 0; k < n; ++k) m[k] = mean[k];
    for (std::size_t k = 0; k < n; ++k) v[k] = square[k];
  }
};

void advance(float* weight, float* mean, float* square, std::size_t n, std::uint64_t first,
             std::uint64_t last, const RowSteps& steps) {
  const bool adam = steps.rates != nullptr;
  std::size_t j = 0;
  for (; j + turn <= n; j += turn) {
    advance_vectors<most>(weight + j, adam ? mean + j : nullptr, adam ? square + j : nullptr, first,
                          last, steps);
  }
  if (j == n) return;
  Rest rest;
  float* m = adam ? mean + j : nullptr;
  float* v = adam ? square + j : nullptr;
  rest.take(weight + j, m, v, n - j);
  const std::size_t vectors = (n - j + Isa::width - 1) / Isa::width;
  if (vectors == 1) {
    advance_vectors<1>(rest.weight, rest.mean, rest.square, first, last, steps);
  } else if (vectors == 2) {
    advance_vectors<2>(rest.weight, rest.mean, rest.square, first, last, steps);
  } else {
    advance_vectors<most>(rest.weight, rest.mean, rest.square, first, last, steps);
  }
  rest.give(weight + j, m, v, n - j);
}

void learn(float* weight, float* mean, float* square, std::size_t n, const float* gates,
           std::size_t ld, const float* gradient, std::size_t n_draws, std::uint64_t step,
           const RowSteps& steps) {
  const bool adam = steps.rates != nullptr;
  float total[turn];
  for (std::size_t j = 0; j < n; j += turn) {
    const std::size_t here = n - j < turn ? n - j : turn;
    for (std::size_t i = here; i < turn; ++i) total[i] = 0.0f;
    for (std::size_t k = 0; k < n_draws; ++k) {
      const float gate = gates == nullptr ? 1.0f : gates[k * ld];
      const float* g = gradient + k * n + j;
      if (k == 0) {
        for (std::size_t i = 0; i < here; ++i) total[i] = gate * g[i];
      } else {
        for (std::size_t i = 0; i < here; ++i) total[i] = total[i] + gate * g[i];
      }
    }
    float* m = adam ? mean + j : nullptr;
    float* v = adam ? square + j : nullptr;
    if (here == turn) {
      learn_vectors<most>(weight + j, m, v, total, step, steps);
    } else {
      Rest rest;
      rest.take(weight + j, m, v, here);
      learn_vectors<most>(rest.weight, rest.mean, rest.square, total, step, steps);
      rest.give(weight + j, m, v, here);
    }
  }
}

}  // namespace rows

const RowKernels row_kernels = {rows::advance, rows::learn};
