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

// `part` as messages show it.
std::string_view brief(std::string_view part) {
  constexpr std::size_t most = 40;
  return part.substr(0, most);
}

class MjcfReader {
 public:
  MjcfReader(std::string_view text, const std::string& name, int depth, MjcfCounts& counts)
      : text_(text), name_(name), outer_depth_(depth), counts_(counts), depth_(depth) {}

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
        if (depth_ == outer_depth_) fail(at_, "is no XML: an element ends that did not begin");
        skip_behind("</", ">", "an element");
        --depth_;
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
    const int depth = depth_;
    if (starts(">") && ++depth_ > deepest)
      fail(after, text("elements are nested more than ", deepest, " deep",
                       outer_depth_ > 0 ? ", with those around the includes that lead here" : "", "; nest fewer"));
    check_sizes(element, attributes, after);
    const bool named = find(attributes, "name") != nullptr;
    // A single file without a grid is repeated on all faces, of which MuJoCo then has one.
    const bool cube = element == "texture" && !is_flat(attributes), grid = find(attributes, "gridsize") != nullptr;
    const auto unfolds = [&](const Attribute& attribute) { return cube && (grid || attribute.name != "file"); };
    for (const auto& attribute : attributes) {
      // file, fileright, filefront ...
      if (attribute.name.starts_with("file")) {
        count_reference(attribute.begin);
        found_.references.push_back({is_include(element) ? "include" : std::string(element), file_value(attribute), attribute.begin,
                                     attribute.end, after, named, line_of(attribute.begin), unfolds(attribute), depth});
      } else if (element == "compiler") {
        read_folder(attribute);
      }
    }
  }

  /// Each is looked up and given a name for MuJoCo.
  void count_reference(std::size_t at) {
    constexpr std::size_t most_references = 20'000;
    if (++counts_.references > most_references)
      fail(at, text("with it the model names files more than ", most_references, " times; join meshes, or leave some out"));
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

  /// The numbers of the attribute. What MuJoCo may read as another number is refused.
  std::vector<double> numbers_of(const Attribute& attribute) const {
    std::vector<double> numbers;
    for (std::string_view rest = value_of(attribute);;) {
      rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
      const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
      if (word.empty() && !numbers.empty()) return numbers;
      constexpr std::size_t most_numbers = 16;
      if (numbers.size() == most_numbers)
        fail(attribute.begin, text("'", brief(attribute.name), "' has more than ", most_numbers, " numbers; MuJoCo takes fewer"));
      double number = 0;
      if (!read_cell(word, number))
        fail(attribute.begin, text("'", brief(attribute.name), "' has '", brief(word),
                                   "' in place of a number; write plain numbers with blanks between them"));
      numbers.push_back(number);
      rest.remove_prefix(word.size());
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
      // Each body, joint, geom ... has as many numbers of the user, each keyframe a whole state.
      constexpr double most_user = 1000, most_keys = 100'000;
      for (const auto& attribute : attributes)
        check_one(attribute, attribute.name.starts_with("nuser_") ? most_user : attribute.name == "nkey" ? most_keys : most_size);
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
      found_.texture_bytes += bytes;
      // Beyond that the text is refused as a whole.
      if (found_.texture_bytes < most_texture_bytes) check_bytes(bytes);
    } else if (element == "hfield") {
      for (const char* side : {"nrow", "ncol"}) check(side, most_side);
      counts_.height_bytes += bytes_a_height * number_in(attributes, "nrow") * number_in(attributes, "ncol");
      check_memory(text(name_, ":", line_of(at), ": the model, with this hfield,"), counts_.height_bytes);
    } else if (element == "mesh") {
      check_mesh(attributes, at);
    } else if (element == "composite") {
      count_composite(attributes, at);
    } else if (element == "joint" || element == "freejoint") {
      count_freedom(freedom_of(element, attributes), at);
    }
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
  double freedom_of(std::string_view element, const std::vector<Attribute>& attributes) const {
    constexpr double of_hinge = 1, of_ball = 3, of_free = 6;
    // Elements of tendons, equalities and composites have the same name.
    for (const char* other : {"joint", "joint1", "kind"})
      if (element == "joint" && find(attributes, other)) return 0;
    const Attribute* type = find(attributes, "type");
    const std::string_view kind = type ? value_of(*type) : "";  // where it is not said, a default may say it
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
  const int outer_depth_;  // elements around the includes that lead to this text
  MjcfCounts& counts_;
  std::vector<double> composite_;  // how many bodies the last one has along its sides
  std::size_t at_ = 0;
  int depth_;
  mutable std::size_t line_at_ = 0;  // a place, and its line
  mutable int line_ = 1;
  MjcfText found_;
};

}  // namespace

MjcfText read_mjcf_text(std::string_view text, const std::string& name, int depth, MjcfCounts& counts) {
  return MjcfReader(text, name, depth, counts).read();
}

}  // namespace iap
