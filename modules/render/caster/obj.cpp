module;
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
module iap.render;
import iap.core;

namespace iap {
namespace {

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;

class ObjReader {
 public:
  ObjReader(std::string_view obj, const std::string& source) : obj_(obj), source_(source) {}

  Triangles read() {
    for (number_ = 1; !obj_.empty(); ++number_) {
      std::string_view line = obj_.substr(0, obj_.find('\n'));
      obj_.remove_prefix(std::min(line.size() + 1, obj_.size()));
      look();
      const std::string_view key = next_word(line);
      if (key == "v") read_vertex(line);
      if (key == "f") read_face(line);
    }
    if (found_.indices.empty()) throw Error(text(source_, ": there is no face in it; a mesh needs lines 'v x y z' and 'f a b c'"));
    check_triangles(found_.indices.size() / 3);
    if (found_.colours.size() != found_.vertices.size()) found_.colours.clear();
    return std::move(found_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw Error(text(source_, ", line ", number_, ": ", parts...));
  }

  /// Before the next line or corner. A file may be a single face.
  void look() {
    constexpr std::size_t between_looks = 65'536;
    if (++looks_ % between_looks != 0) return;
    check_interrupt();
    check_triangles(found_.indices.size() / 3 + corners_.size());
  }

  /// With what Embree and a simulator make of them.
  void check_triangles(std::size_t count) const {
    constexpr double bytes_a_triangle = 200;
    check_memory(text(source_, ": its mesh"), bytes_a_triangle * static_cast<double>(count));
  }

  void read_vertex(std::string_view line) {
    std::array<float, 6> values{};
    const Coordinates given = read_coordinates(line, std::span<float>(values));
    if (!given.wrong.empty()) fail("'", given.wrong.substr(0, 40), "' is not a number that a vertex can have");
    if (given.count < 3) fail("'v' needs three numbers, not ", given.count);
    found_.vertices.insert(found_.vertices.end(), values.begin(), values.begin() + 3);
    if (given.count == values.size())
      for (std::size_t i = 3; i < values.size(); ++i) found_.colours.push_back(std::clamp(values[i], 0.f, 1.f));
  }

  // 'f' and the vertices of its corners, each of which may be followed by a slash and what is passed over.
  void read_face(std::string_view line) {
    const auto count = static_cast<std::int64_t>(found_.vertices.size() / 3);
    corners_.clear();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      look();
      const std::string_view first = word.substr(0, word.find('/'));
      std::int64_t index = 0;
      const auto [end, problem] = std::from_chars(first.data(), first.data() + first.size(), index);
      if (problem != std::errc{} || end != first.data() + first.size())
        fail("'", word.substr(0, 40), "' does not begin with the number of a vertex");
      const std::int64_t place = index < 0 ? count + index : index - 1;
      if (place < 0 || place >= count)
        fail("a face names vertex ", index, ", but ", count, " have come before it, counted from 1, or back from -1");
      corners_.push_back(static_cast<std::uint32_t>(place));
    }
    if (corners_.size() < 3) fail("'f' needs three corners, not ", corners_.size());
    for (std::size_t i = 2; i < corners_.size(); ++i)
      for (const std::size_t corner : {std::size_t{0}, i - 1, i}) found_.indices.push_back(corners_[corner]);
  }

  std::string_view obj_;
  const std::string& source_;
  int number_ = 1;
  std::size_t looks_ = 0;
  std::vector<std::uint32_t> corners_;
  Triangles found_;
};

}  // namespace

Triangles parse_obj(std::string_view obj, const std::string& source) { return ObjReader(obj, source).read(); }

Triangles read_obj(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  if (!ignored && size > largest_file)
    throw Error(text(file.string(), ": has ", size >> 20, " MiB; meshes are read from files of at most ", largest_file >> 20,
                     " MiB, make it smaller (by decimation)"));
  check_file(file);
  constexpr double bytes_a_character = 8;  // a corner of a face is two characters in the file and up to three numbers here
  check_memory(text(file.string(), ": its mesh"), ignored ? 0 : bytes_a_character * static_cast<double>(size));
  return parse_obj(read_file(file), file.string());
}

}  // namespace iap
