module;
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
export module iap.sim:mujoco_bundle;
import iap.core;

export namespace iap {

/// One file of a model: an MJCF text, or the bytes of a mesh, texture or height field. A model's texts include each other by name,
/// each once: `<include file="common.xml"/>`.
struct MujocoFile {
  std::string_view name;
  std::string_view content;
};

/// A model with all that it includes and shows, held in memory under names relative to the folder that it was read from: what a
/// policy file carries. Includes are looked for beside the model; meshes, height fields, skins and textures as MuJoCo does, in
/// `meshdir`, `texturedir` or `assetdir`, without their folders under `strippath`. Files of the same name in different folders are
/// kept apart. Immutable; copies share the content.
class MujocoBundle {
 public:
  /// What the files may take together, in bytes.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// Reads `model` from `folder`: the path of an MJCF file, or an MJCF text (known by its '<'), whose files lie in `folder`.
  /// @throws Error naming the file and line that asks for what cannot be read, that is no XML, or the size.
  static MujocoBundle read(const std::filesystem::path& folder, const std::string& model);
  /// The same out of `files`, as `config` gave them; nothing is read from the disk. @throws Error that begins with `owner` for
  /// what they lack.
  static MujocoBundle unpack(const std::string& model, const Config& files, const std::string& owner);

  /// The files by name: a text as it is, anything else as {base64 = "..."}.
  Config config() const;
  /// The model first, then what belongs to it.
  std::span<const MujocoFile> files() const;

 private:
  struct Impl;
  explicit MujocoBundle(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace iap
