// Nearest centroids and discriminant analysis.
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_fitness_discriminant(py::module_& module) { static_cast<void>(module); }

}  // namespace bitsieve
