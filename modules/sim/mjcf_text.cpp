module;
#include <algorithm>
#include <cctype>
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
  MjcfReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  MjcfText read() {
    if (const auto zero = text_.find('\0'); zero != std::string_view::npos) fail(zero, "holds a zero byte; an MJCF is a text");
    while ((at_ = text_.find('<', at_)) != std::string_view::npos) {
      if (starts("<!--"))
        skip_behind("-->", "a comment");
      else if (starts("<?"))
        skip_behind("?>", "a declaration");
      else if (starts("<!"))
        fail(at_, "has a document type or CDATA; write plain XML");
      else if (starts("</"))
        skip_behind(">", "an element");
      else
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
  void skip_behind(std::string_view end, std::string_view what) {
    const auto found = text_.find(end, at_);
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
    const bool named = std::ranges::any_of(attributes, [](const Attribute& attribute) { return attribute.name == "name"; });
    for (const auto& attribute : attributes) {
      // file, fileright, filefront ...
      if (attribute.name.starts_with("file"))
        found_.references.push_back(
            {element, file_value(attribute), attribute.begin, attribute.end, after, named, line_of(attribute.begin)});
      else if (element == "compiler")
        read_folder(attribute);
    }
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
  std::size_t at_ = 0;
  MjcfText found_;
};

}  // namespace

MjcfText read_mjcf_text(std::string_view text, const std::string& name) { return MjcfReader(text, name).read(); }

}  // namespace iap
