// Work on one instruction set of this machine after the other.
#pragma once
#include <cstdint>

#include "hwy/targets.h"

/// Everything after its life runs on the best instruction set again.
struct OnlyTarget {
  explicit OnlyTarget(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~OnlyTarget() { hwy::SetSupportedTargetsForTest(0); }
};
