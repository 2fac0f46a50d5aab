module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
/// iap.policy: from an observation to an action, through a tree of blocks over one flat vector of parameters.
export module iap.policy;
import iap.core;
export import :block;

export namespace iap {

/// A policy: a tree of blocks over one flat parameter vector of `size()` floats. Not thread-safe: one instance a worker (`clone`).
/// The first block gets the observation's vector as its input values. All parameters are zero until `initialise` or
/// `set_parameters`.
class Policy {
 public:
  /// @throws Error naming the block when shapes do not fit or the output is not `action_size` values.
  Policy(const Config& architecture, ObservationSpec observation, int action_size);
  /// As above with these parameters. `check` is shown what the blocks declare before memory is taken for it, and may refuse what
  /// does not belong to the parameters. @throws Error also as `set_parameters`.
  Policy(const Config& architecture, ObservationSpec observation, int action_size, std::span<const float> parameters,
         const std::function<void(const ParameterLayout&)>& check);
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;
  ~Policy();

  /// What builds this policy again: the given tree with every default filled in.
  const Config& architecture() const;
  const ObservationSpec& observation() const;
  int action_size() const;
  std::size_t size() const;
  const ParameterLayout& layout() const;
  /// The root of the tree, for tools that walk it.
  const Block& root() const;
  /// The block at `path`, as `summary` prints it: "1.rank", or "policy" for the root. @throws Error with the nearest path.
  const Block& block(std::string_view path) const;
  std::span<const float> parameters() const;
  /// Copies `parameters` in; the episode's memory stays. @throws Error on a wrong size or a value that is not finite (the slice
  /// and index are named); the old parameters then stand.
  void set_parameters(std::span<const float> parameters);
  /// Initial parameters, a function of `seed` and of each block's path and shapes: one block's values do not depend on another. An
  /// episode begins, as by `reset()`.
  void initialise(std::uint64_t seed);

