// The bodies of neighbor_kernels.hpp. See body.hpp for the rule about headers.

namespace neighbor {}  // namespace neighbor

const NeighborKernels neighbor_kernels = {};
