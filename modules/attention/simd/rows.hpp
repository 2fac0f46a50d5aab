// Vectorised loops of the key database: features as rows, and distances of sign codes. Layout and padding are those of simd.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace iap::simd {

/// Floats of scratch memory that `feature_rows` needs.
inline std::size_t feature_rows_scratch(const FeatureMap& map) { return static_cast<std::size_t>(map.r + map.m + 2) * tile; }

/// out[f * out_pitch + j] = feature f of patch j < count <= tile, in the order of `feature_map` and with its constants, times
/// exp(-shift). On the queries' side the signs of the hybrid map's exponential features are negated. Returns the largest exponent
/// of a feature before the shift. Rows of `out` are written up to `lanes` floats past `count`.
float feature_rows(const FeatureMap& map, bool query_side, const float* u, std::size_t pitch, int count, float shift,
                   float* scratch, float* out, std::size_t out_pitch);

/// Bit b of codes[w * code_pitch + j] is set where sum_f directions[(w * features + f) * 64 + b] planes[f * pitch + j] is negative,
/// j < count. Sums run over f in order, so that a key's code does not depend on its neighbours.
void sign_codes(const float* planes, std::size_t pitch, int features, int count, const float* directions, int words,
                std::uint64_t* codes, std::size_t code_pitch);

/// distances[j] = number of bits in which code j differs from `query`; word w of code j stands at codes[w * pitch + j]. Reads
/// whole vectors: `codes` needs `lanes` words past each row's last, `distances` as much room past `count`.
void hamming_distances(const std::uint64_t* codes, std::size_t pitch, int words, int count, const std::uint64_t* query,
                       std::uint64_t* distances);

}  // namespace iap::simd
