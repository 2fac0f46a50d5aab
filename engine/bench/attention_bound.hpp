// The least time that a kernel's arithmetic takes on this machine.
#pragma once

namespace iap {

/// Operations that scoring one frame cannot do without.
struct FrameWork {
  double fma = 0, exp = 0, sine_cosine = 0, bytes = 0;
};

/// Counts those of a kernel of the catalog: products of queries and keys with pixels and with projections, functions of features,
/// sums over features and signs; bytes of the frame and its scores. `options` are the kernel's.
FrameWork count_work(const Config& options, const PatchGrid& grid, int d);

/// Milliseconds: the sum of what arithmetic takes, or the memory traffic if that takes longer.
double least_time(const FrameWork& work, const MachineRates& rates);

}  // namespace iap
