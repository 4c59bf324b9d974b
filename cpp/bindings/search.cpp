// The search room. An ask or a tell takes microseconds, so the interpreter lock is kept: an
// object belongs to the one loop that drives it.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "bitsieve/core/mask.hpp"
#include "bitsieve/search/greatest.hpp"
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
                     std::int64_t n_averaged, std::size_t n_select, double noise,
                     bool second_order) {
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
  if (!(noise >= 0.0 && noise <= largest_position)) {
    throw std::invalid_argument("noise must lie in [0, 1e150]");
  }
  SpsaOptions options;
  options.perturbation = perturbation;
  options.stability = stability;
  options.decay = decay;
  options.gain = gain;
  options.step_fraction = step_fraction;
  options.n_averaged = n_averaged;
  options.n_select = n_select;
  options.noise = noise;
  options.second_order = second_order;
  return BinarySpsa(start.data(), n_features, seed, options);
}

Array<Word> ask(BinarySpsa& spsa) {
  const auto n_words = static_cast<py::ssize_t>(words_for(spsa.n_features()));
  Array<Word> masks({static_cast<py::ssize_t>(spsa.masks_per_ask()), n_words});
  spsa.ask(masks.mutable_data());
  return masks;
}

void tell(BinarySpsa& spsa, double plus, double minus, double second_difference) {
  if (!(std::abs(plus - minus) <= largest_position) ||
      !(std::abs(second_difference) <= largest_position)) {
    throw std::invalid_argument("scores must be finite, and differ by 1e150 at most");
  }
  spsa.tell(plus, minus, second_difference);
}

void check_live(const BinarySpsa& spsa, const Array<Word>& live) {
  if (live.ndim() != 1 ||
      static_cast<std::size_t>(live.shape(0)) != words_for(spsa.n_features())) {
    throw std::invalid_argument("live must be one mask, " +
                                std::to_string(words_for(spsa.n_features())) + " words");
  }
}

void restart(BinarySpsa& spsa, const Array<Word>& live) {
  check_live(spsa, live);
  spsa.restart(live.data());
}

py::tuple get_state(const BinarySpsa& spsa) {
  const SpsaState& state = spsa.state();
  const Vector position(static_cast<py::ssize_t>(spsa.n_features()), spsa.position());
  return py::make_tuple(position, state.iteration, state.mean_square);
}

void set_state(BinarySpsa& spsa, const Vector& position, std::int64_t iteration, double mean_square,
               std::int64_t began) {
  check_position(position, "w");
  if (static_cast<std::size_t>(position.shape(0)) != spsa.n_features()) {
    throw std::invalid_argument("w has " + std::to_string(position.shape(0)) +
                                " features, the search has " + std::to_string(spsa.n_features()));
  }
  if (iteration < 0 || iteration >= most_iterations) {
    throw std::invalid_argument("iteration must lie in [0, 2^53), got " + std::to_string(iteration));
  }
  if (began < 0 || began > iteration) {
    throw std::invalid_argument("began must lie in [0, iteration], got " + std::to_string(began));
  }
  if (!(mean_square >= 0.0 && mean_square <= largest_position * largest_position)) {
    throw std::invalid_argument("mean_square must lie in [0, 1e300]");
  }
  spsa.set_state(position.data(), SpsaState{iteration, mean_square, began});
}

Vector get_total(const BinarySpsa& spsa) {
  return Vector(static_cast<py::ssize_t>(spsa.n_features()), spsa.total());
}

void set_total(BinarySpsa& spsa, const Vector& total) {
  if (total.ndim() != 1 || static_cast<std::size_t>(total.shape(0)) != spsa.n_features()) {
    throw std::invalid_argument("total must be one-dimensional, a number for each of " +
                                std::to_string(spsa.n_features()) + " features");
  }
  const double* t = total.data();
  if (!std::all_of(t, t + total.shape(0), [](double x) { return std::isfinite(x); })) {
    throw std::invalid_argument("total must be finite");
  }
  spsa.set_total(t);
}

