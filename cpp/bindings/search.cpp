// The search room. An ask or a tell takes microseconds, so the interpreter lock is kept: an
// object belongs to the one loop that drives it.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "bitsieve/core/mask.hpp"
#include "bitsieve/search/spsa.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {
namespace {

using Vector = Array<double>;

// Sums of two positions stay finite, and so do squares of a difference of scores. No search gets
// there by itself: a step is at most 1e100.
constexpr double largest_position = 1e150;
constexpr std::int64_t most_iterations = std::int64_t{1} << 53;

void check_position(const Vector& values, const char* name) {
  if (values.ndim() != 1 || values.shape(0) == 0) {
    throw std::invalid_argument(std::string(name) + " must be one-dimensional and not empty");
  }
  const double* v = values.data();
  if (!std::all_of(v, v + values.shape(0),
                   [](double x) { return std::abs(x) <= largest_position; })) {
    throw std::invalid_argument(std::string(name) + " must be finite, and 1e150 at most");
  }
}

BinarySpsa make_spsa(const Vector& start, std::uint64_t seed, double perturbation,
                     double stability, double decay, double gain, double step_fraction,
                     std::int64_t n_averaged, std::size_t n_select) {
  check_position(start, "start");
  const auto n_features = static_cast<std::size_t>(start.shape(0));
  if (!(perturbation > 0.0) || !(stability >= 0.0) || !(decay >= 0.0) || !(step_fraction > 0.0) ||
      !(std::max({perturbation, stability, decay, step_fraction}) <= largest_position)) {
    throw std::invalid_argument(
        "perturbation and step_fraction must be above 0, stability and decay at least 0, and all "
        "of them 1e150 at most");
  }
  if (!std::isnan(gain) && !(gain > 0.0 && std::isfinite(gain))) {
    throw std::invalid_argument("gain must be above 0, or NaN for the automatic one");
  }
  if (n_averaged < 1) throw std::invalid_argument("n_averaged must be at least 1");
  if (n_select > n_features) {
    throw std::invalid_argument("n_select must be at most the number of features");
  }
  SpsaOptions options;
  options.perturbation = perturbation;
  options.stability = stability;
  options.decay = decay;
  options.gain = gain;
  options.step_fraction = step_fraction;
  options.n_averaged = n_averaged;
  options.n_select = n_select;
  return BinarySpsa(start.data(), n_features, seed, options);
}

Array<Word> ask(BinarySpsa& spsa) {
  const auto n_words = static_cast<py::ssize_t>(words_for(spsa.n_features()));
  Array<Word> masks(
      {static_cast<py::ssize_t>(BinarySpsa::masks_per_ask), n_words});
  spsa.ask(masks.mutable_data());
  return masks;
}

void tell(BinarySpsa& spsa, double plus, double minus) {
  if (!(std::abs(plus - minus) <= largest_position)) {
    throw std::invalid_argument("scores must be finite, and differ by 1e150 at most");
  }
  spsa.tell(plus, minus);
}

py::tuple get_state(const BinarySpsa& spsa) {
  const SpsaState& state = spsa.state();
  const Vector position(static_cast<py::ssize_t>(spsa.n_features()), spsa.position());
  return py::make_tuple(position, state.iteration, state.mean_square);
}

void set_state(BinarySpsa& spsa, const Vector& position, std::int64_t iteration,
               double mean_square) {
  check_position(position, "w");
  if (static_cast<std::size_t>(position.shape(0)) != spsa.n_features()) {
    throw std::invalid_argument("w has " + std::to_string(position.shape(0)) +
                                " features, the search has " + std::to_string(spsa.n_features()));
  }
  if (iteration < 0 || iteration >= most_iterations) {
    throw std::invalid_argument("iteration must lie in [0, 2^53), got " + std::to_string(iteration));
  }
  if (!(mean_square >= 0.0 && mean_square <= largest_position * largest_position)) {
    throw std::invalid_argument("mean_square must lie in [0, 1e300]");
  }
  spsa.set_state(position.data(), SpsaState{iteration, mean_square});
}

}  // namespace

void register_search(py::module_& module) {
  py::class_<BinarySpsa>(module, "BinarySPSA",
                         "Binary SPSA over packed masks; bitsieve.search is its Python face.")
      .def(py::init(&make_spsa), py::arg("start").noconvert(), py::kw_only(), py::arg("seed"),
           py::arg("perturbation"), py::arg("stability"), py::arg("decay"), py::arg("gain"),
           py::arg("step_fraction"), py::arg("n_averaged"), py::arg("n_select"))
      .def_property_readonly("n_features", &BinarySpsa::n_features)
      .def_property_readonly("seed", &BinarySpsa::seed)
      .def("set_seed", &BinarySpsa::set_seed, py::arg("seed"))
      .def("ask", &ask, "uint64 (3, n_words): the iterate, plus and minus.")
      .def("tell", &tell, py::arg("plus"), py::arg("minus"))
      .def("is_decided", &BinarySpsa::is_decided)
      .def("state", &get_state, "(w, iteration, mean_square)")
      .def("set_state", &set_state, py::arg("position").noconvert(), py::arg("iteration"),
           py::arg("mean_square"));
}

}  // namespace bitsieve
