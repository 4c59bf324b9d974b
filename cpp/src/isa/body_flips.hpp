// One-flip neighbors under 1-NN: flips_nearest and flips_class of kernels.hpp. See body.hpp for the
// rule about headers.

// ---- one-flip neighbors ------------------------------------------------------------------

// The values of one block of flips and what bounds their errors.
struct FlipLanes {
  static constexpr int J = static_cast<int>(flip_lanes) / Isa::width;
  using F = typename Isa::F;

  FlipLanes(const float* values_, const float* sign, const float* spread) : values(values_) {
    for (int v = 0; v < J; ++v) {
      signs[v] = Isa::load(sign + v * Isa::width);
      spreads[v] = Isa::load(spread + v * Isa::width);
    }
  }

  void begin(std::size_t sample) { load(sample, own); }

  void load(std::size_t sample, F (&out)[J]) const {
    for (int v = 0; v < J; ++v) {
      out[v] = Isa::load(values + sample * flip_lanes + static_cast<std::size_t>(v * Isa::width));
    }
  }

  // The sign of all lanes that have one, or 0 where they differ.
  static int common(const float* sign) {
    bool joins = false, leaves = false;
    for (std::size_t lane = 0; lane < flip_lanes; ++lane) {
      joins = joins || sign[lane] > 0;
      leaves = leaves || sign[lane] < 0;
    }
    return joins == leaves ? 0 : joins ? 1 : -1;
  }

  template <int Sign>
  F distance(int v, std::size_t j, F base) const {
    const F value = Isa::load(values + j * flip_lanes + v * Isa::width);
    return distance_between<Sign>(v, own[v], value, base);
  }

  template <int Sign>
  F distance_between(int v, F a, F b, F base) const {
    const F difference = Isa::subtract(a, b);
    if constexpr (Sign > 0) return Isa::multiply_add(difference, difference, base);
    if constexpr (Sign < 0) return Isa::multiply_less(difference, difference, base);
    return Isa::multiply_add(difference, Isa::multiply(difference, signs[v]), base);
  }

  // The least distance to candidates [first, last). Chains of minima, as one would wait for itself.
  template <int Sign>
  void nearest(const float* distances, const std::int32_t* candidates, std::int32_t first,
               std::int32_t last, F* least) const {
    constexpr int U = 4 / J > 2 ? 4 / J : 2;
    F chain[U][J];
    for (int u = 0; u < U; ++u) {
      for (int v = 0; v < J; ++v) chain[u][v] = Isa::broadcast(far_away);
    }
    std::int32_t c = first;
    for (; c + U <= last; c += U) {
      for (int u = 0; u < U; ++u) {
        const std::size_t j = static_cast<std::size_t>(candidates[c + u]);
        const F base = Isa::broadcast(distances[j]);
        for (int v = 0; v < J; ++v) {
          chain[u][v] = Isa::minimum(chain[u][v], distance<Sign>(v, j, base));
        }
      }
    }
    for (; c < last; ++c) {
      const std::size_t j = static_cast<std::size_t>(candidates[c]);
      const F base = Isa::broadcast(distances[j]);
      for (int v = 0; v < J; ++v) {
        chain[0][v] = Isa::minimum(chain[0][v], distance<Sign>(v, j, base));
      }
    }
    // The first chain has a candidate where any has: it is the operand that keeps a NaN.
    for (int v = 0; v < J; ++v) {
      F rest = chain[1][v];
      for (int u = 2; u < U; ++u) rest = Isa::minimum(rest, chain[u][v]);
      least[v] = Isa::minimum(rest, chain[0][v]);
    }
  }

