module;
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
module iap.sim;
import iap.core;
import iap.render;
#include "model_mesh.hpp"

namespace iap {
namespace {

/// About what MuJoCo takes in an STL. Of other files it takes all, and makes hulls and masses of what is no number.
constexpr float farthest_point = 1e9F;

/// Digits that every reader takes for the same number; -1 for other words.
std::int64_t whole_number(std::string_view word) {
  constexpr std::size_t most_digits = 9;
  std::int64_t number = 0;
  if (word.empty() || word.size() > most_digits) return -1;
  for (const char digit : word) {
    if (digit < '0' || digit > '9') return -1;
    number = 10 * number + (digit - '0');
  }
  return number;
}

/// Reads an OBJ line by line as the reader within MuJoCo does, and no more of it than where corners point.
class ObjCorners {
 public:
  ObjCorners(const std::string& name, std::string_view content) : name_(name), rest_(content) {}

  void check() {
    if (rest_.find('\0') != rest_.npos) throw Error(text(name_, ": holds a zero byte; an OBJ is a text"));
    constexpr int lines_between_looks = 65'536;
    while (!rest_.empty()) {
      ++line_;
      // Line ends of all systems.
      const std::string_view line = rest_.substr(0, rest_.find_first_of("\r\n"));
      rest_.remove_prefix(line.size());
      rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : std::min<std::size_t>(1, rest_.size()));
      read(line);
      if (line_ % lines_between_looks == 0) check_interrupt();
    }
    if (!has_faces_) throw Error(text(name_, ": has no faces"));
    for (const Kind kind : {vertex, texture, normal})
      if (const Corner& farthest = farthest_[kind]; farthest.number > count_[kind])
        fail(farthest.line, text("a corner has the ", names[kind], " ", farthest.number, "; there are ", count_[kind]));
    if (count_[normal] > 0 && without_normal_ > 0)
      fail(without_normal_, "a corner has no normal, but others have; give one to all, or to none");
  }

 private:
  enum Kind : std::uint8_t { vertex, texture, normal };
  static constexpr std::array<const char*, 3> names{"vertex", "texture coordinate", "normal"};
  static constexpr std::string_view blanks = " \t";
  static constexpr std::size_t most_shown = 40;
  // The reader within MuJoCo cuts a face into triangles in a time that grows with the square.
  static constexpr int most_corners = 100;

  /// A number that is looked for, counted from 1, and where it stands.
  struct Corner {
    std::int64_t number = 0;
    int line = 0;
  };

  [[noreturn]] void fail(int line, std::string_view complaint) const { throw Error(text(name_, ":", line, ": ", complaint)); }

  void read(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const auto is = [line](std::string_view word) {
      return line.size() > word.size() && line.starts_with(word) && blanks.find(line[word.size()]) != blanks.npos;
    };
    if (is("v")) read_point(vertex, line, 3);
    if (is("vt")) read_point(texture, line, 2);
    if (is("vn")) read_point(normal, line, 3);
    // Of these it makes a shape of its own, and takes the first shape that there is.
    if (!has_faces_ && (is("l") || is("p"))) fail(line_, "has a line or a point before its first face; leave it out");
    if (!is("f")) return;
    line.remove_prefix(1);
    int corners = 0;
    for (auto word = next_word(line, blanks); !word.empty(); word = next_word(line, blanks), ++corners) read_corner(word);
    if (corners < 3 || corners > most_corners)
      fail(line_, text("a face has ", corners, " corners; it needs three, and at most ", most_corners, " are taken"));
    has_faces_ = true;
  }

  void read_point(Kind kind, std::string_view line, std::size_t numbers) {
    ++count_[kind];
    next_word(line, blanks);
    std::array<float, 3> point{};
    const auto read = read_coordinates(line, std::span(point).first(numbers));
    if (!read.wrong.empty() && read.count < numbers)
      fail(line_, text("a ", names[kind], " has '", read.wrong.substr(0, most_shown), "' in place of a number"));
    for (const float coordinate : point)
      if (!(std::abs(coordinate) <= farthest_point))
        fail(line_, text("a ", names[kind], " has the coordinate ", coordinate, "; at most ", farthest_point,
                         " is taken, so make the mesh smaller"));
  }

  /// "V", "V/T", "V//N", "V/T/N".
  void read_corner(std::string_view corner) {
    std::array<std::string_view, 3> parts;
    std::size_t found = 0;
    for (std::string_view rest = corner; found < parts.size(); ++found) {
      parts[found] = rest.substr(0, rest.find('/'));
      if (parts[found].size() == rest.size()) break;
      rest.remove_prefix(parts[found].size() + 1);
      if (found + 1 == parts.size()) fail_corner(corner);
    }
    // The texture's may be left out where a normal follows.
    if (parts[vertex].empty() || (found > 0 && parts[found].empty())) fail_corner(corner);
    for (const Kind kind : {vertex, texture, normal}) {
      if (parts[kind].empty()) continue;
      const bool back = parts[kind].starts_with('-');
      const std::int64_t given = whole_number(parts[kind].substr(back ? 1 : 0));
      if (given < 1) fail_corner(corner);
      const std::int64_t number = back ? count_[kind] + 1 - given : given;
      if (number < 1)
        fail(line_, text("a corner has the ", names[kind], " ", parts[kind], "; there are ", count_[kind], " before it"));
      if (number > farthest_[kind].number) farthest_[kind] = {number, line_};
    }
    if (parts[normal].empty() && without_normal_ == 0) without_normal_ = line_;
  }

