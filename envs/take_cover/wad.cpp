module;
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

constexpr std::size_t header_size = 12, entry_size = 16, name_size = 8, entries_between_looks = 65'536;
constexpr int largest_picture = 512;  // of Doom's pictures the widest has 320; each texel of a wall is averaged at many distances

std::uint32_t number(std::string_view bytes, std::size_t at, int width) {
  std::uint32_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])} << 8 * i;
  return value;
}
std::uint32_t read32(std::string_view bytes, std::size_t at) { return number(bytes, at, 4); }
int read16(std::string_view bytes, std::size_t at) { return static_cast<std::int16_t>(number(bytes, at, 2)); }

std::string read_name(std::string_view bytes, std::size_t at) {
  std::string name(bytes.substr(at, name_size));
  name.resize(std::min(name.find('\0'), name.size()));
  for (char& character : name) character = static_cast<char>(std::toupper(static_cast<unsigned char>(character)));
  return name;
}

bool fits(std::string_view bytes, std::size_t at, std::size_t size) { return at <= bytes.size() && size <= bytes.size() - at; }

}  // namespace

Wad::Wad(std::string file, std::string source) : file_(std::move(file)), source_(std::move(source)) {
  const std::string_view bytes = file_;
  if (!fits(bytes, 0, header_size) || (!bytes.starts_with("IWAD") && !bytes.starts_with("PWAD")))
    throw Error(text(source_, ": is no WAD file (it does not begin with IWAD or PWAD)"));
  const std::size_t count = read32(bytes, 4), directory = read32(bytes, 8);
  if (count > bytes.size() / entry_size || !fits(bytes, directory, count * entry_size))
    throw Error(text(source_, ": the directory lies outside the file; the file is damaged"));
  constexpr double bytes_of_a_name = 192;  // its node, its text and its place in the list
  check_memory(text(source_, ": the names of ", count, " lumps"), bytes_of_a_name * static_cast<double>(count));
  for (std::size_t i = 0; i < count; ++i) {
    if (i % entries_between_looks == 0) check_interrupt();
    const std::size_t entry = directory + i * entry_size;
    const std::string name = read_name(bytes, entry + 8);
    const std::size_t at = read32(bytes, entry), size = read32(bytes, entry + 4);
    if (!fits(bytes, at, size)) fail(name, "lies outside the file; the file is damaged");
    const bool known = !lumps_.insert_or_assign(name, bytes.substr(at, size)).second;
    if (!known) names_.push_back(name);
  }
}

void Wad::fail(std::string_view lump, std::string_view reason) const { throw Error(text(source_, ": lump ", lump, " ", reason)); }

void Wad::check_size(std::string_view what, int width, int height) const {
  if (width < 1 || height < 1 || width > largest_picture || height > largest_picture)
    throw Error(text(source_, ": ", what, " measures ", width, " x ", height, "; art has 1 to ", largest_picture,
                     " texels a side: scale it"));
}

void Wad::count_texels(std::string_view lump, int width, int height, std::size_t bytes_a_texel) const {
  bytes_ += static_cast<double>(bytes_a_texel) * width * height;
  check_memory(text(source_, ": the art up to lump ", lump), bytes_);
}

std::string_view Wad::lump(std::string_view name, std::size_t least) const {
  const auto found = lumps_.find(std::string(name));
  if (found == lumps_.end()) fail(name, "is missing; a WAD with Doom's or Freedoom's art is needed");
  if (found->second.size() < least) fail(name, text("has ", found->second.size(), " bytes, fewer than its ", least));
  return found->second;
}

