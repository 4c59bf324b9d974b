// Eigenvalues and eigenvectors of a symmetric matrix, in float64.
#pragma once

#include <cstddef>
#include <vector>

#include "bitsieve/core/aligned.hpp"

namespace bitsieve {

// A = Q L Q' of a[n][ld], both triangles (overwritten): L in values[n], in no order, and eigenvector i
// in row i of vectors[n][ld] (Q'; zero past n). By reflections to a tridiagonal matrix and implicit
// QR steps. False where it does not converge, as with values that are not finite.
// Cost: about 5 n^3 multiply-adds. Plain loops: its bits may differ between instruction sets, so that
// only what decides nothing by itself may stand on it.
bool diagonalize(double* a, std::size_t n, std::size_t ld, std::vector<double>& values,
                 AlignedVector<double>& vectors);

}  // namespace bitsieve
