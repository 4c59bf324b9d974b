#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {

void register_univariate(py::module_& module) { (void)module; }

}  // namespace bitsieve
