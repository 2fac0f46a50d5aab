#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// WADs for tests.
namespace wad_files {

using Lumps = std::vector<std::pair<std::string, std::string>>;

inline std::string little(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
  return out;
}

inline std::string name8(std::string name) {
  name.resize(8, '\0');
  return name;
}

inline std::string wad_file(const Lumps& lumps) {
  std::string data, directory;
  for (const auto& [name, content] : lumps) {
    directory += little(static_cast<std::uint32_t>(12 + data.size()), 4) + little(static_cast<std::uint32_t>(content.size()), 4) +
                 name8(name);
    data += content;
  }
  return "PWAD" + little(static_cast<std::uint32_t>(lumps.size()), 4) + little(static_cast<std::uint32_t>(12 + data.size()), 4) +
         data + directory;
}

/// 2 x 3, anchored at (1, 2): the left column has texels 7, 8 from row 1 on, the right one 9 in row 0 and 5 in row 2.
inline std::string picture() {
  const std::string left = std::string("\x01\x02", 2) + '\0' + "\x07\x08" + '\0' + "\xff";
  const std::string right = std::string("\0\x01\0", 3) + "\x09" + '\0' + std::string("\x02\x01\0", 3) + "\x05" + '\0' + "\xff";
  return little(2, 2) + little(3, 2) + little(1, 2) + little(2, 2) + little(16, 4) +
         little(static_cast<std::uint32_t>(16 + left.size()), 4) + left + right;
}

/// All columns are one, without a post.
inline std::string blank_picture(std::uint32_t width, std::uint32_t height) {
  std::string lump = little(width, 2) + little(height, 2) + little(0, 4);
  for (std::uint32_t column = 0; column < width; ++column) lump += little(8 + 4 * width, 4);
  return lump + '\xff';
}

/// A picture, a flat, and a texture of `width` x 4 that shows the picture's top left corner at (1, 2).
inline Lumps sample(const std::string& texture_name = "BRICK", std::uint32_t width = 4) {
  const std::string patch = little(1, 2) + little(2, 2) + little(0, 2) + little(0, 4);
  const std::string texture =
      name8(texture_name) + little(0, 4) + little(width, 2) + little(4, 2) + little(0, 4) + little(1, 2) + patch;
  return {{"PIC", picture()},
          {"FLAT", std::string(4096, '\x03')},
          {"PNAMES", little(1, 4) + name8("pic")},
          {"TEXTURE1", little(1, 4) + little(8, 4) + texture}};
}

}  // namespace wad_files
