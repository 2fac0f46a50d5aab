module;
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
/// iap.npz: NumPy's array files, and the weights that AttentionAgent published in them.
export module iap.npz;
import iap.core;
import iap.policy;

export namespace iap {

enum class NpyType { float32, float64 };

/// One array of numbers, row-major.
struct NpyArray {
  std::string name;  ///< without ".npy"; not part of an .npy file itself
  std::vector<std::size_t> shape;
  NpyType type = NpyType::float32;
  std::vector<double> values;  ///< as many as the product of `shape`; exact for both types
};

/// Reads an .npy file (format versions 1 to 3, little-endian float32 or float64, C order).
/// @throws Error naming `source` for anything else, and for a file that is too short or too long.
NpyArray parse_npy(std::string_view file, const std::string& source);
/// The bytes NumPy would write (format version 1).
std::string format_npy(const NpyArray& array);

/// The arrays of an .npz file, stored or compressed, in its order. @throws Error naming `source`, the array and what is wrong;
/// where they do not fit into memory together, the size.
std::vector<NpyArray> parse_npz(std::string_view file, const std::string& source);
/// The array `name` of an .npz file, nothing where it has none; its other arrays stay packed. @throws Error as `parse_npz` does.
std::optional<NpyArray> find_npz(std::string_view file, std::string_view name, const std::string& source);
/// An .npz file with stored arrays; a function of `arrays` alone.
std::string format_npz(std::span<const NpyArray> arrays);

/// Of the library behind this module's door.
LibraryVersions npz_versions();

/// The policy whose parameters are `published`, AttentionAgent's flat vector: vision module q bias (4), q weight (4 x 147), k bias,
/// k weight, then LSTM bias_hh, bias_ih, weight_hh, weight_ih with gates i, f, g, o, then output bias and weight.
/// @throws Error if the count does not fit, or the observation's first image is no 96 x 96 RGB image.
Policy attention_agent_policy(std::span<const float> published, const ObservationSpec& observation, int action_size);
/// The parameters of an `attention_agent` policy in the published order. Of its options only those that change no action (names,
/// threads, deviations of initial weights) may differ from those of `attention_agent_policy`; a sequence of the same blocks will
/// do.
/// @throws Error if the policy has another architecture, naming the first block, option or image that differs.
std::vector<float> attention_agent_parameters(const Policy& policy);

/// Reads published weights, an .npz file with the array "params", as a policy for the environment `env`: its name or its options.
/// By default it is the one that AttentionAgent trained so many parameters for: car-racing (3667) or take-cover (3633). The
/// environment's config goes into the metadata's "env". @throws Error naming the path and what is wrong.
PolicyFile import_attention_agent(const std::filesystem::path& path, const Config& env = {});
/// The policy's weights as such a file. @throws Error as `attention_agent_parameters`.
std::string export_attention_agent(const Policy& policy);

}  // namespace iap
