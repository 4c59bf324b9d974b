// The bodies of scaled_kernels.hpp. See body.hpp for the rule about headers.

namespace scaled {}  // namespace scaled

const ScaledKernels scaled_kernels = {};
