module;
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "mjcf_text.hpp"

namespace iap {
namespace {

constexpr std::string_view blanks = " \t\r\n", file_may_not = "&\\\"'";

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == ':'; }

class MjcfReader {
 public:
  MjcfReader(std::string_view text, const std::string& name, MjcfCounts& counts) : text_(text), name_(name), counts_(counts) {}

  MjcfText read() {
    if (const auto zero = text_.find('\0'); zero != std::string_view::npos) fail(zero, "holds a zero byte; an MJCF is a text");
    while ((at_ = text_.find('<', at_)) != std::string_view::npos) {
      if (starts("<!--"))
        skip_behind("<!--", "-->", "a comment");
      else if (starts("<?"))
        skip_behind("<?", "?>", "a declaration");
      else if (starts("<!"))
        fail(at_, "has a document type or CDATA; write plain XML");
      else if (starts("</")) {
        skip_behind("</", ">", "an element");
        --depth_;
      } else
        read_element();
    }
    if (found_.root.empty()) fail(0, "is no XML: it has no element");
    return std::move(found_);
  }

 private:
  struct Attribute {
    std::string name;
    std::size_t begin, end;
  };

  [[noreturn]] void fail(std::size_t at, std::string_view complaint) const {
    throw Error(text(name_, ":", line_of(at), ": ", complaint));
  }
  int line_of(std::size_t at) const { return 1 + static_cast<int>(std::ranges::count(text_.substr(0, at), '\n')); }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  // The end may not share a character with the beginning: <!--> is open.
  void skip_behind(std::string_view begin, std::string_view end, std::string_view what) {
    const auto found = text_.find(end, at_ + begin.size());
    if (found == std::string_view::npos) fail(at_, text("is no XML: ", what, " does not end"));
    at_ = found + end.size();
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
  std::string read_name() {
    const auto begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    if (at_ == begin) fail(begin, "is no XML: a name is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }
  Attribute read_attribute() {
    Attribute attribute{read_name(), 0, 0};
    skip_blanks();
    if (!starts("=")) fail(at_, text("is no XML: attribute '", attribute.name, "' has no value"));
    ++at_;
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '"' && quote != '\'') fail(at_, text("is no XML: the value of '", attribute.name, "' needs quotes"));
    attribute.begin = at_ + 1;
    attribute.end = text_.find(quote, attribute.begin);
    if (attribute.end == std::string_view::npos) fail(at_, text("is no XML: the value of '", attribute.name, "' does not end"));
    at_ = attribute.end + 1;
    return attribute;
  }
  std::string value_of(const Attribute& attribute) const {
    return std::string(text_.substr(attribute.begin, attribute.end - attribute.begin));
  }

  void read_element() {
    ++at_;
    const std::string element = read_name();
    if (found_.root.empty()) found_.root = element;
    const std::size_t after = at_;
    std::vector<Attribute> attributes;
    for (skip_blanks(); !starts(">") && !starts("/>"); skip_blanks()) {
      if (at_ >= text_.size()) fail(after, text("is no XML: element '", element, "' does not end"));
      attributes.push_back(read_attribute());
    }
    // MuJoCo descends by recursion.
    constexpr int deepest = 200;
    if (starts(">") && ++depth_ > deepest) fail(after, text("elements are nested more than ", deepest, " deep"));
    check_sizes(element, attributes, after);
    const bool named = find(attributes, "name") != nullptr;
    // A single file without a grid is repeated on all faces, of which MuJoCo then has one.
    const bool cube = element == "texture" && !is_flat(attributes), grid = find(attributes, "gridsize") != nullptr;
    const auto unfolds = [&](const Attribute& attribute) { return cube && (grid || attribute.name != "file"); };
    for (const auto& attribute : attributes) {
      // file, fileright, filefront ...
      if (attribute.name.starts_with("file"))
        found_.references.push_back({element, file_value(attribute), attribute.begin, attribute.end, after, named,
                                     line_of(attribute.begin), unfolds(attribute)});
      else if (element == "compiler")
        read_folder(attribute);
    }
  }

  static const Attribute* find(const std::vector<Attribute>& attributes, std::string_view name) {
    const auto found = std::ranges::find(attributes, name, &Attribute::name);
    return found == attributes.end() ? nullptr : &*found;
  }
  // What is written in another way is none to MuJoCo, or makes six faces.
  bool is_flat(const std::vector<Attribute>& attributes) const {
    const Attribute* type = find(attributes, "type");
    return type && value_of(*type) == "2d";
  }

  /// The numbers of the attribute, or of one that is not there. What MuJoCo may read as another number is refused.
  std::vector<double> numbers_in(const std::vector<Attribute>& attributes, std::string_view name) const {
    std::vector<double> numbers;
    const Attribute* found = find(attributes, name);
    if (!found) return numbers;
    for (std::string_view rest = text_.substr(found->begin, found->end - found->begin);;) {
      rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
      const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
      if (word.empty() && !numbers.empty()) return numbers;
      constexpr std::size_t most_shown = 40;
      double number = 0;
      if (!read_cell(word, number))
        fail(found->begin, text("'", name, "' has '", word.substr(0, most_shown),
                                "' in place of a number; write plain numbers with "
                                "blanks between them"));
      numbers.push_back(number);
      rest.remove_prefix(word.size());
    }
  }
  double number_in(const std::vector<Attribute>& attributes, std::string_view name) const {
    const auto numbers = numbers_in(attributes, name);
    return numbers.empty() ? 0 : std::abs(numbers.front());
  }

  /// What MuJoCo would allocate before anybody could look at it, in numbers that it multiplies as 32-bit integers.
  void check_sizes(const std::string& element, const std::vector<Attribute>& attributes, std::size_t at) {
    constexpr double most_size = 10'000'000, most_side = 16384;
    const auto shown = [](double number) { return std::abs(number) < 1e15 ? fixed_text(number, 0) : text(number); };
    const auto check = [&](std::string_view name, double most) {
      for (const double number : numbers_in(attributes, name))
        if (!(std::abs(number) <= most))
          fail(at, text(element, ": '", name, "' is ", shown(number), "; at most ", shown(most), " is taken"));
    };
    const auto check_bytes = [&](double bytes) { check_memory(text(name_, ":", line_of(at), ": ", element), bytes); };
    if (element == "size") {
      // Each body, joint, geom ... has as many numbers of the user, each keyframe a whole state.
      constexpr double most_user = 1000, most_keys = 100'000;
      for (const auto& attribute : attributes)
        check(attribute.name, attribute.name.starts_with("nuser_") ? most_user : attribute.name == "nkey" ? most_keys : most_size);
    } else if (element == "quality") {
      constexpr double most_parts = 1000;
      for (const char* parts : {"numslices", "numstacks", "numquads"}) check(parts, most_parts);
      check("shadowsize", most_side);
    } else if (element == "skin") {
      check_subgrid(attributes, at);
    } else if (element == "texture") {
      for (const char* side : {"width", "height"}) check(side, most_side);
      const double width = number_in(attributes, "width"), height = number_in(attributes, "height");
      const double bytes = texture_colours * width * (is_flat(attributes) ? height : std::max(height, cube_faces * width));
      if (!(bytes < most_texture_bytes))
        fail(at, text("texture: with ", cube_faces, " faces of ", width, " x ", width, " it takes ", memory_text(bytes),
                      "; MuJoCo has room for less than ", memory_text(most_texture_bytes), ", so make it smaller"));
      check_bytes(bytes);
      found_.texture_bytes += bytes;
    } else if (element == "hfield") {
      for (const char* side : {"nrow", "ncol"}) check(side, most_side);
      check_bytes(bytes_a_height * number_in(attributes, "nrow") * number_in(attributes, "ncol"));
    } else if (element == "composite") {
      count_composite(attributes, at);
    } else if (element == "joint" || element == "freejoint") {
      count_freedom(freedom_of(element, attributes), at);
    }
  }

  /// A composite's skin has a vertex at each of its bodies and `subgrid` between two of them.
  void check_subgrid(const std::vector<Attribute>& attributes, std::size_t at) {
    constexpr double most_vertices = 1'000'000;
    const double between = number_in(attributes, "subgrid");
    double vertices = 1;
    for (const double count : composite_) vertices *= (std::max(count, 1.0) - 1) * (between + 1) + 1;
    if (!(vertices <= most_vertices))
      fail(at, text("skin: 'subgrid' makes ", general_text(vertices, 6), " vertices of the composite; at most ",
                    fixed_text(most_vertices, 0), " are taken"));
  }

  void count_composite(const std::vector<Attribute>& attributes, std::size_t at) {
    constexpr double most_bodies = 10'000, freedom_of_body = 4;  // a rope's: two hinges, twist and stretch
    double bodies = 1;
    composite_ = numbers_in(attributes, "count");
    for (const double count : composite_) bodies *= std::max(count, 1.0);
    counts_.composite_bodies += bodies;
    if (!(counts_.composite_bodies <= most_bodies))
      fail(at, text("composite: with it the model's composites make ", counts_.composite_bodies, " bodies; at most ", most_bodies,
                    " are taken"));
    count_freedom(freedom_of_body * bodies, at);
  }

  /// At most what the joint adds.
  double freedom_of(const std::string& element, const std::vector<Attribute>& attributes) const {
    constexpr double of_hinge = 1, of_ball = 3, of_free = 6;
    // Elements of tendons, equalities and composites have the same name.
    for (const char* other : {"joint", "joint1", "kind"})
      if (element == "joint" && find(attributes, other)) return 0;
    const Attribute* type = find(attributes, "type");
    const std::string kind = type ? value_of(*type) : "";  // where it is not said, a default may say it
    return kind == "hinge" || kind == "slide" ? of_hinge : kind == "ball" ? of_ball : of_free;
  }

  void count_freedom(double degrees, std::size_t at) {
    constexpr double most_freedom = 46340;  // the square of which still fits
    counts_.freedom += degrees;
    if (counts_.freedom > most_freedom)
      fail(at, text("with it the model may have ", counts_.freedom, " degrees of freedom; at most ", most_freedom,
                    " are taken (6 of a joint whose type is not written)"));
  }

  std::string file_value(const Attribute& attribute) const {
    const std::string value = value_of(attribute);
    if (value.empty()) fail(attribute.begin, text("attribute '", attribute.name, "' names no file"));
    if (std::ranges::any_of(value, [](char c) {
          return file_may_not.find(c) != std::string_view::npos || std::iscntrl(static_cast<unsigned char>(c));
        }))
      fail(attribute.begin,
           text("attribute '", attribute.name, "': the name of a file may not have &, \\, quotes and control characters"));
    return value;
  }

  void read_folder(const Attribute& attribute) {
    MjcfFolders& folders = found_.folders;
    if (attribute.name == "meshdir") folders.meshes = file_value_or_empty(attribute);
    if (attribute.name == "texturedir") folders.textures = file_value_or_empty(attribute);
    if (attribute.name == "assetdir") folders.assets = file_value_or_empty(attribute);
    if (attribute.name == "strippath") folders.strip = value_of(attribute) == "true";
  }
  std::string file_value_or_empty(const Attribute& attribute) const {
    return attribute.begin == attribute.end ? "" : file_value(attribute);
  }

  std::string_view text_;
  const std::string& name_;
  MjcfCounts& counts_;
  std::vector<double> composite_;  // how many bodies the last one has along its sides
  std::size_t at_ = 0;
  int depth_ = 0;
  MjcfText found_;
};

}  // namespace

MjcfText read_mjcf_text(std::string_view text, const std::string& name, MjcfCounts& counts) {
  return MjcfReader(text, name, counts).read();
}

}  // namespace iap
