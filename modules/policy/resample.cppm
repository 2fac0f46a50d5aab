module;
#include <span>
#include <vector>
/// Tables over one grid of patches, resampled to another.
module iap.policy:resample;
import :block;

namespace iap {

/// The table of `from` as it is on the grid of `to`; the two agree in `tables` and `values`.
std::vector<float> resample(std::span<const float> table, const GridParameters& from, const GridParameters& to);

}  // namespace iap
