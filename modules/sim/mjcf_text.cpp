module;
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
import iap.render;
#include "mjcf_text.hpp"
#include "model_mesh.hpp"

namespace iap {
namespace {

constexpr std::string_view blanks = " \t\r\n", file_may_not = "&\\\"'";

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == ':'; }

// MuJoCo takes includes, and nothing else, in capital letters, too.
bool is_include(std::string_view element) {
  constexpr std::string_view include = "include";
  return std::ranges::equal(element, include,
                            [](char given, char small) { return std::tolower(static_cast<unsigned char>(given)) == small; });
}

// What sscanf("%d") reads as another number, or as a part of one, is none.
bool is_whole(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_actuator(std::string_view element) {
  constexpr std::array<std::string_view, 9> kinds{"general", "motor",    "position", "velocity", "intvelocity",
                                                  "damper",  "cylinder", "muscle",   "adhesion"};
  return std::ranges::find(kinds, element) != kinds.end();
}

// `part` as messages show it.
std::string_view brief(std::string_view part) {
  constexpr std::size_t most = 40;
  return part.substr(0, most);
}

class MjcfReader {
 public:
  MjcfReader(std::string_view text, const std::string& name, const MjcfPlace& place, MjcfCounts& counts)
      : text_(text), name_(name), outer_(place), counts_(counts), depth_(place.depth) {}

  MjcfText read() {
    if (const auto zero = text_.find('\0'); zero != std::string_view::npos) fail(zero, "holds a zero byte; an MJCF is a text");
    std::size_t next_look = bytes_a_look;
    while ((at_ = text_.find('<', at_)) != std::string_view::npos) {
      if (at_ >= next_look) {
        check_interrupt();
        next_look = at_ + bytes_a_look;
      }
      if (starts("<!--"))
        skip_behind("<!--", "-->", "a comment");
      else if (starts("<?"))
        skip_behind("<?", "?>", "a declaration");
      else if (starts("<!"))
        fail(at_, "has a document type or CDATA; write plain XML");
      else if (starts("</")) {
        if (depth_ == outer_.depth) fail(at_, "is no XML: an element ends that did not begin");
        --depth_;
        if (depth_ == outer_.depth && !found_.root_end) found_.root_end = at_;
        skip_behind("</", ">", "an element");
        if (default_depth_ == depth_) default_depth_.reset();
        if (composite_depth_ == depth_) composite_depth_.reset();
      } else
        read_element();
    }
    if (found_.root.empty()) fail(0, "is no XML: it has no element");
    return std::move(found_);
  }

 private:
  // Shorter texts are read to their end, also where an interrupt is on its way.
  static constexpr std::size_t bytes_a_look = std::size_t{1} << 20;

  struct Attribute {
    std::string_view name;
    std::size_t begin, end;
  };

  [[noreturn]] void fail(std::size_t at, std::string_view complaint) const {
    throw Error(text(name_, ":", line_of(at), ": ", complaint));
  }
  void fail_if(std::size_t at, std::string_view complaint) const {
    if (!complaint.empty()) fail(at, complaint);
  }
  void fail_if(std::size_t at, std::string_view element, std::string_view complaint) const {
    if (!complaint.empty()) fail(at, text(element, ": ", complaint));
  }
  // From the place that was asked for last, as it is asked for all over the text.
  int line_of(std::size_t at) const {
    const auto lines = [this](std::size_t begin, std::size_t end) {
      return static_cast<int>(std::ranges::count(text_.substr(begin, end - begin), '\n'));
    };
    line_ += at >= line_at_ ? lines(line_at_, at) : -lines(at, line_at_);
    line_at_ = at;
    return line_;
  }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  // The end may not share a character with the beginning: <!--> is open.
  void skip_behind(std::string_view begin, std::string_view end, std::string_view what) {
    const auto found = text_.find(end, at_ + begin.size());
    if (found == std::string_view::npos) fail(at_, text("is no XML: ", what, " does not end"));
    at_ = found + end.size();
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
  std::string_view read_name() {
    const auto begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    if (at_ == begin) fail(begin, "is no XML: a name is missing");
    return text_.substr(begin, at_ - begin);
  }
  Attribute read_attribute() {
    Attribute attribute{read_name(), 0, 0};
    skip_blanks();
    if (!starts("=")) fail(at_, text("is no XML: attribute '", brief(attribute.name), "' has no value"));
    ++at_;
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '"' && quote != '\'') fail(at_, text("is no XML: the value of '", brief(attribute.name), "' needs quotes"));
    attribute.begin = at_ + 1;
    attribute.end = text_.find(quote, attribute.begin);
    if (attribute.end == std::string_view::npos)
      fail(at_, text("is no XML: the value of '", brief(attribute.name), "' does not end"));
    at_ = attribute.end + 1;
    return attribute;
  }
  std::string_view value_of(const Attribute& attribute) const {
    return text_.substr(attribute.begin, attribute.end - attribute.begin);
  }

  void read_element() {
    ++at_;
    const std::string_view element = read_name();
    if (found_.root.empty()) found_.root = brief(element);
    const std::size_t after = at_;
    constexpr std::size_t most_attributes = 256;
    std::vector<Attribute> attributes;
    for (skip_blanks(); !starts(">") && !starts("/>"); skip_blanks()) {
      if (at_ >= text_.size()) fail(after, text("is no XML: element '", brief(element), "' does not end"));
      if (attributes.size() == most_attributes)
        fail(after, text("element '", brief(element), "' has more than ", most_attributes, " attributes; MuJoCo knows fewer"));
      attributes.push_back(read_attribute());
    }
    // MuJoCo descends by recursion, through what is included, too.
    constexpr int deepest = 200;
    const MjcfPlace place{depth_, in_default()};
    if (starts(">") && ++depth_ > deepest)
      fail(after, text("elements are nested more than ", deepest, " deep",
                       outer_.depth > 0 ? ", with those around the includes that lead here" : "", "; nest fewer"));
    if (is_include(element) && composite_depth_)
      fail(after, "a composite has an include, which could make it larger than its text says; write the parts themselves");
    count(element, attributes, place, after);
    check_sizes(element, attributes, after);
    if (depth_ > place.depth && element == "default" && !default_depth_) default_depth_ = place.depth;
    if (depth_ > place.depth && element == "composite" && !composite_depth_) composite_depth_ = place.depth;
    const bool named = find(attributes, "name") != nullptr;
    // A single file without a grid is repeated on all faces, of which MuJoCo then has one.
    const bool cube = element == "texture" && !is_flat(attributes), grid = find(attributes, "gridsize") != nullptr;
    const auto unfolds = [&](const Attribute& attribute) { return cube && (grid || attribute.name != "file"); };
    for (const auto& attribute : attributes) {
      // file, fileright, filefront ...
      if (attribute.name.starts_with("file")) {
        fail_if(attribute.begin, counts_.add_reference());
        found_.references.push_back({is_include(element) ? "include" : std::string(element), file_value(attribute), attribute.begin,
                                     attribute.end, after, named, line_of(attribute.begin), unfolds(attribute), place});
        if (is_include(element)) found_.folders.emplace_back();
      } else if (element == "compiler") {
        read_folder(attribute);
      }
    }
  }

  bool in_default() const { return outer_.in_default || default_depth_.has_value(); }

  /// What costs MuJoCo more than its text does.
  void count(std::string_view element, const std::vector<Attribute>& attributes, const MjcfPlace& place, std::size_t at) {
    const auto value_in = [&](std::string_view name) {
      const Attribute* found = find(attributes, name);
      return found ? value_of(*found) : std::string_view();
    };
    // Parts of tendons, equalities and composites have the same names, with attributes that MuJoCo takes nowhere else.
    const auto is_part = [&](std::initializer_list<std::string_view> marks) {
      return std::ranges::any_of(marks, [&](std::string_view mark) { return find(attributes, mark) != nullptr; });
    };
    fail_if(at, counts_.add_element(element));
    // Who has most of these says how many all of its kind have. A number and a blank are two characters.
    constexpr double most_user = 1000;
    counts_.user = std::max(counts_.user, std::min(static_cast<double>(value_in("user").size() + 1) / 2, most_user));
    if (element == "body") {
      fail_if(at, counts_.add_body());
    } else if (element == "geom" && !place.in_default && !is_part({"geom"})) {
      fail_if(at, counts_.add_geom());
    } else if (element == "freejoint") {
      fail_if(at, counts_.add_joint("free", false));
    } else if (element == "joint" && !is_part({"joint", "joint1", "kind"})) {
      fail_if(at, counts_.add_joint(value_in("type"), place.in_default));
    } else if (element == "composite") {
      composite_ = numbers_in(attributes, "count");
      fail_if(at, "composite", counts_.add_composite(value_in("type"), composite_));
    } else if (element == "lengthrange") {
      fail_if(at, "lengthrange",
              counts_.add_length_range({value_in("mode"), time_in(attributes, "inttotal"), time_in(attributes, "timestep")}));
    } else if (is_actuator(element)) {
      const auto is_other = [](std::string_view kind) {
        return !kind.empty() && kind != "fixed" && kind != "affine" && kind != "none";
      };
      counts_.add_actuator(element == "muscle" || is_other(value_in("gaintype")) || is_other(value_in("biastype")),
                           place.in_default);
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

  /// The whole numbers of the attribute. What MuJoCo may read as another number is refused.
  std::vector<double> numbers_of(const Attribute& attribute) const {
    std::vector<double> numbers;
    for (std::string_view rest = value_of(attribute);;) {
      const std::string_view word = next_word(rest, blanks);
      if (word.empty() && !numbers.empty()) return numbers;
      constexpr std::size_t most_numbers = 16;
      if (numbers.size() == most_numbers)
        fail(attribute.begin, text("'", brief(attribute.name), "' has more than ", most_numbers, " numbers; MuJoCo takes fewer"));
      double number = 0;
      if (!is_whole(word) || !read_cell(word, number))
        fail(attribute.begin, text("'", brief(attribute.name), "' has '", brief(word),
                                   "' in place of a whole number; write plain digits with blanks between them"));
      numbers.push_back(number);
    }
  }
  /// Of an attribute that need not be there.
  std::vector<double> numbers_in(const std::vector<Attribute>& attributes, std::string_view name) const {
    const Attribute* found = find(attributes, name);
    return found ? numbers_of(*found) : std::vector<double>();
  }
  double number_in(const std::vector<Attribute>& attributes, std::string_view name) const {
    const auto numbers = numbers_in(attributes, name);
    return numbers.empty() ? 0 : std::abs(numbers.front());
  }

  /// Of an attribute that need not be there.
  std::optional<double> time_in(const std::vector<Attribute>& attributes, std::string_view name) const {
    const Attribute* found = find(attributes, name);
    if (!found) return {};
    double seconds = 0;
    std::string_view rest = value_of(*found);
    const std::string_view word = next_word(rest, blanks);
    if (!read_cell(word, seconds) || !next_word(rest, blanks).empty())
      fail(found->begin, text("'", name, "' has '", brief(value_of(*found)), "' in place of a number; write a plain one"));
    return seconds;
  }

  /// What MuJoCo would allocate before anybody could look at it, in numbers that it multiplies as 32-bit integers.
  void check_sizes(std::string_view element, const std::vector<Attribute>& attributes, std::size_t at) {
    constexpr double most_size = 10'000'000, most_side = 16384;
    const auto shown = [](double number) { return std::abs(number) < 1e15 ? fixed_text(number, 0) : text(number); };
    const auto check_one = [&](const Attribute& attribute, double most) {
      for (const double number : numbers_of(attribute))
        if (!(std::abs(number) <= most))
          fail(at, text(element, ": '", brief(attribute.name), "' is ", shown(number), "; at most ", shown(most), " is taken"));
    };
    const auto check = [&](std::string_view name, double most) {
      if (const Attribute* found = find(attributes, name)) check_one(*found, most);
    };
    const auto check_bytes = [&](double bytes) { check_memory(text(name_, ":", line_of(at), ": ", element), bytes); };
    if (element == "size") {
      // Each body, joint, geom ... has as many numbers of the user, each keyframe a whole state; rows of constraints are squared.
      constexpr double most_user = 1000, most_keys = 1000, most_rows = 46340;
      for (const auto& attribute : attributes) {
        const bool user = attribute.name.starts_with("nuser_");
        if (attribute.name == "memory") continue;  // with a unit
        check_one(attribute, user                        ? most_user
                             : attribute.name == "nkey"  ? most_keys
                             : attribute.name == "njmax" ? most_rows
                                                         : most_size);
        if (user) counts_.user = std::max(counts_.user, number_in(attributes, attribute.name));
      }
    } else if (element == "option") {
      // One step may go through all of them.
      constexpr double most_iterations = 1000;
      for (const auto& attribute : attributes)
        if (attribute.name.ends_with("iterations")) check_one(attribute, most_iterations);
    } else if (element == "quality") {
      constexpr double most_parts = 1000;
      for (const char* parts : {"numslices", "numstacks", "numquads", "offsamples"}) check(parts, most_parts);
      check("shadowsize", most_side);
    } else if (element == "global") {
      for (const char* side : {"offwidth", "offheight"}) check(side, most_side);
    } else if (element == "numeric") {
      check_numeric(attributes, at);
    } else if (element == "user") {
      constexpr double most_values = 10'000;
      check("dim", most_values);
    } else if (element == "skin") {
      check_subgrid(attributes, at);
    } else if (element == "texture") {
      constexpr double most_squares = 12;
      for (const char* side : {"width", "height"}) check(side, most_side);
      check("gridsize", most_squares);
      const double width = number_in(attributes, "width"), height = number_in(attributes, "height");
      const double bytes = texture_colours * width * (is_flat(attributes) ? height : std::max(height, cube_faces * width));
      if (!(bytes < most_texture_bytes))
        fail(at, text("texture: with ", cube_faces, " faces of ", width, " x ", width, " it takes ", memory_text(bytes),
                      "; MuJoCo has room for less than ", memory_text(most_texture_bytes), ", so make it smaller"));
      found_.texture_bytes += bytes;
      // Beyond that the text is refused as a whole.
      if (found_.texture_bytes < most_texture_bytes) check_bytes(texture_copies * bytes);
    } else if (element == "hfield") {
      for (const char* side : {"nrow", "ncol"}) check(side, most_side);
      const double rows = number_in(attributes, "nrow"), columns = number_in(attributes, "ncol");
      if (!find(attributes, "file")) fail_if(at, "hfield", heights_complaint(rows, columns));
      counts_.height_bytes += bytes_a_height * rows * columns;
      check_memory(text(name_, ":", line_of(at), ": the model, with this hfield,"), counts_.height_bytes);
    } else if (element == "mesh") {
      check_mesh(attributes, at);
    }
  }

  /// MuJoCo reads the numbers before it looks at how many it has room for.
  void check_numeric(const std::vector<Attribute>& attributes, std::size_t at) const {
    constexpr int most_numbers = 500;
    constexpr std::string_view spaces = " \t\r\n\v\f";
    if (const double size = number_in(attributes, "size"); size > most_numbers)
      fail(at, text("numeric: 'size' is ", fixed_text(size, 0), "; at most ", most_numbers, " is taken"));
    const Attribute* data = find(attributes, "data");
    if (!data) return;
    std::string_view rest = value_of(*data);
    if (rest.find('&') != rest.npos) fail(at, "numeric: 'data' has a '&'; write plain numbers");
    // It takes the last one once more where a blank follows.
    for (int numbers = rest.find_last_of(spaces) + 1 == rest.size() ? 1 : 0; !next_word(rest, spaces).empty();)
      if (++numbers > most_numbers) fail(at, text("numeric: 'data' has more than ", most_numbers, " numbers; MuJoCo takes fewer"));
  }

  void check_mesh(const std::vector<Attribute>& attributes, std::size_t at) const {
    const Attribute *vertex = find(attributes, "vertex"), *face = find(attributes, "face");
    if (find(attributes, "file") && (vertex || face))
      fail(at, "mesh: names a file and has vertices or faces of its own; leave one of both out");
    if (!face) return;
    if (const std::string complaint = mesh_complaint(vertex ? value_of(*vertex) : "", value_of(*face)); !complaint.empty())
      fail(at, text("mesh: ", complaint));
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

  std::string file_value(const Attribute& attribute) const {
    constexpr std::size_t longest = 4096;  // which is what Linux takes
    const std::string_view value = value_of(attribute), shown = brief(attribute.name);
    if (value.empty()) fail(attribute.begin, text("attribute '", shown, "' names no file"));
    if (value.size() > longest)
      fail(attribute.begin, text("attribute '", shown, "' names a file with ", value.size(), " characters; at most ", longest,
                                 " are taken, so shorten its path"));
    if (std::ranges::any_of(value, [](char c) {
          return file_may_not.find(c) != std::string_view::npos || std::iscntrl(static_cast<unsigned char>(c));
        }))
      fail(attribute.begin, text("attribute '", shown, "': the name of a file may not have &, \\, quotes and control characters"));
    return std::string(value);
  }

  void read_folder(const Attribute& attribute) {
    MjcfFolders& folders = found_.folders.back();
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
  const MjcfPlace outer_;  // of the includes that lead to this text
  MjcfCounts& counts_;
  std::vector<double> composite_;                       // how many bodies the last one has along its sides
  std::optional<int> default_depth_, composite_depth_;  // where the outermost begins that is open
  std::size_t at_ = 0;
  int depth_;
  mutable std::size_t line_at_ = 0;  // a place, and its line
  mutable int line_ = 1;
  MjcfText found_;
};

}  // namespace

MjcfText read_mjcf_text(std::string_view text, const std::string& name, const MjcfPlace& place, MjcfCounts& counts) {
  return MjcfReader(text, name, place, counts).read();
}

}  // namespace iap