  /// Forgets the episode (recurrent state, the frame before) and begins one. What a block draws at random within an episode, such
  /// as redrawn projections, is a function of `episode_seed` alone.
  void reset(std::uint64_t episode_seed = 0);
  /// The action for an observation, action_size() values as the last block wrote them (in [-1, 1] if it ends in tanh), valid
  /// until the next call. Allocates nothing after the first call, but in Lua. @throws Error if the observation does not fit the
  /// spec.
  std::span<const float> act(const Observation& observation);
  /// Moments that blocks gather while they act, such as those of `normalise` over training; none for most policies. `moments` are
  /// the totals that blocks work with: nothing seen at first, and only `set_moments` changes them. `gathered` are those of the
  /// episode so far, for whoever merges them. @throws Error on a wrong number of them, or one that is not finite.
  std::span<const Moment> moments() const;
  void set_moments(std::span<const Moment> totals);
  std::vector<Moment> gathered() const;
  /// What the block at `path` handed over in the last `act`; borrowed until the next, empty before the first. @throws as `block`.
  std::span<const float> outputs(std::string_view path) const;
  /// What the policy looked at in its last `act`; borrowed until the next.
  std::vector<AttentionView> views() const;
  /// A table: block, options, output size, parameters; and the total.
  std::string summary() const;
  /// A policy with the same architecture, parameters and moments, at the start of an episode.
  Policy clone() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How a policy is made to fit images of another size.
enum class Fit : std::uint8_t {
  resample,  ///< patches of as many pixels, so more of them in a larger image: what belongs to patches is resampled
  pool       ///< patches of the same part of the image: pixels are averaged first (option `pool`), and no parameter changes
};

/// Their names, in the order of the values.
const std::vector<std::string>& fit_names();
/// The option `fit`; `Fit::resample` where it is not given.
Fit read_fit(Options& options);

/// `parameters` of `from` as `to`, a policy of the same blocks on images of other sizes, takes them. What belongs to the patches of
/// an image is resampled bilinearly between patch centres (with averages where `to` has fewer patches), everything else stays:
/// - properties of a patch (learned encodings, learned weights of queries) become R w, R interpolating from the grid of `from` to
///   that of `to` with rows that sum to 1;
/// - weights of a sum over patches (a learned P) become sqrt(L' / L) R^T w, R interpolating from the new grid to the old one: the
///   sum over the large image's L' patches is then that over its values at the L old patches, so that it has the same value for a
///   constant image, and nearly so for a smooth one. The root is there because a block divides by sqrt(L') what was sqrt(L).
/// Equal grids keep every bit. @throws Error naming the first block whose parameters do not fit.
std::vector<float> carried_parameters(const Policy& from, std::span<const float> parameters, const Policy& to);

/// `policy` for `observation`, which may differ from its own in the sizes of images. `Fit::pool` needs images that are n times as
/// high and wide, the same n for all. @throws Error naming what differs otherwise, or the block that does not fit, its moments of
/// training included.
Policy resized(const Policy& policy, const ObservationSpec& observation, Fit fit = Fit::resample);

/// Where the moments of `from` would go to another block than theirs in `to`, or to none, in a clause that names the block; "" if
/// they go on block by block.
std::string moments_difference(const Policy& from, const Policy& to);
/// Whether any of the moments of `policy` has seen a value: others may be left behind, as there is nothing in them.
bool has_seen(const Policy& policy);

/// What a block written in Lua keeps from one episode to the next, in a clause that names the block and the remedy; "" if nothing
/// of it was seen. Clones play short episodes of made-up observations: one twice, then another with other parameters, after it and
/// anew. What differs where nothing but the episodes before does would make returns depend on which ones a worker played.
/// @throws Interrupted.
std::string kept_across_episodes(const Policy& policy);

/// The blocks of `policy` for another training: its architecture without the seconds between decisions that its clocks took from
/// the environment, as another one gives its own.
Config blueprint_of(const Policy& policy);

/// What a policy file holds beside the policy. `metadata` is free: the environment's name and config, the run, the return.
struct PolicyFile {
  Policy policy;
  Config metadata;
};

/// Whether Lua text that a file brings along, blocks and environments, may do all that the user may. Without trust it runs in a
/// state of its own that reaches nothing outside (no files, no programs), and an attempt is an error that names what was missing.
enum class Trust : bool { no, yes };

/// A sealed file: a JSON header (architecture, observation, action_size, slices, moments if any, metadata), then the parameters as
/// float32.
std::string save_policy(const Policy& policy, const Config& metadata);
/// Rebuilds the policy from the file alone. Building a block written in Lua runs its text. Without trust, whatever is built from
/// the policy's architecture or from `metadata` stays confined, clones and environments included: `confine_lua` marks both.
/// @throws Error naming `source` for anything that `save_policy` did not write.
PolicyFile load_policy(std::string_view file, const std::string& source, Trust trust = Trust::no);
/// As `save_policy` and `load_policy`, on disk; writing is atomic. @throws Error naming the path.
void write_policy_file(const std::filesystem::path& path, const Policy& policy, const Config& metadata);
PolicyFile read_policy_file(const std::filesystem::path& path, Trust trust = Trust::no);

/// What a config is read as, which says where in it blocks and environments stand: the own options of what is written in Lua go to
/// its text alone, which makes none of them. Of `any`, whatever looks like one counts, wherever it stands.
enum class ConfigKind : std::uint8_t { any, policy, env, metadata };

/// Marks every block and environment written in Lua that `config` holds at any depth as come out of the file `source` (option
/// `loaded_from`), so that its text runs confined. For hosts that read configs from files of their own.
void confine_lua(Config& config, const std::string& source, ConfigKind kind = ConfigKind::any);
/// Takes these marks away: the text is then the user's own.
void trust_lua(Config& config, ConfigKind kind = ConfigKind::any);

/// Moments as a Config, a list of {count, mean, squares}, and back. @throws Error naming `source` and the entry.
Config to_config(std::span<const Moment> moments);
std::vector<Moment> moments_from_config(const Config::List& list, const std::string& source);

/// ObservationSpec as a Config and back, for file headers. @throws Error naming `source` and the entry.
Config to_config(const ObservationSpec& spec);
ObservationSpec observation_from_config(const Config& config, const std::string& source);

/// Whether image sizes count where two observations are compared.
enum class ImageSizes : bool { same, any };

/// `seen` as a policy built for `built` is compared with it: the time between observations, which is no part of what a policy sees
/// and which older policies do not know, is that of `built`, and with `ImageSizes::any` so are the heights and widths of its
/// images.
ObservationSpec comparable(ObservationSpec seen, const ObservationSpec& built, ImageSizes sizes = ImageSizes::same);
/// How `seen` differs from `built`, so compared, in words: "a vector of 5 values instead of none"; "" if it does not.
std::string observation_difference(const ObservationSpec& seen, const ObservationSpec& built, ImageSizes sizes = ImageSizes::same);

}  // namespace iap
