// The bodies of additive_kernels.hpp. See body.hpp for the rule about headers.

namespace additive {}  // namespace additive

const AdditiveKernels additive_kernels = {};
