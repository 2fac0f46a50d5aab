// The least time that a kernel's arithmetic takes on this machine.
#pragma once

namespace iap {

/// Milliseconds: the sum of what arithmetic takes, or the memory traffic if that takes longer.
double least_time(const KernelWork& work, const MachineRates& rates);

}  // namespace iap