  [[noreturn]] void fail_corner(std::string_view corner) const {
    fail(line_, text("'", corner.substr(0, most_shown),
                     "' is no corner; write numbers of at most 9 digits, such as 1, 1/2, 1//3 or 1/2/3"));
  }

  const std::string& name_;
  std::string_view rest_;
  int line_ = 0, without_normal_ = 0;
  bool has_faces_ = false;
  std::array<std::int64_t, 3> count_{};
  std::array<Corner, 3> farthest_;
};

/// MuJoCo's own format: four integers of 32 bits say how many vertices, normals, texture coordinates and faces follow, as floats,
/// and the faces' corners as integers.
void check_msh(const std::string& name, std::string_view content) {
  std::array<std::int32_t, 4> head{};
  if (content.size() < sizeof head) throw Error(text(name, ": ends too early for an MSH file"));
  std::memcpy(head.data(), content.data(), sizeof head);
  const auto [vertices, normals, textures, faces] = head;
  if (std::ranges::min(head) < 0)
    throw Error(text(name, ": says that it has fewer than no vertices or faces; the file is damaged"));
  const std::int64_t floats = std::int64_t{3} * vertices + std::int64_t{3} * normals + std::int64_t{2} * textures;
  const std::int64_t corners = std::int64_t{3} * faces, head_bytes = sizeof head;
  if (head_bytes + 4 * (floats + corners) != static_cast<std::int64_t>(content.size()))
    throw Error(
        text(name, ": has ", content.size(), " bytes, but says of itself that it has ", head_bytes + 4 * (floats + corners)));
  for (std::int64_t i = 0; i < floats; ++i) {
    float coordinate = 0;
    std::memcpy(&coordinate, content.data() + head_bytes + 4 * i, sizeof coordinate);
    if (!(std::abs(coordinate) <= farthest_point))
      throw Error(
          text(name, ": has the coordinate ", coordinate, "; at most ", farthest_point, " is taken, so make the mesh smaller"));
  }
  const char* at = content.data() + head_bytes + 4 * floats;
  for (std::int64_t i = 0; i < corners; ++i, at += sizeof(std::int32_t)) {
    std::int32_t corner = 0;
    std::memcpy(&corner, at, sizeof corner);
    if (corner < 0 || corner >= vertices)
      throw Error(text(name, ": face ", i / 3 + 1, " has the vertex ", corner, "; there are ", vertices, ", counted from 0"));
  }
}

/// A skin (SKN): four integers of 32 bits say how many vertices, texture coordinates, faces and bones follow. A bone has a name, a
/// place and a turn, the number of its vertices, and for each of these its number and its weight. MuJoCo takes room for the
/// vertices of a bone before it looks whether they are there; where they point it checks.
void check_skn(const std::string& name, std::string_view content) {
  constexpr std::int64_t bone_head = 40 + 7 * sizeof(float);
  std::array<std::int32_t, 4> head{};
  const auto size = static_cast<std::int64_t>(content.size());
  if (content.size() < sizeof head) throw Error(text(name, ": ends too early for an SKN file"));
  std::memcpy(head.data(), content.data(), sizeof head);
  const auto [vertices, textures, faces, bones] = head;
  if (std::ranges::min(head) < 0)
    throw Error(text(name, ": says that it has fewer than no vertices or bones; the file is damaged"));
  std::int64_t at = sizeof head + 4 * (std::int64_t{3} * vertices + std::int64_t{2} * textures + std::int64_t{3} * faces);
  if (at > size) throw Error(text(name, ": has ", size, " bytes, but says of itself that it has more than ", at));
  for (std::int32_t bone = 0; bone < bones; ++bone) {
    std::int32_t moved = 0;
    if (at + bone_head + std::int64_t{sizeof moved} > size)
      throw Error(text(name, ": ends before its bone ", bone + 1, " of ", bones));
    std::memcpy(&moved, content.data() + at + bone_head, sizeof moved);
    at += bone_head + sizeof moved + std::int64_t{sizeof(std::int32_t) + sizeof(float)} * moved;
    if (moved < 0 || at > size)
      throw Error(text(name, ": bone ", bone + 1, " says that it moves ", moved, " vertices, which the file does not have"));
  }
}

}  // namespace

void check_mesh_file(const std::string& name, std::string_view content) {
  std::string ending = name.substr(std::min(name.rfind('.'), name.size()));
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (ending == ".obj") ObjCorners(name, content).check();
  if (ending == ".msh") check_msh(name, content);
  if (ending == ".skn") check_skn(name, content);
}

std::string mesh_complaint(std::string_view vertices, std::string_view faces) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::size_t most_shown = 40;
  std::int64_t numbers = 0;
  for (auto word = next_word(vertices, blanks); !word.empty(); word = next_word(vertices, blanks), ++numbers) {
    double number = 0;
    if (!read_cell(word, number) || !(std::abs(number) <= farthest_point))
      return text("'vertex' has '", word.substr(0, most_shown), "' in place of a number; write plain ones of at most ",
                  farthest_point);
  }
  const std::int64_t count = numbers / 3;
  for (auto word = next_word(faces, blanks); !word.empty(); word = next_word(faces, blanks))
    if (const std::int64_t corner = whole_number(word); corner < 0 || corner >= count)
      return text("'face' has the vertex ", word.substr(0, most_shown), "; there are ", count, ", counted from 0");
  return "";
}

}  // namespace iap
