// Fitnesses whose state is a sum over features: Gaussian naive Bayes.
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_fitness_additive(py::module_& module) { static_cast<void>(module); }

}  // namespace bitsieve
