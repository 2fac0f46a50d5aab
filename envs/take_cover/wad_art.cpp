module;
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
module iap.envs.take_cover;
import iap.core;

namespace iap::take_cover {
namespace {

// A lump TROOA2A8 shows frame A from side 2 and, mirrored, from side 8; side 0 stands for all.
void read_imps(const Wad& wad, const std::string& file, Art& art) {
  constexpr std::string_view prefix = "TROO";
  std::array<std::array<bool, sides>, imp_frames> found{};
  for (const auto& name : wad.names()) {
    if (!name.starts_with(prefix) || (name.size() != 6 && name.size() != 8)) continue;
    const auto place = [&](std::size_t at, bool mirrored, std::size_t sprite) {
      const int frame = name[at] - 'A', side = name[at + 1] - '0';
      if (frame < 0 || frame >= imp_frames || side < 0 || side > sides) return false;
      for (int i = 0; i < sides; ++i)
        if (side == 0 || side == i + 1) {
          art.imp[static_cast<std::size_t>(frame)][static_cast<std::size_t>(i)] = {sprite, mirrored};
          found[static_cast<std::size_t>(frame)][static_cast<std::size_t>(i)] = true;
        }
      return true;
    };
    const std::size_t next = art.imps.size();
    const bool first = place(4, false, next), second = name.size() == 8 && place(6, true, next);
    if (first || second) art.imps.push_back(wad.sprite(name));
  }
  for (const auto& frame : found)
    if (!std::ranges::all_of(frame, [](bool there) { return there; }))
      throw Error(text(file, ": lacks sprites of the imp (TROOA to TROOG, from eight sides)"));
}

// A player without weapons: the arms box with its numbers unlit, no armour, no ammunition of what could be carried.
Sprite read_bar(const Wad& wad) {
  constexpr int bar_top = 168;
  Sprite bar = wad.sprite("STBAR");
  const auto put = [&](const std::string& lump, int x, int y) { paste(bar, wad.sprite(lump), x, y - bar_top); };
  put("STTPRCNT", 90, 171);
  put("STTPRCNT", 221, 171);
  put("STTNUM0", 221 - wad.sprite("STTNUM0").width, 171);
  put("STARMS", 104, 168);
  for (int weapon = 2; weapon <= 7; ++weapon) put(text("STGNUM", weapon), 111 + 12 * ((weapon - 2) % 3), weapon < 5 ? 172 : 182);
  constexpr std::array<std::string_view, 4> most{"200", "50", "50", "300"};
  for (int kind = 0; kind < 4; ++kind) {
    const int y = 173 + 6 * kind, width = wad.sprite("STYSNUM0").width;
    put("STYSNUM0", 288 - width, y);
    const auto digits = most[static_cast<std::size_t>(kind)];
    for (std::size_t i = 0; i < digits.size(); ++i)
      put(text("STYSNUM", digits[i]), 314 - width * static_cast<int>(digits.size() - i), y);
  }
  return bar;
}

}  // namespace

Art wad_art(const std::filesystem::path& file) {
  constexpr std::size_t palette_size = 3 * 256;
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 30;
  check_file(file, largest);
  const Wad wad(read_file(file), file.string());
  Art art;
  const auto palette = wad.lump("PLAYPAL", palette_size), light = wad.lump("COLORMAP", std::size_t{256} * colormaps);
  for (std::size_t i = 0; i < palette_size; ++i) art.palette[i / 3][i % 3] = static_cast<std::uint8_t>(palette[i]);
  for (std::size_t map = 0; map < colormaps; ++map)
    for (std::size_t i = 0; i < 256; ++i) art.light[map][i] = static_cast<std::uint8_t>(light[256 * map + i]);
  art.wall = wad.wall("BRICK12");
  const auto power_of_two = [](int size) { return std::has_single_bit(static_cast<unsigned>(size)); };
  if (!power_of_two(art.wall.width) || !power_of_two(art.wall.height))
    throw Error(
        text(file.string(), ": texture BRICK12 measures ", art.wall.width, " x ", art.wall.height, "; both must be powers of two"));
  art.floor = wad.flat("CRATOP1");
  art.other_floor = wad.flat("CRATOP2");
  read_imps(wad, file.string(), art);
  for (std::size_t i = 0; i < fireball_frames; ++i) art.fireball[i] = wad.sprite(text("BAL1", static_cast<char>('A' + i), "0"));
  art.bar = read_bar(wad);
  if (art.bar.width != bar_width || art.bar.height != bar_height)
    throw Error(text(file.string(), ": lump STBAR measures ", art.bar.width, " x ", art.bar.height, " instead of ", bar_width,
                     " x ", bar_height));
  for (std::size_t i = 0; i < 10; ++i) art.digit[i] = wad.sprite(text("STTNUM", i));
  for (std::size_t level = 0; level < face_levels; ++level) {
    for (std::size_t glance = 0; glance < glances; ++glance)
      art.face[level][glance] = wad.sprite(text("STFST", level, (glance + 1) % glances));
    art.hurt_face[level] = wad.sprite(text("STFOUCH", level));
  }
  finish_art(art);
  return art;
}

std::optional<std::filesystem::path> find_wad() {
  constexpr std::string_view file = "freedoom2.wad";
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  if (const char* folder = std::getenv("DOOMWADDIR"); folder && *folder) folders.emplace_back(folder);
  for (const char* folder :
       {"/usr/share/games/doom", "/usr/local/share/games/doom", "/usr/share/doom", "/usr/share/games/freedoom"})
    folders.emplace_back(folder);
  for (const auto& folder : folders)
    if (std::filesystem::is_regular_file(folder / file, ignored)) return folder / file;
  return {};
}

void paste(Sprite& onto, const Sprite& picture, int x, int y) {
  for (int column = 0; column < picture.width; ++column)
    for (int row = 0; row < picture.height; ++row) {
      const int to_x = x - picture.left + column, to_y = y - picture.top + row;
      if (picture.at(column, row) == transparent || to_x < 0 || to_y < 0 || to_x >= onto.width || to_y >= onto.height) continue;
      onto.texels[static_cast<std::size_t>(to_x) * onto.height + to_y] = picture.at(column, row);
    }
}

void finish_art(Art& art) {
  constexpr int levels = 32;
  const auto eight_bits = [](int five) { return five << 3 | five >> 2; };
  art.nearest.resize(levels * levels * levels);
  for (int colour = 0; colour < levels * levels * levels; ++colour) {
    const std::array<int, 3> wanted{eight_bits(colour / levels / levels), eight_bits(colour / levels % levels),
                                    eight_bits(colour % levels)};
    int best = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < 256; ++i) {
      int distance = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const int difference = wanted[c] - art.palette[i][c];
        distance += difference * difference;
      }
      if (distance >= best) continue;
      best = distance;
      art.nearest[static_cast<std::size_t>(colour)] = static_cast<std::uint8_t>(i);
    }
  }
}

}  // namespace iap::take_cover
