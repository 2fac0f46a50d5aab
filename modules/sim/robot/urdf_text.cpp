module;
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
module iap.sim;
import iap.core;
#include "urdf_text.hpp"

namespace iap {
namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_name_part(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) || c == '_' || c == '-' || c == '.' || c == ':';
}

/// How many bytes TinyXML takes for a character that begins with this one, whatever the others are.
std::size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xc2 || byte > 0xf4) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// `part` as messages show it.
std::string brief(std::string_view part) {
  constexpr std::size_t most = 60;
  return part.size() <= most ? std::string(part) : text(part.size(), " bytes");
}

struct Attribute {
  std::string_view name, value;
};

/// urdfdom prints some of what it cannot read as a format: a % there would read and write memory. No number has one.
bool is_printed_as_format(std::string_view element, std::string_view attribute) {
  constexpr std::array<std::string_view, 7> printed{"length", "radius", "rgba", "rpy", "size", "value", "xyz"};
  return std::ranges::find(printed, attribute) != printed.end() || (element == "material" && attribute == "name");
}

/// The parsers, TinyXML and TinyXML-2, forgive much, and not the same; a text on which they might disagree with this reader about
/// where an element begins would get past the limit.
class UrdfReader {
 public:
  UrdfReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void read() {
    for (;;) {
      const std::size_t begin = at_;
      at_ = std::min(text_.find('<', at_), text_.size());
      check_characters(begin, at_);
      if (at_ == text_.size()) return;
      if (starts("<!--"))
        skip("<!--", "-->");
      else if (starts("<![CDATA["))
        skip("<![CDATA[", "]]>");
      else if (starts("<!"))
        skip_document_type();
      else if (starts("<?"))
        read_declaration();
      else if (starts("</"))
        read_end();
      else
        read_element();
    }
  }
  void check_counts() const {
    check_count("links", links_, most_links);
    check_count("joints", joints_, most_links);
    check_count("<collision> and <visual>", shapes_, most_shapes);
  }

 private:
  void check_count(std::string_view what, std::size_t count, std::size_t most) const {
    if (count > most)
      throw Error(text(source_, ": has ", count, " ", what, "; at most ", most, " can be simulated, so leave some out"));
  }
  [[noreturn]] void fail(std::string_view complaint) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, at_), '\n');
    throw Error(text(source_, ": cannot be read as URDF: line ", line, ": ", complaint));
  }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  // The end may not share a character with the beginning: <!--> is open.
  void skip(std::string_view begin, std::string_view end) {
    const auto found = text_.find(end, at_ + begin.size());
    if (found == std::string_view::npos) fail(text("what begins with ", begin, " lacks its ", end));
    at_ = found + end.size();
  }
  // The parsers end it at its first >, behind which they find no robot where it declares something.
  void skip_document_type() {
    const std::size_t behind = std::min(text_.find_first_of("<>", at_ + 1), text_.size());
    if (behind < text_.size() && text_[behind] == '<')
      fail("has a document type that declares something; write plain XML, and what its entities stand for in their places");
    skip("<!", ">");
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
  void expect(std::string_view what) {
    if (!starts(what)) fail(text("is no XML: '", what, "' is missing"));
    at_ += what.size();
  }
  std::string_view read_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    if (at_ == begin) fail("is no XML: a name is missing");
    return text_.substr(begin, at_ - begin);
  }
  // Half a character swallows the quote or bracket behind it.
  void check_characters(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end;) {
      const std::size_t next = i + bytes_of_character(text_[i]);
      bool whole = next <= end;
      for (++i; whole && i < next; ++i) whole = (static_cast<unsigned char>(text_[i]) & 0xc0) == 0x80;
      if (!whole) fail("holds bytes that are no UTF-8; save it as UTF-8");
    }
  }
  Attribute read_attribute() {
    const std::string_view name = read_name();
    skip_blanks();
    expect("=");
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '"' && quote != '\'') fail("is no XML: the value of an attribute needs quotes");
    const std::size_t begin = at_ + 1, end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("is no XML: the value of an attribute does not end");
    check_characters(begin, end);
    at_ = end + 1;
    return {name, text_.substr(begin, end - begin)};
  }
  // TinyXML ends some declarations at the first >, and looks for what it knows at every blank.
  void read_declaration() {
    at_ += 2;
    read_name();
    for (skip_blanks(); !starts("?>"); skip_blanks())
      if (!std::ranges::all_of(read_attribute().value, is_name_part))
        fail("a declaration takes plain words alone, such as <?xml version=\"1.0\" encoding=\"utf-8\"?>");
    at_ += 2;
  }
  void read_end() {
    at_ += 2;
    read_name();
    skip_blanks();
    if (depth_ == 0) fail("is no XML: an element ends that did not begin");
    expect(">");
    --depth_;
  }
  // The parsers would leave out what only xacro understands, and read another robot.
  [[noreturn]] void fail_xacro(const std::string& what) const {
    fail(text(what, " is for xacro, not URDF; expand the file first: xacro FILE > robot.urdf"));
  }
  void check_value(std::string_view element, const Attribute& attribute) const {
    const auto& [name, value] = attribute;
    if (value.find("${") != value.npos) fail_xacro(text(brief(name), "=\"", brief(value), '"'));
    // &#37; is a % as well.
    for (const std::string_view mark : {"%", "&#"})
      if (is_printed_as_format(element, name) && value.find(mark) != value.npos)
        fail(text(brief(name), "=\"", brief(value), "\" of <", brief(element), "> may not have a ", mark, "; take it out"));
  }
  void read_element() {
    constexpr int deepest = 64;
    ++at_;
    const std::string_view name = read_name();
    if (name.starts_with("xacro:")) fail_xacro(text('<', brief(name), '>'));
    // Of the same name are elements of <transmission>, <gazebo> ...
    const bool of_robot = depth_ == 1, of_link = depth_ == 2;
    if (of_robot && name == "link") ++links_;
    if (of_robot && name == "joint") ++joints_;
    if (of_link && (name == "collision" || name == "visual")) ++shapes_;
    for (skip_blanks(); !starts(">") && !starts("/>"); skip_blanks()) check_value(name, read_attribute());
    if (starts("/>")) {
      at_ += 2;
      return;
    }
    ++at_;
    if (++depth_ > deepest)
      throw Error(text(source_, ": its elements are nested more than ", deepest, " deep; URDF needs a handful"));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t links_ = 0, joints_ = 0, shapes_ = 0;
};

}  // namespace

void check_urdf_text(std::string_view urdf, const std::string& source) {
  if (const auto zero = urdf.find('\0'); zero != std::string_view::npos)
    throw Error(text(source, ": has a NUL at byte ", zero, "; URDF is plain text"));
  UrdfReader reader(urdf, source);
  reader.read();
  reader.check_counts();
}

}  // namespace iap
