// Vectorised loops that measure the machine, dispatched as the kernels' are.
#pragma once

namespace iap::simd {

/// `count` is a multiple of 64.
/// Runs independent chains of `steps` multiply-adds; multiply_adds says how many single ones those are.
float multiply_add_chains(int steps);
double multiply_adds(int steps);
void exponentials(const float* in, int count, float* out);
/// Writes `count` sines, then `count` cosines.
void sines_cosines(const float* in, int count, float* out);
float sum(const float* in, int count);

}  // namespace iap::simd