Array<Word> get_live(const BinarySpsa& spsa) {
  return Array<Word>(static_cast<py::ssize_t>(words_for(spsa.n_features())), spsa.live());
}

void set_live(BinarySpsa& spsa, const Array<Word>& live) {
  check_live(spsa, live);
  spsa.set_live(live.data());
}

Vector get_curvature(BinarySpsa& spsa) {
  const Curvature* curvature = spsa.curvature();
  if (curvature == nullptr) return Vector(py::ssize_t{0});
  return Vector(static_cast<py::ssize_t>(curvature->mean().size()), curvature->mean().data());
}

void set_curvature(BinarySpsa& spsa, const Vector& mean) {
  Curvature* curvature = spsa.curvature();
  if (curvature == nullptr) throw std::invalid_argument("a search of first order has no curvature");
  check_position(mean, "curvature");
  if (static_cast<std::size_t>(mean.shape(0)) != curvature->mean().size()) {
    throw std::invalid_argument("curvature has " + std::to_string(mean.shape(0)) +
                                " numbers, the search has " +
                                std::to_string(curvature->mean().size()));
  }
  curvature->set_mean(mean.data());
}

std::size_t greatest(const Vector& values, double place) {
  if (values.ndim() != 1 || values.shape(0) == 0) {
    throw std::invalid_argument("values must be one-dimensional and not empty");
  }
  if (!(place >= 0.0 && place < 1.0)) throw std::invalid_argument("place must lie in [0, 1)");
  const double* v = values.data();
  const auto n = static_cast<std::size_t>(values.shape(0));
  if (std::any_of(v, v + n, [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("values must be numbers, got NaN");
  }
  return greatest_at(v, n, place);
}

}  // namespace

void register_search(py::module_& module) {
  module.def("greatest", &greatest, py::arg("values").noconvert(), py::arg("place"),
             "Position of the greatest value, of t ties the one numbered floor(place * t).");
  py::class_<BinarySpsa>(module, "BinarySPSA",
                         "Binary SPSA over packed masks; bitsieve.search is its Python face.")
      .def(py::init(&make_spsa), py::arg("start").noconvert(), py::kw_only(), py::arg("seed"),
           py::arg("perturbation"), py::arg("stability"), py::arg("decay"), py::arg("gain"),
           py::arg("step_fraction"), py::arg("n_averaged"), py::arg("n_select"),
           py::arg("noise") = 0.0, py::arg("second_order") = false)
      .def_property_readonly("n_features", &BinarySpsa::n_features)
      .def_property_readonly("seed", &BinarySpsa::seed)
      .def("set_seed", &BinarySpsa::set_seed, py::arg("seed"))
      .def("ask", &ask, "uint64 (3, n_words): the iterate, plus and minus; or 5.")
      .def("tell", &tell, py::arg("plus"), py::arg("minus"), py::arg("second_difference") = 0.0)
      .def("restart", &restart, py::arg("live").noconvert(),
           "A new run on the features of a mask, uint64 (n_words,).")
      .def("is_decided", &BinarySpsa::is_decided)
      .def("state", &get_state, "(w, iteration, mean_square)")
      .def("set_state", &set_state, py::arg("position").noconvert(), py::arg("iteration"),
           py::arg("mean_square"), py::arg("began") = 0)
      .def("total", &get_total, "float64 (n_features,): the sum of the iterates told.")
      .def("set_total", &set_total, py::arg("total").noconvert())
      .def_property_readonly("began", [](const BinarySpsa& spsa) { return spsa.state().began; })
      .def("live", &get_live, "uint64 (n_words,): the features that are not out for good.")
      .def("set_live", &set_live, py::arg("live").noconvert())
      .def("curvature", &get_curvature, "float64: p * p numbers, p, or none of first order.")
      .def("set_curvature", &set_curvature, py::arg("mean").noconvert());
}

}  // namespace bitsieve