  // The same for several tests at once, which wait for each other instead: a value is read, and
  // where it is found out, once for all of them.
  static constexpr int rows = J < 4 ? 4 / J : 1;
  template <int Sign>
  BITSIEVE_INLINE void nearest_of_rows(const float* const* distances, const F (&of)[rows][J],
                                       const std::int32_t* candidates, std::int32_t first,
                                       std::int32_t last, F (&least)[rows][J]) const {
    F chain[rows][J];
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < J; ++v) chain[r][v] = Isa::broadcast(far_away);
    }
    for (std::int32_t c = first; c < last; ++c) {
      const std::size_t j = static_cast<std::size_t>(candidates[c]);
      F value[J];
      load(j, value);
      for (int r = 0; r < rows; ++r) {
        const F base = Isa::broadcast(distances[r][j]);
        for (int v = 0; v < J; ++v) {
          chain[r][v] = Isa::minimum(chain[r][v],
                                     distance_between<Sign>(v, of[r][v], value[v], base));
        }
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < J; ++v) least[r][v] = chain[r][v];
    }
  }

  // Twice the error of a distance near the least.
  F bound(int v, float margin, F least) const {
    const F reach = Isa::add(Isa::magnitude(own[v]), spreads[v]);
    F out = Isa::multiply_add(Isa::broadcast(0x1p-21f), Isa::multiply(reach, reach),
                              Isa::broadcast(margin));
    out = Isa::multiply_add(Isa::broadcast(0x1p-22f), least, out);
    return Isa::add(out, out);
  }

  // Where all features join: lanes whose two least distances, `gap` apart, are surely in this order.
  // What joins is off by 2^-21 * reach * |difference|, and the square of a difference is at most a
  // distance A and its margin: with L the least and s = sqrt(L + margin) + 2^-19 * reach,
  //   error(A) <= margin + 2^-22 * A + 2^-21 * reach * s + (A - L) / 8,
  // so that a gap of 2.5 error(L) decides. Compared are squares, for want of a root.
  unsigned apart(int v, float margin, F least, F gap) const {
    const F reach = Isa::add(Isa::magnitude(own[v]), spreads[v]);
    const F about = Isa::broadcast(margin);
    F error = Isa::multiply_add(Isa::broadcast(0x1p-22f), least, about);
    error = Isa::multiply_add(Isa::multiply(Isa::broadcast(0x1p-40f), reach), reach, error);
    const F left = Isa::subtract(gap, Isa::multiply(Isa::broadcast(2.5f), error));
    const F share = Isa::multiply(Isa::broadcast(2.5f * 0x1p-21f), reach);
    // Beyond 2^-100, which keeps the squares clear of where float32 ends.
    const F wanted = Isa::multiply_add(Isa::multiply(share, share), Isa::add(least, about),
                                       Isa::broadcast(0x1p-100f));
    return Isa::less(wanted, Isa::multiply(left, left)) & Isa::less(Isa::zero(), left);
  }

  const float* values;
  F signs[J], spreads[J], own[J];
};

// What is sure of a test whose least distances to its class and to others are known; returns the
// lanes that are open.
template <int Sign>
BITSIEVE_INLINE unsigned count_sure(const FlipLanes& lanes, float margin,
                                    const typename Isa::F* same, const typename Isa::F* other,
                                    std::int32_t* correct) {
  using F = typename Isa::F;
  unsigned open = 0;
  for (int v = 0; v < FlipLanes::J; ++v) {
    const F least = Isa::minimum(same[v], other[v]);
    const F bound = lanes.bound(v, margin, least);
    const F gap = Isa::subtract(other[v], same[v]);
    unsigned sure = Isa::less(bound, gap);
    unsigned wrong = Isa::less(bound, Isa::subtract(Isa::zero(), gap));
    if constexpr (Sign > 0) {
      if ((sure | wrong) != Isa::all) {
        const unsigned apart = lanes.apart(v, margin, least, Isa::magnitude(gap));
        sure |= apart & Isa::less(Isa::zero(), gap);
        wrong |= apart & Isa::less(gap, Isa::zero());
      }
    }
    Isa::count(correct + v * Isa::width, sure);
    open |= (~(sure | wrong) & Isa::all) << (v * Isa::width);
  }
  return open;
}

template <int Sign>
BITSIEVE_INLINE void flips_nearest_of(const float* values, const float* base, std::size_t ld,
                                      const float* sign, const float* margin, const float* spread,
                                      const FlipTests& tests, std::int32_t* correct,
                                      std::uint16_t* unsure) {
  using F = typename Isa::F;
  FlipLanes lanes(values, sign, spread);
  for (std::size_t k = 0; k < tests.n_counters * flip_lanes; ++k) correct[k] = 0;
  constexpr int R = FlipLanes::rows;
  for (std::size_t t = 0; t < tests.n_tests;) {
    const FlipTest* test = tests.tests + t;
    std::int32_t* out = correct + static_cast<std::size_t>(test->counter) * flip_lanes;
    const float* distances[R];
    bool alike = t + R <= tests.n_tests;  // of a split and a class: their candidates are the same
    for (int r = 0; r < R && alike; ++r) {
      alike = test[r].counter == test->counter;
      distances[r] = base + static_cast<std::size_t>(test[r].row) * ld;
    }
    if (alike && R > 1) {
      F own[R][FlipLanes::J], same[R][FlipLanes::J], other[R][FlipLanes::J];
      for (int r = 0; r < R; ++r) lanes.load(static_cast<std::size_t>(test[r].sample), own[r]);
      lanes.nearest_of_rows<Sign>(distances, own, tests.candidates, test->same_begin,
                                  test->same_end, same);
      lanes.nearest_of_rows<Sign>(distances, own, tests.candidates, test->other_begin,
                                  test->other_end, other);
      for (int r = 0; r < R; ++r) {
        for (int v = 0; v < FlipLanes::J; ++v) lanes.own[v] = own[r][v];
        const float about = margin[static_cast<std::size_t>(test[r].sample)];
        unsure[t++] = static_cast<std::uint16_t>(
            count_sure<Sign>(lanes, about, same[r], other[r], out));
      }
      continue;
    }
    const std::size_t i = static_cast<std::size_t>(test->sample);
    const float* row = base + static_cast<std::size_t>(test->row) * ld;
    F same[FlipLanes::J], other[FlipLanes::J];
    lanes.begin(i);
    lanes.nearest<Sign>(row, tests.candidates, test->same_begin, test->same_end, same);
    lanes.nearest<Sign>(row, tests.candidates, test->other_begin, test->other_end, other);
    unsure[t++] =
        static_cast<std::uint16_t>(count_sure<Sign>(lanes, margin[i], same, other, out));
  }
}

