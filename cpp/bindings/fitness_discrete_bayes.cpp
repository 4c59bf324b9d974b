// Naive Bayes over counts, bits and levels.
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_fitness_discrete_bayes(py::module_& module) { static_cast<void>(module); }

}  // namespace bitsieve
