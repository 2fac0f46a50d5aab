module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.policy:block;
import iap.core;

namespace iap {
class PatchValues;
struct ValueContext;
}  // namespace iap

export namespace iap {

/// Count, mean and sum of squared differences to the mean of a value seen so far.
struct Moment {
  double count = 0, mean = 0, squares = 0;
  /// Takes one more value in (Welford's recurrence).
  void add(double value) {
    const double before = value - mean;
    count += 1;
    mean += before / count;
    squares += before * (value - mean);
  }
  /// Takes in what `other` saw (Chan, Golub & LeVeque 1979). The result depends on the order of the calls in its last bits.
  void merge(const Moment& other);
  bool operator==(const Moment&) const = default;
};

/// What a block looked at in its last `forward`, for pictures and reports.
struct AttentionView {
  std::string block;              ///< path of the block, ".head_2" added for the second of several heads
  std::string image;              ///< name of the image it looked at
  int rows = 0, columns = 0;      ///< patch grid; patch i is at row i / columns, column i % columns
  int patch = 0, stride = 0;      ///< pixels
  std::span<const float> scores;  ///< rows * columns; larger is more important
  std::span<const int> selected;  ///< chosen patches, best first, or as they were drawn; empty for a block that weighs all of them
  /// The earlier frame of the image that `scores` and `selected` belong to, borrowed as they are; without data where it is the
  /// present one.
  ImageView frame{};
  /// Whether the block looked in the policy's last decision. One that was not asked shows what it found when it last was.
  bool looked = true;
};

/// Where the patches of a grid lie along one axis of the image: centre i at first + i * step, as a fraction of the image's size.
struct PatchAxis {
  int count = 0;
  double first = 0, step = 0;
  bool operator==(const PatchAxis&) const = default;
};

/// Parameters that belong to the patches of an image, which is why their number depends on its size: `tables` grids one after the
/// other, each rows x columns x `values`.
struct GridParameters {
  std::size_t offset = 0;  ///< of the first in the policy's whole vector
  PatchAxis rows, columns;
  int tables = 1, values = 1;
  /// Weights w of a sum over patches, L^(-1/2) sum_i w_i v_i, rather than properties of a patch.
  bool weights = false;
};

/// What a block is told when it is built.
struct BlockContext {
  const ObservationSpec* observation = nullptr;  ///< what the policy sees; outlives the block
  int action_size = 0;                           ///< the environment's; the last linear or mlp block takes it as its default output
  int inputs = 0;                                ///< number of values that the block before hands over
  bool last = false;                             ///< whether the block's output is the action
  std::string path;  ///< unique name: "policy" for the root, below it such as "1.rank" or "2.concat.1.rank"
  /// How many blocks it stands in, and how many the whole policy has so far (null: none yet); `make_block` counts.
  int depth = 0;
  int* built = nullptr;
};

class Block;
std::unique_ptr<Block> make_block(const Config& config, const BlockContext& context, ParameterLayout& layout);

/// One node of a policy: reads the observation and the values of the block before it, writes values. Not thread-safe.
///
/// A block is built in one step: its constructor reads its options, checks shapes, declares its parameter slices
/// ("<path>.weight") and sizes its workspace. The policy visits every block of the tree, so that `initialise`, `bind`, `reset`
/// and `collect_views` concern a block alone and not its children; only `forward` calls the children, and `date_views` speaks of
/// them.
class Block {
 public:
  virtual ~Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// The catalog's name of this kind of block.
  virtual std::string_view kind() const = 0;
  /// One line for the summary: the options that matter.
  virtual std::string describe() const { return ""; }
  /// Fills this block's slices of `parameters` (the policy's whole vector) with their initial values.
  virtual void initialise(std::span<float> parameters, Random& random) const { (void)parameters, (void)random; }
  /// Takes the policy's whole parameter vector; it stays in place until the next call.
  virtual void bind(std::span<const float> parameters) { (void)parameters; }
  /// Forgets the episode so far and begins one whose random choices are a function of `episode_seed` alone.
  virtual void reset(std::uint64_t episode_seed) { (void)episode_seed; }
  /// Reads `in` (inputs() values) and writes `out` (outputs() values). Allocates nothing after the first call, but in Lua.
  virtual void forward(const Observation& observation, std::span<const float> in, std::span<float> out) = 0;
  /// Calls `forward` and remembers where it wrote, for `written`. Whatever holds blocks calls this; `out` stays in place.
  void run(const Observation& observation, std::span<const float> in, std::span<float> out) {
    written_ = out;
    forward(observation, in, out);
  }
  /// What the last `run` wrote: outputs() values until the next; empty before the first.
  std::span<const float> written() const { return written_; }
  /// Why this block may hand over something else for the same observation and input later in an episode, in words that follow its
  /// path: "counts decisions"; "" if it remembers nothing and may be asked twice a step. The blocks inside it say it of themselves.
  virtual std::string memory() const { return "remembers what it was shown before"; }
  /// Appends what this block looked at in its last `forward`.
  virtual void collect_views(std::vector<AttentionView>& views) const { (void)views; }
  /// `views` are those of child number `child` and of what it holds: where the last `forward` did not ask that child, they are
  /// given the frame that they belong to.
  virtual void date_views(std::size_t child, std::span<AttentionView> views) const { (void)child, (void)views; }
  /// Appends those of this block's parameters whose number depends on the size of an image.
  virtual void collect_grids(std::vector<GridParameters>& grids) const { (void)grids; }
  /// How many moments this block gathers over an episode, one for each value that it watches; see `Moment`.
  virtual std::size_t moments() const { return 0; }
  /// Writes the moments of the episode so far, moments() of them.
  virtual void gathered(std::span<Moment> episode) const { (void)episode; }
  /// Takes the moments of all training episodes, moments() of them; they hold until the next call.
  virtual void use_moments(std::span<const Moment> totals) { (void)totals; }
  virtual std::span<const std::unique_ptr<Block>> children() const { return {}; }