void flips_nearest(const float* values, const float* base, std::size_t ld, const float* sign,
                   const float* margin, const float* spread, const FlipTests& tests,
                   std::int32_t* correct, std::uint16_t* unsure) {
  switch (FlipLanes::common(sign)) {
    case 1:
      return flips_nearest_of<1>(values, base, ld, sign, margin, spread, tests, correct, unsure);
    case -1:
      return flips_nearest_of<-1>(values, base, ld, sign, margin, spread, tests, correct, unsure);
    default:
      return flips_nearest_of<0>(values, base, ld, sign, margin, spread, tests, correct, unsure);
  }
}

template <int Sign>
BITSIEVE_INLINE void flips_class_of(const float* values, const float* base, std::size_t ld,
                                    const float* sign, const float* margin, const float* spread,
                                    const FlipTests& tests, std::int32_t* counts,
                                    std::uint16_t* unsure) {
  using F = typename Isa::F;
  constexpr int J = FlipLanes::J;
  const F zero = Isa::zero();
  const std::size_t n_classes = tests.n_classes;
  FlipLanes lanes(values, sign, spread);
  for (std::size_t k = 0; k < tests.n_counters * flip_lanes; ++k) counts[k] = 0;
  for (std::size_t t = 0; t < tests.n_tests; ++t) {
    const FlipTest& test = tests.tests[t];
    const std::size_t i = static_cast<std::size_t>(test.sample);
    const std::size_t counter = static_cast<std::size_t>(test.counter);
    const std::int32_t* begin = tests.class_begin + counter / n_classes * (n_classes + 1);
    const float* distances = base + static_cast<std::size_t>(test.row) * ld;
    F least[J], second[J];  // of the classes' nearest
    for (int v = 0; v < J; ++v) least[v] = second[v] = Isa::broadcast(far_away);
    unsigned nearer[flip_classes][J];  // lanes in which a class is nearer than those before it
    lanes.begin(i);
    for (std::size_t c = 0; c < n_classes; ++c) {
      F found[J];
      lanes.nearest<Sign>(distances, tests.candidates, begin[c], begin[c + 1], found);
      for (int v = 0; v < J; ++v) {
        nearer[c][v] = Isa::less(found[v], least[v]);
        const F farther = Isa::subtract(
            zero, Isa::minimum(Isa::subtract(zero, found[v]), Isa::subtract(zero, least[v])));
        second[v] = Isa::minimum(second[v], farther);
        least[v] = Isa::minimum(least[v], found[v]);
      }
    }
    unsigned open = 0;
    for (int v = 0; v < J; ++v) {
      const F bound = lanes.bound(v, margin[i], least[v]);
      const F gap = Isa::subtract(second[v], least[v]);
      unsigned left = Isa::less(bound, gap);
      if constexpr (Sign > 0) {
        if (left != Isa::all) left |= lanes.apart(v, margin[i], least[v], gap);
      }
      open |= (~left & Isa::all) << (v * Isa::width);
      for (std::size_t c = n_classes; c-- > 0 && left != 0;) {
        const unsigned won = left & nearer[c][v];
        Isa::count(counts + (counter * n_classes + c) * flip_lanes + v * Isa::width, won);
        left ^= won;
      }
    }
    unsure[t] = static_cast<std::uint16_t>(open);
  }
}

void flips_class(const float* values, const float* base, std::size_t ld, const float* sign,
                 const float* margin, const float* spread, const FlipTests& tests,
                 std::int32_t* counts, std::uint16_t* unsure) {
  switch (FlipLanes::common(sign)) {
    case 1:
      return flips_class_of<1>(values, base, ld, sign, margin, spread, tests, counts, unsure);
    case -1:
      return flips_class_of<-1>(values, base, ld, sign, margin, spread, tests, counts, unsure);
    default:
      return flips_class_of<0>(values, base, ld, sign, margin, spread, tests, counts, unsure);
  }
}
