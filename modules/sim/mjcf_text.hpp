// What an MJCF text says about files. Include after `module iap.sim;`, with <cstddef>, <optional>, <span>, <string>, <string_view>
// and <vector> before it.
#pragma once

#include "mjcf_counts.hpp"

namespace iap {

// Where an element stands.
struct MjcfPlace {
  int depth = 0;            // elements around it, with those around the includes that lead to this text
  bool in_default = false;  // whether one of them is a <default>
};

// An attribute that names a file.
struct MjcfReference {
  std::string element;        // "include" (in small letters), "mesh", "texture" ...
  std::string path;           // as it stands in the text
  std::size_t begin, end;     // of the value, without its quotes
  std::size_t after_element;  // behind the element's name
  bool named;                 // whether the element has a name of its own
  int line;
  bool unfolds;  // of a texture: MuJoCo makes six faces of the size of the file's
  MjcfPlace place;
};

// MuJoCo counts the bytes of all textures of a model in integers of 32 bits; fewer than these fit.
constexpr double most_texture_bytes = 2147483648.0;
constexpr double texture_colours = 3, cube_faces = 6;
// What each of these bytes takes: MuJoCo has them twice, pictures as four for three, and a third more for levels of detail.
constexpr double texture_copies = 4;
// Of a height field: as numbers, and as triangles in pictures, with the tree in which rays look for them.
constexpr double bytes_a_height = 280;

// What <compiler> says about folders; later elements win over earlier ones, also of other texts.
struct MjcfFolders {
  std::optional<std::string> meshes, textures, assets;
  std::optional<bool> strip;
};

struct MjcfText {
  std::string root;                     // name of the outermost element
  std::optional<std::size_t> root_end;  // where its end tag begins, if it has one
  std::vector<MjcfReference> references;
  // Before the first include, between each and the next, and after the last.
  std::vector<MjcfFolders> folders = std::vector<MjcfFolders>(1);
  double texture_bytes = 0;  // of the textures that are not in files
};

// Reads `text`, which messages call `name` and which is included at `place`, and adds to the `counts` of the model's other texts.
// Only plain XML is taken, so that MuJoCo's own parser sees the same elements: no document type, no CDATA, no entities in what
// names files. Throws Error naming the line; a long text hears interrupts.
MjcfText read_mjcf_text(std::string_view text, const std::string& name, const MjcfPlace& place, MjcfCounts& counts);

}  // namespace iap
