// The bodies of univariate_kernels.hpp. See body.hpp for the rule about headers.

inline constexpr UnivariateKernels univariate_kernels = {
    "univariate",
};
