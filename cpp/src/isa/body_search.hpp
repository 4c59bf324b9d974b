// Passes of a search: search_kernels.hpp. See body.hpp for the rule about headers.

namespace search {

void step(const std::uint64_t* delta, std::size_t n_words, double size, double* w, double* total) {
  constexpr std::size_t W = Isa::width_double, n_patterns = std::size_t{1} << W;
  alignas(64) double steps[n_patterns * W];  // of W features, for each pattern of their bits
  for (std::size_t k = 0; k < n_patterns * W; ++k) {
    steps[k] = ((k / W) >> (k % W) & 1u) != 0 ? size : -size;
  }
  for (std::size_t i = 0; i < n_words; ++i) {
    std::uint64_t bits = delta[i];
    for (std::size_t k = 64 * i; k < 64 * i + 64; k += W, bits >>= W) {
      const auto moved = Isa::add(Isa::load(w + k), Isa::load(steps + W * (bits & (n_patterns - 1))));
      Isa::store(w + k, moved);
      Isa::store(total + k, Isa::add(Isa::load(total + k), moved));
    }
  }
}

void reach(const double* w, const std::uint64_t* delta, std::size_t n_words, double c,
           const double* least, std::uint64_t* bits) {
  constexpr std::size_t W = Isa::width_double;
  const auto size = Isa::broadcast(c);
  const auto of_w = Isa::broadcast(least[0]);
  const auto of_plus = Isa::broadcast(least[1]), of_minus = Isa::broadcast(least[2]);
  for (std::size_t i = 0; i < n_words; ++i) {
    // Bits of what is below, of w raised and lowered by c.
    std::uint64_t below = 0, up_plus = 0, down_plus = 0, up_minus = 0, down_minus = 0;
    for (std::size_t k = 0; k < 64; k += W) {
      const auto x = Isa::load(w + 64 * i + k);
      const auto up = Isa::add(x, size), down = Isa::subtract(x, size);
      below |= std::uint64_t{Isa::greater(of_w, x)} << k;
      up_plus |= std::uint64_t{Isa::greater(of_plus, up)} << k;
      down_plus |= std::uint64_t{Isa::greater(of_plus, down)} << k;
      up_minus |= std::uint64_t{Isa::greater(of_minus, up)} << k;
      down_minus |= std::uint64_t{Isa::greater(of_minus, down)} << k;
    }
    const std::uint64_t d = delta[i];
    bits[i] = ~below;
    bits[n_words + i] = ~((up_plus & d) | (down_plus & ~d));
    bits[2 * n_words + i] = ~((down_minus & d) | (up_minus & ~d));
  }
}

}  // namespace search

const SearchKernels search_kernels = {search::step, search::reach};
