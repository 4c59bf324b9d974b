// The bodies of information_kernels.hpp. See body.hpp for the rule about headers.

inline constexpr InformationKernels information_kernels = {
    "information",
};
