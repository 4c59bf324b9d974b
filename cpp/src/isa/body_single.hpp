// Masks of a single feature: single_features of neighbor_kernels.hpp. See body.hpp for the rule about
// headers.

namespace neighbor {

// ---- masks of a single feature --------------------------------------------------------------

constexpr double farther_than_all = __builtin_bit_cast(double, std::uint64_t{0x7FF0000000000000});

BITSIEVE_INLINE std::size_t lowest_bit(std::uint64_t word) {
#if defined(__GNUC__)
  return static_cast<std::size_t>(__builtin_ctzll(word));
#else
  std::size_t k = 0;
  while (((word >> k) & 1u) == 0) ++k;
  return k;
#endif
}

template <bool scaled>
struct SingleLanes {
  static constexpr int W = Isa::width_double, J = static_cast<int>(flip_lanes) / W;
  using D = typename Isa::D;

  BITSIEVE_INLINE D square(int v, std::size_t j, D own) const {
    const std::size_t at = static_cast<std::size_t>(v * W);
    D d = Isa::subtract(own, Isa::load(values + j * flip_lanes + at));
    if constexpr (scaled) d = Isa::multiply(d, Isa::load(factors + at));
    return Isa::multiply(d, d);
  }

  // The least squares of candidates [first, last), of which there may be none.
  BITSIEVE_INLINE void nearest(std::size_t i, std::int32_t first, std::int32_t last,
                               double* out) const {
    // As many registers as hide the latency of a minimum.
    constexpr int U = J < 4 ? 4 / J : 1, G = J < 4 ? J : 4;
    for (int begin = 0; begin < J; begin += G) {
      D own[G], chain[U][G];
      for (int v = 0; v < G; ++v) {
        own[v] = Isa::load(values + i * flip_lanes + static_cast<std::size_t>((begin + v) * W));
        for (int u = 0; u < U; ++u) chain[u][v] = Isa::broadcast(farther_than_all);
      }
      std::int32_t c = first;
      for (; c + U <= last; c += U) {
        for (int u = 0; u < U; ++u) {
          const std::size_t j = static_cast<std::size_t>(candidates[c + u]);
          for (int v = 0; v < G; ++v) {
            chain[u][v] = Isa::minimum(chain[u][v], square(begin + v, j, own[v]));
          }
        }
      }
      for (; c < last; ++c) {
        const std::size_t j = static_cast<std::size_t>(candidates[c]);
        for (int v = 0; v < G; ++v) {
          chain[0][v] = Isa::minimum(chain[0][v], square(begin + v, j, own[v]));
        }
      }
      for (int v = 0; v < G; ++v) {
        for (int u = 1; u < U; ++u) chain[0][v] = Isa::minimum(chain[0][v], chain[u][v]);
        Isa::store(out + (begin + v) * W, chain[0][v]);
      }
    }
  }

  // The class of the first of the samples at the least square of a lane, n_classes where none is.
  std::size_t first_of(const SingleFeatures& of, std::size_t i, int lane, double least,
                       const std::uint64_t* training, std::size_t n_classes) const {
    constexpr std::size_t step = static_cast<std::size_t>(W);
    const double* row = of.rows + static_cast<std::size_t>(lane) * of.ld;
    const D own = Isa::broadcast(row[i]), wanted = Isa::broadcast(least);
    const D factor = Isa::broadcast(scaled ? factors[lane] : 1.0);
    for (std::size_t begin = 0; begin < of.ld; begin += 64) {
      std::uint64_t found = 0;
      for (std::size_t j = 0; j < 64; j += step) {
        D d = Isa::subtract(own, Isa::load(row + begin + j));
        if constexpr (scaled) d = Isa::multiply(d, factor);
        found |= static_cast<std::uint64_t>(Isa::equal(Isa::multiply(d, d), wanted)) << j;
      }
      found &= training[begin / 64];
      if (found != 0) return static_cast<std::size_t>(of.classes[begin + lowest_bit(found)]);
    }
    return n_classes;
  }

  const double* values;
  const double* factors;
  const std::int32_t* candidates;
};

template <bool scaled>
BITSIEVE_INLINE void single_of(const SingleFeatures& of, const FlipTests& tests, bool hits_only,
                               std::int32_t* counts) {
  using Lanes = SingleLanes<scaled>;
  constexpr int W = Lanes::W;
  const Lanes lanes{of.values, of.factors, tests.candidates};
  const std::size_t n_classes = tests.n_classes;
  for (std::size_t k = 0; k < tests.n_counters * flip_lanes; ++k) counts[k] = 0;
  for (std::size_t t = 0; t < tests.n_tests; ++t) {
    const FlipTest& test = tests.tests[t];
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const std::size_t counter = static_cast<std::size_t>(test.counter);
    const std::size_t own = counter % n_classes;
    const std::uint64_t* training = of.training + counter / n_classes * (of.ld / 64);
    alignas(64) double same[flip_lanes], other[flip_lanes];
    lanes.nearest(i, test.same_begin, test.same_end, same);
    lanes.nearest(i, test.other_begin, test.other_end, other);
    unsigned right = 0, wrong = 0;
    for (int v = 0; v < Lanes::J; ++v) {
      const auto a = Isa::load(same + v * W), b = Isa::load(other + v * W);
      right |= Isa::greater(b, a) << (v * W);
      wrong |= Isa::greater(a, b) << (v * W);
    }
    // Of other classes which, or of tied ones the first.
    constexpr unsigned every = (1u << flip_lanes) - 1u;
    unsigned asked = ~right & every;
    if (hits_only || n_classes == 2) asked &= ~wrong;
    const std::size_t width = hits_only ? 1 : n_classes;
    std::int32_t* out = counts + counter * width * flip_lanes;
    for (unsigned open = asked; open != 0; open &= open - 1) {
      const int lane = static_cast<int>(lowest_bit(open));
      const double least = same[lane] < other[lane] ? same[lane] : other[lane];
      const std::size_t found = lanes.first_of(of, i, lane, least, training, n_classes);
      if (found == n_classes) continue;
      if (!hits_only) {
        ++out[found * flip_lanes + static_cast<std::size_t>(lane)];
      } else if (found == own) {
        ++out[lane];
      }
    }
    for (int v = 0; v < static_cast<int>(flip_lanes); v += Isa::width) {
      Isa::count(out + (hits_only ? 0 : own) * flip_lanes + v, (right >> v) & Isa::all);
      if (!hits_only && n_classes == 2) {
        Isa::count(out + (1 - own) * flip_lanes + v, (wrong >> v) & Isa::all);
      }
    }
  }
}

void single_features(const SingleFeatures& of, const FlipTests& tests, bool hits_only,
                     std::int32_t* counts) {
  return of.factors == nullptr ? single_of<false>(of, tests, hits_only, counts)
                               : single_of<true>(of, tests, hits_only, counts);
}

}  // namespace neighbor
