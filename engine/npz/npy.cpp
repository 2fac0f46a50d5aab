module;
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
module iap.npz;
import iap.core;

namespace iap {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_values = std::size_t{1} << 28;
/// Headers that NumPy writes have some hundred bytes; it reads arrays of 32 dimensions at most, from 2.0 on of 64.
constexpr std::size_t most_header_bytes = std::size_t{64} << 10, most_dimensions = 32;

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;
};

// The header is a Python dictionary of three entries; its grammar is no larger than what this reads.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Header read() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !header.descr)
        header.descr = quoted();
      else if (key == "fortran_order" && !header.fortran_order)
        header.fortran_order = boolean();
      else if (key == "shape" && !header.shape)
        header.shape = tuple();
      else
        fail();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty() || !header.descr || !header.fortran_order || !header.shape) fail();
    return header;
  }

 private:
  void skip_space() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
  }
  bool accept(char character) {
    skip_space();
    if (text_.empty() || text_.front() != character) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char character) {
    if (!accept(character)) fail();
  }
  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = text_.find(quote);
    if (end == std::string_view::npos) fail();
    const std::string value(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return value;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view name = value ? "True" : "False";
      if (!text_.starts_with(name)) continue;
      text_.remove_prefix(name.size());
      return value;
    }
    fail();
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == most_dimensions)
        throw Error(text(source_, ": the array has more than ", most_dimensions,
                         " dimensions, the most that are read and that NumPy 1 knows; reshape it"));
      values.push_back(number());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return values;
  }
  std::size_t number() {
    skip_space();
    std::size_t value = 0, digits = 0;
    for (; !text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())); ++digits, text_.remove_prefix(1)) {
      value = 10 * value + static_cast<std::size_t>(text_.front() - '0');
      if (value > most_values) throw Error(text(source_, ": an extent of the array's shape is above ", most_values));
    }
    if (digits == 0) fail();
    return value;
  }
  [[noreturn]] void fail() const { throw Error(text(source_, ": the array's header is not one that NumPy writes")); }

  std::string_view text_;
  const std::string& source_;
};

NpyType read_type(const std::string& descr, const std::string& source) {
  if (descr == "<f4") return NpyType::float32;
  if (descr == "<f8") return NpyType::float64;
  constexpr std::size_t shown = 40;
  const std::string quoted = one_line(descr.substr(0, shown)) + (descr.size() > shown ? " ..." : "");
  const char* remedy = descr.starts_with('>') ? "big-endian numbers" : "another type of numbers";
  throw Error(text(source, ": holds '", quoted, "', ", remedy, "; save the array as '<f4' or '<f8'"));
}

std::size_t count_values(const std::vector<std::size_t>& shape, const std::string& source) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    count *= extent;
    if (count > most_values) throw Error(text(source, ": the array has more than ", most_values, " values"));
  }
  return count;
}

template <typename T>
std::vector<double> read_values(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = value;
  }
  return values;
}

// The length of the header and where it begins: two bytes in version 1, four in versions 2 and 3.
std::string_view find_header(std::string_view file, const std::string& source) {
  constexpr std::size_t versions = magic.size() + 2;
  if (!file.starts_with(magic)) throw Error(text(source, ": is no .npy array (it does not begin with the mark of NumPy)"));
  const auto too_short = [&] { return Error(text(source, ": ends too early; the file is damaged")); };
  if (file.size() < versions) throw too_short();
  const int major = static_cast<unsigned char>(file[magic.size()]), minor = static_cast<unsigned char>(file[magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0)
    throw Error(text(source, ": is in version ", major, ".", minor, " of the .npy format; versions 1.0, 2.0 and 3.0 can be read"));
  const std::size_t width = major == 1 ? 2 : 4;
  if (file.size() < versions + width) throw too_short();
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) length |= std::size_t{static_cast<unsigned char>(file[versions + i])} << 8 * i;
  if (length > most_header_bytes)
    throw Error(text(source, ": its header has ", memory_text(static_cast<double>(length)), ", at most ",
                     memory_text(static_cast<double>(most_header_bytes)), " are read; save the array with numpy.save"));
  if (file.size() - versions - width < length) throw too_short();
  return file.substr(versions + width, length);
}

}  // namespace

NpyArray parse_npy(std::string_view file, const std::string& source) {
  const std::string_view text_of_header = find_header(file, source);
  const Header header = HeaderReader(text_of_header, source).read();
  NpyArray array{.name = {}, .shape = *header.shape, .type = read_type(*header.descr, source), .values = {}};
  if (*header.fortran_order) throw Error(text(source, ": the array is in Fortran order; save numpy.ascontiguousarray of it"));
  const std::string_view data = file.substr(static_cast<std::size_t>(text_of_header.end() - file.begin()));
  const std::size_t width = array.type == NpyType::float32 ? sizeof(float) : sizeof(double);
  const std::size_t expected = count_values(array.shape, source) * width;
  if (data.size() != expected)
    throw Error(text(source, ": has ", data.size(), " bytes of values where its shape needs ", expected, "; the file is damaged"));
  array.values = array.type == NpyType::float32 ? read_values<float>(data) : read_values<double>(data);
  return array;
}

std::string format_npy(const NpyArray& array) {
  constexpr std::size_t alignment = 64, prefix = magic.size() + 4;
  const bool single = array.type == NpyType::float32;
  std::string header = text("{'descr': '", single ? "<f4" : "<f8", "', 'fortran_order': False, 'shape': (");
  for (std::size_t i = 0; i < array.shape.size(); ++i) header += text(i ? ", " : "", array.shape[i]);
  header += array.shape.size() == 1 ? ",), }" : "), }";
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  Writer writer;
  for (const char character : magic) writer.put(character);
  writer.put(std::uint8_t{1});
  writer.put(std::uint8_t{0});
  writer.put(static_cast<std::uint16_t>(header.size()));
  for (const char character : header) writer.put(character);
  for (const double value : array.values) single ? writer.put(static_cast<float>(value)) : writer.put(value);
  return writer.bytes();
}

}  // namespace iap
