// Which instruction set the hot loops use: the best that the processor has, unless the variable
// BITSIEVE_ISA or set_isa says otherwise. The only global state of the library.
#pragma once

#include <string>
#include <vector>

#include "bitsieve/isa/kernels.hpp"

namespace bitsieve {

std::vector<std::string> available_isas();  // lowest first
std::string get_isa();
void set_isa(const std::string& name);  // std::invalid_argument for one that is not available
const Kernels& kernels();

}  // namespace bitsieve
