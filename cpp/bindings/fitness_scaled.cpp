// Scalers that are fitted inside each fold.
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_fitness_scaled(py::module_& module) { static_cast<void>(module); }

}  // namespace bitsieve
