module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
/// What the attention blocks share: reading images and patches, heads, position encodings, values of patches.
module iap.policy:attention_parts;
import iap.core;
import iap.attention;
import :block;

namespace iap {

/// Which image of the observation option `image` names; the first by default.
std::size_t read_image(Options& options, const ObservationSpec& observation);
/// Options `patch` and `stride` (the patch).
PatchGrid read_grid(Options& options, const ImageShape& shape);
/// One table of parameters over the patches of `grid`, which begins at `offset`.
GridParameters grid_parameters(const PatchGrid& grid, std::size_t offset);
/// Option `key` (10), a number of patches that the grid must have.
int read_patch_count(Options& options, std::string_view key, const PatchGrid& grid);

/// Where a patch is, as the controller is told: options `position_range` and `centre`.
class PositionForm {
 public:
  PositionForm(Options& options, const PatchGrid& grid);
  /// (row, column) of a patch's centre.
  std::pair<float, float> operator()(const PatchGrid& grid, int patch) const;

 private:
  bool unit_;
  float shift_;  // from a patch's centre to the upper left corner of its middle pixel, whose index AttentionAgent uses
};

/// PE of X' = X + PE (v2 section 3.2): option `encoding`, "none", "sinusoidal" (times `encoding_scale`) or "learned", which
/// declares `<path>.encoding`, L x c.
class PositionEncoding {
 public:
  PositionEncoding(Options& options, const PatchGrid& grid, const std::string& path, ParameterLayout& layout);
  /// "", or a part of a block's description.
  std::string describe() const { return name_ == "none" ? "" : ", encoding " + name_; }
  void initialise(std::span<float> parameters, Random& random) const;
  void bind(std::span<const float> parameters);
  /// Appends the table if it is learned; `grid` is that of its patches.
  void collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const;
  /// L x c, or empty.
  std::span<const float> table() const { return table_; }

 private:
  std::string name_;
  std::size_t offset_ = 0, size_ = 0;
  std::vector<float> fixed_;
  std::span<const float> table_;
};

/// Option `encoding`, as PositionEncoding reads it: "none", "sinusoidal" or "learned".
std::string read_encoding(Options& options);

/// @throws Error for learned P where draws need it to be positive.
void check_query_weights(const Options& options, const CrossAttention& sampler, bool learned);

/// The name of an array or a view of head number `head` (from 0): `name` itself for an only head, else "<name>_1" ...
std::string head_name(const std::string& name, int head, int heads);
/// The options of a block for head number `head`: its own `feature_seed`, so that heads draw different projections.
Config head_options(const Options& options, int head);

/// W_Q and W_K (c x d), their biases if wanted, and P (one number a patch) if it is learned.
class HeadParameters {
 public:
  HeadParameters(const PatchGrid& grid, int d, bool bias, bool query_weights, const std::string& path, int head, int heads,
                 ParameterLayout& layout);
  /// W_Q and W_K begin as N(0, 1/c), so that queries and keys have the variance of the pixels; biases at 0, P at 1.
  void initialise(std::span<float> parameters, Random& random) const;
  HeadWeights weights(std::span<const float> parameters, std::span<const float> encoding) const;
  /// Appends P if it is learned; `grid` is that of the queries.
  void collect_grids(const PatchGrid& grid, std::vector<GridParameters>& grids) const;

 private:
  int c_;
  std::size_t matrix_, bias_, query_weight_count_;  // sizes
  std::size_t query_ = 0, key_ = 0, query_bias_ = 0, key_bias_ = 0, query_weights_ = 0;
};

/// What `Block::memory` says of draws that go on from frame to frame: options `selection` and `redraw` in a block's `config`.
std::string drawn_memory(const Config& config);

/// What is told of a patch: rows of V (v2 section 3.2), `size()` columns.
class PatchValues {
 public:
  virtual ~PatchValues() = default;
  virtual int size() const = 0;
  virtual void initialise(std::span<float> parameters, Random& random) const { (void)parameters, (void)random; }
  /// The policy's whole vector, and PE or nothing.
  virtual void bind(std::span<const float> parameters, std::span<const float> encoding) { (void)parameters, (void)encoding; }
  /// Writes the size() values of one patch.
  virtual void write(const ImageView& image, int patch, std::span<float> out) = 0;
};

/// What a kind of values is built from.
struct ValueContext {
  Options& options;
  const PatchGrid& grid;
  const PositionForm& position;
  float pixel_offset;
  std::string path;
  int head, heads;  ///< whose values they are; blocks whose heads share them say 0 of 1
  ParameterLayout& layout;

  std::string array(const std::string& name) const { return path + "." + head_name(name, head, heads); }
};

using MadeValues = std::unique_ptr<PatchValues>;

/// Option `values`: one name or a list of names. Returns them in the order in which they are handed over, which is that of the
/// catalog, whatever the order of the list, and which the policy's summary shows; those of `own` come last: what a block tells of a
/// head as a whole and not patch by patch.
std::vector<std::string> read_value_names(Options& options, const char* fallback, std::vector<std::string> own = {});
/// One object for each name that is a kind of values of patches. @throws Error naming the option.
std::vector<MadeValues> make_values(const std::vector<std::string>& names, const ValueContext& context);
/// Sum of their sizes.
std::int64_t total_size(const std::vector<MadeValues>& values);

/// Option `dv` (8): columns of a learned projection.
int read_projection_size(Options& options);

/// Pixel `index` of the image's values, uint8 as value / 255.
float pixel_at(const ImageView& image, std::size_t index);

}  // namespace iap
