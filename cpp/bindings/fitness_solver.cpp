// The float64 Gram matrices that solvers take.
#include "fitness.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_fitness_solver(py::module_& module) { static_cast<void>(module); }

}  // namespace bitsieve
