#include "rooms.hpp"

namespace bitsieve {
void register_fitness(pybind11::module_&) {}
}  // namespace bitsieve
