module;
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>
/// P of IAP-trans.
module iap.policy:compression;
import iap.core;
import iap.attention;
import :block;

namespace iap {

/// Where in the parameters a table over patches lies that is none of them, as it was drawn at random for its grid.
inline constexpr std::size_t drawn_table = std::numeric_limits<std::size_t>::max();

/// P, l x L (v2 section 3.2): option `compression`, "learned" (`<path>.compression` over sqrt(L)), "average" (row i is the mean of
/// the i-th of l runs of patches that are as equal as possible, in patch order) or "random" (N(0, 1/L), drawn from
/// `compression_seed`). A learned P begins as N(0, 1/L), which keeps the variance of what it adds up; its parameters as N(0, 1), so
/// that steps of an evolution strategy that suit other parameters suit these, whatever the image.
class Compression {
 public:
  Compression(Options& options, int patches, int tokens, const std::string& path, int head, int heads, ParameterLayout& layout);
  /// Bytes that one takes.
  static double bytes(int patches, int tokens) { return sizeof(float) * static_cast<double>(patches) * tokens; }
  const std::string& name() const { return name_; }
  void initialise(std::span<float> parameters, Random& random) const;
  /// Appends P unless it is that of any grid, the average: one that is learned, or one that was drawn, which lies at `drawn_table`.
  /// `grid` is that of its columns.
  void collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const;
  /// P, valid until the next call.
  std::span<const float> bind(std::span<const float> parameters);

 private:
  std::string name_;
  std::size_t offset_ = 0, learned_ = 0;  // position and number of parameters
  float factor_;
  std::vector<float> matrix_;
};

}  // namespace iap
