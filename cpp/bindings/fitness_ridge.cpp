// The ridge family.
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_fitness_ridge(py::module_& module) { static_cast<void>(module); }

}  // namespace bitsieve
