module;
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
export module iap.envs.take_cover:wad;
import :art;

export namespace iap::take_cover {

/// A file of Doom's lumps, read with every bound checked. Of two lumps of one name the later counts. Pictures and textures have up
/// to 512 texels a side. One of few bytes can have many texels, and many can have the same bytes: what all that were read would
/// take together is held against the memory.
class Wad {
 public:
  /// @throws Error naming `source` if `file` is no WAD or its directory points outside.
  Wad(std::string file, std::string source);
  bool has(std::string_view lump) const { return lumps_.contains(std::string(lump)); }
  /// The content of a lump of at least `least` bytes. @throws Error naming the file and the lump.
  std::string_view lump(std::string_view name, std::size_t least = 0) const;
  /// A lump in Doom's picture format: columns of posts. @throws Error naming the file and the lump, with its size if that is wrong.
  Sprite sprite(std::string_view name) const;
  /// A flat: 64 x 64 texels, stored row by row from the north-west corner.
  Texture flat(std::string_view name) const;
  /// A wall texture put together from its patches. @throws Error naming the file and the texture or lump.
  Texture wall(std::string_view name) const;
  /// The names of all lumps in the order of the file, each once.
  const std::vector<std::string>& names() const { return names_; }

 private:
  [[noreturn]] void fail(std::string_view lump, std::string_view reason) const;
  /// Before anything is made of a picture or texture. @throws Error naming it and its size where no art is so small or large.
  void check_size(std::string_view what, int width, int height) const;
  /// Before texels are made. @throws Error where they do not fit beside those that were made before.
  void count_texels(std::string_view lump, int width, int height, std::size_t bytes_a_texel) const;

  std::string file_, source_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::string_view> lumps_;
  mutable double bytes_ = 0;  ///< of all texels so far
};

}  // namespace iap::take_cover