  /// The options that build this block again, with every default filled in; those of its children are inside.
  const Config& config() const { return config_; }
  const std::string& path() const { return path_; }
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

 protected:
  Block(const BlockContext& context, int outputs) : path_(context.path), inputs_(context.inputs), outputs_(outputs) {}

 private:
  friend std::unique_ptr<Block> make_block(const Config& config, const BlockContext& context, ParameterLayout& layout);

  std::string path_;
  int inputs_, outputs_;
  std::span<const float> written_;
  Config config_;
};

/// Builds a block from its options. @throws Error that begins with options.owner(), which names the block.
using BlockMaker = std::unique_ptr<Block> (*)(Options& options, const BlockContext& context, ParameterLayout& layout);

/// One row of the catalog.
struct BlockEntry {
  std::string name;
  std::string summary;
  std::string example;  ///< options as JSON, enough to build one on an observation with an image and a vector
  BlockMaker make;
  /// Whether it looks at an image by attention, so that it is one of `iap.attention` in Lua and reports ask it where it looked.
  bool attention = false;
};

/// Every kind of block this build knows.
std::span<const BlockEntry> block_catalog();

/// One row of the catalog of what blocks hand over of a patch: the kinds that their option `values` names.
struct ValuesEntry {
  std::string name;
  std::vector<std::string> options;   ///< those that go with this kind alone
  std::vector<std::string> examples;  ///< options beside `values` as JSON, away from the defaults; the contract tests try them
  std::unique_ptr<PatchValues> (*make)(const ValueContext& context);
};

/// Every kind of values of patches this build knows, in the order in which they are handed over.
std::span<const ValuesEntry> values_catalog();

/// Whether the row of this kind says that it looks at an image by attention.
bool is_attention_block(std::string_view kind);

/// Builds the block that `config` describes: {kind = "linear", activation = "tanh"}; sequences hold {blocks = {...}}.
/// Options that every block takes: `kind`, and `name`, which the block's parent uses for its path.
/// @throws Error that names the block and the option or the shapes that do not fit; also where a policy has more than 4096 blocks,
/// more than 16 of them inside each other, or one that would take too much memory. @throws Interrupted.
std::unique_ptr<Block> make_block(const Config& config, const BlockContext& context, ParameterLayout& layout);

/// Says who builds blocks of kind "script", which are written in Lua: the script layer, which lies above this module. Thread-safe.
void register_script_blocks(BlockMaker make) noexcept;

/// The path of child number `index` (counted from 1) of the block at `parent`: "1.rank", or the child's option `name`.
std::string child_path(const std::string& parent, int index, const Config& child);

}  // namespace iap
