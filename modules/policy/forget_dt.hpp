#pragma once
// Include it after `import iap.core`.

namespace iap {
extern "C++" {

/// Leaves out of the clocks in `architecture` the seconds between decisions that are `own`, which an environment gave or somebody
/// wrote down as it gives them, so that another one gives its own.
void forget_dt(Config& architecture, double own);
}
}  // namespace iap