Sprite Wad::sprite(std::string_view name) const {
  constexpr std::size_t head = 8;
  constexpr int end_of_column = 255;
  constexpr std::size_t longest_post = 255;
  const std::string_view bytes = lump(name, head);
  Sprite sprite{
      .width = read16(bytes, 0), .height = read16(bytes, 2), .left = read16(bytes, 4), .top = read16(bytes, 6), .texels = {}};
  check_size(text("lump ", name), sprite.width, sprite.height);
  count_texels(name, sprite.width, sprite.height, sizeof(std::int16_t));
  check_interrupt();
  sprite.texels.assign(static_cast<std::size_t>(sprite.width) * sprite.height, transparent);
  const auto damaged = [&] { fail(name, "ends too early; the file is damaged"); };
  if (!fits(bytes, head, 4 * static_cast<std::size_t>(sprite.width))) damaged();
  // Posts do not overlap: a texel and the post that begins with it for each row, and one that hangs over.
  const std::size_t most = 2 * static_cast<std::size_t>(sprite.height) + longest_post;
  for (int column = 0; column < sprite.width; ++column) {
    std::size_t done = 0;
    int top = -1;
    std::size_t at = read32(bytes, head + 4 * static_cast<std::size_t>(column));
    for (;;) {
      if (!fits(bytes, at, 1)) damaged();
      const int byte = static_cast<unsigned char>(bytes[at]);
      if (byte == end_of_column) break;
      // A byte reaches 254 rows. Beyond them ZDoom and the editors count from the post before, which shows where a post is not
      // below.
      top = byte <= top ? top + byte : byte;
      if (!fits(bytes, at, 4)) damaged();
      const std::size_t length = static_cast<unsigned char>(bytes[at + 1]);
      if (!fits(bytes, at + 3, length + 1)) damaged();
      done += 1 + length;
      if (done > most) fail(name, text("has more in column ", column, " than its ", sprite.height, " texels; the file is damaged"));
      for (std::size_t i = 0; i < length && top + static_cast<int>(i) < sprite.height; ++i)
        sprite.texels[static_cast<std::size_t>(column) * sprite.height + top + i] = static_cast<unsigned char>(bytes[at + 3 + i]);
      at += length + 4;
    }
  }
  return sprite;
}

Texture Wad::flat(std::string_view name) const {
  constexpr int side = 64;
  const std::string_view bytes = lump(name, side * side);
  Texture texture{side, side, std::vector<std::uint8_t>(side * side)};
  for (std::size_t row = 0; row < side; ++row)
    for (std::size_t column = 0; column < side; ++column)
      texture.texels[column * side + row] = static_cast<std::uint8_t>(bytes[row * side + column]);
  return texture;
}

Texture Wad::wall(std::string_view name) const {
  constexpr std::size_t head = 22, patch_size = 10;
  const std::string_view bytes = lump("TEXTURE1", 4), patches = lump("PNAMES", 4);
  const auto check = [&](std::size_t at, std::size_t size) {
    if (!fits(bytes, at, size)) fail("TEXTURE1", "ends too early; the file is damaged");
  };
  const std::size_t count = read32(bytes, 0);
  check(4, count > bytes.size() ? bytes.size() : 4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % entries_between_looks == 0) check_interrupt();
    const std::size_t at = read32(bytes, 4 + 4 * i);
    check(at, head);
    if (read_name(bytes, at) != name) continue;
    Texture texture{read16(bytes, at + 12), read16(bytes, at + 14), {}};
    check_size(text("texture ", name), texture.width, texture.height);
    count_texels("TEXTURE1", texture.width, texture.height, 1);
    texture.texels.assign(static_cast<std::size_t>(texture.width) * texture.height, 0);
    const int parts = read16(bytes, at + 20);
    for (int part = 0; part < parts; ++part) {
      const std::size_t entry = at + head + patch_size * static_cast<std::size_t>(part);
      check(entry, patch_size);
      const std::size_t patch = 4 + name_size * number(bytes, entry + 4, 2);
      if (!fits(patches, patch, name_size)) fail("PNAMES", "ends too early; the file is damaged");
      const Sprite picture = sprite(read_name(patches, patch));
      const int left = read16(bytes, entry), top = read16(bytes, entry + 2);
      for (int column = 0; column < picture.width; ++column)
        for (int row = 0; row < picture.height; ++row) {
          const int x = left + column, y = top + row;
          const auto texel = picture.at(column, row);
          if (texel == transparent || x < 0 || y < 0 || x >= texture.width || y >= texture.height) continue;
          texture.texels[static_cast<std::size_t>(x) * texture.height + y] = static_cast<std::uint8_t>(texel);
        }
    }
    return texture;
  }
  fail("TEXTURE1", text("has no texture ", name));
}

}  // namespace iap::take_cover
