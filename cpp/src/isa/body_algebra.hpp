// The bodies of algebra_kernels.hpp. See body.hpp for the rule about headers.

namespace algebra {}  // namespace algebra

const AlgebraKernels algebra_kernels = {};
