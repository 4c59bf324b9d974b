// Values to codes: a column of few whole numbers has a level a value, in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitsieve {

// What encode_levels reports of a column that it leaves alone.
inline constexpr std::int32_t fractional = -1;  // some value is no whole number below 2^53
inline constexpr std::int32_t too_many = 0;     // more than `most` levels

// codes[i * p + f] and n_levels[f] for a sample-major table of finite values; most <= 256. Codes
// of columns that are left alone are not written. Limit: two passes over the table.
template <typename T>
void encode_levels(const T* x, std::size_t n, std::size_t p, std::size_t most,
                   std::uint8_t* codes, std::int32_t* n_levels, int n_threads);

}  // namespace bitsieve
