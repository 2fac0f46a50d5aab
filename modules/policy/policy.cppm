module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.policy;
import iap.core;

export namespace iap {

/// What a block looked at in its last `forward`, for pictures and reports.
struct AttentionView {
  std::string block;              ///< path of the block
  std::string image;              ///< name of the image it looked at
  int rows = 0, columns = 0;      ///< patch grid; patch i is at row i / columns, column i % columns
  int patch = 0, stride = 0;      ///< pixels
  std::span<const float> scores;  ///< rows * columns
  std::span<const int> selected;  ///< chosen patches, best first
};

/// What a block is told when it is built.
struct BlockContext {
  const ObservationSpec* observation = nullptr;  ///< what the policy sees
  int action_size = 0;                           ///< the environment's; the last linear or mlp layer takes it as default output
  int inputs = 0;                                ///< number of values that the block before hands over
  bool last = false;                             ///< whether the block's output is the action
  std::string path;                              ///< name of the block in the tree, unique, such as "1.rank"
};

/// One node of a policy: reads the observation and the values of the block before it, writes values.
/// Built in two steps: the constructor takes options, `build` takes the shapes. Not thread-safe; `forward` allocates nothing.
class Block {
 public:
  virtual ~Block() = default;
  /// The catalog's name of this kind of block.
  virtual std::string_view kind() const = 0;
  /// Checks shapes, declares parameter slices, sizes the workspace. Returns the number of output values.
  /// @throws Error that names the block (context.path) and both shapes.
  virtual int build(const BlockContext& context, ParameterLayout& layout) = 0;
  /// Fills this block's slices of `parameters` (the policy's whole vector) with their initial values.
  virtual void initialise(std::span<float> parameters, Random& random) const = 0;
  /// Takes a new parameter vector (the whole one); it stays valid until the next call.
  virtual void bind(std::span<const float> parameters) = 0;
  /// Forgets all memory of the episode so far.
  virtual void reset() {}
  virtual void forward(const Observation& observation, std::span<const float> in, std::span<float> out) = 0;
  /// Appends what this block and its children looked at in the last forward.
  virtual void collect_views(std::vector<AttentionView>& views) const { (void)views; }
  /// One line for the summary: the options that matter.
  virtual std::string describe() const = 0;
  /// Rows of the summary table, this block first, children indented below.
  virtual void collect_children(std::vector<const Block*>& children) const { (void)children; }

  const std::string& path() const { return path_; }
  int outputs() const { return outputs_; }

 protected:
  std::string path_;  ///< set by build
  int outputs_ = 0;   ///< set by build
};

struct BlockEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Block> (*make)(Options& options);
};

/// Every kind of block this build knows.
std::span<const BlockEntry> block_catalog();

/// Builds the (unbuilt) block that `config` describes: {kind = "linear", activation = "tanh"}; sequences hold {blocks = {...}}.
std::unique_ptr<Block> make_block(const Config& config);

/// A policy: a tree of blocks over one flat parameter vector of `size()` floats. Not thread-safe: one instance a worker (`clone`).
class Policy {
 public:
  /// @throws Error naming the block when shapes do not fit or the output is not `action_size` values.
  Policy(const Config& architecture, ObservationSpec observation, int action_size);
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;
  ~Policy();

  const Config& architecture() const;
  const ObservationSpec& observation() const;
  int action_size() const;
  std::size_t size() const;
  const ParameterLayout& layout() const;
  std::span<const float> parameters() const;
  /// Copies `parameters` in. @throws Error on a wrong size or a value that is not finite (the slice and index are named).
  void set_parameters(std::span<const float> parameters);
  /// Initial parameters, a function of `seed` alone.
  void initialise(std::uint64_t seed);

  /// Forgets the episode (recurrent state).
  void reset();
  /// The action for an observation, action_size() values as the last block wrote them (in [-1, 1] if it ends in tanh).
  /// Allocates nothing after the first call. @throws Error if the observation does not fit the spec.
  std::span<const float> act(const Observation& observation);
  /// What the policy looked at in its last `act`; borrowed until the next.
  std::vector<AttentionView> views() const;
  /// A table: block, options, output size, parameters; and the total.
  std::string summary() const;
  Policy clone() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a policy file holds beside the policy. `metadata` is free: the environment's name and config, the run, the return.
struct PolicyFile {
  Policy policy;
  Config metadata;
};

/// A sealed file: a JSON header (architecture, observation, slices, metadata), then the parameters as float32.
std::string save_policy(const Policy& policy, const Config& metadata);
/// @throws Error naming `source` for anything that `save_policy` did not write.
PolicyFile load_policy(std::string_view file, const std::string& source);
void write_policy_file(const std::filesystem::path& path, const Policy& policy, const Config& metadata);
PolicyFile read_policy_file(const std::filesystem::path& path);

/// ObservationSpec as a Config and back, for file headers.
Config to_config(const ObservationSpec& spec);
ObservationSpec observation_from_config(const Config& config, const std::string& source);

}  // namespace iap
