// The bodies of solver_kernels.hpp. See body.hpp for the rule about headers.

namespace solver {}  // namespace solver

const SolverKernels solver_kernels = {};
