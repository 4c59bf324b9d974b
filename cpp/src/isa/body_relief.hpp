// The bodies of relief_kernels.hpp. See body.hpp for the rule about headers.

inline constexpr ReliefKernels relief_kernels = {
    "relief",
};
