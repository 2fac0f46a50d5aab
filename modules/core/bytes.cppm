module;
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>
export module iap.core:bytes;
import :error;

export namespace iap {

static_assert(std::endian::native == std::endian::little, "iap files are little-endian; this machine is not");

/// CRC-32 (ISO-HDLC, the one of zlib and PNG).
std::uint32_t crc32(std::string_view bytes);

/// RFC 4648, section 4: letters, digits, + and /, padded with =.
std::string to_base64(std::string_view bytes);
/// The bytes that `text` stands for; nothing if it is no base64.
std::optional<std::string> from_base64(std::string_view text);

/// Builds a little-endian byte string.
class Writer {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
    requires std::is_arithmetic_v<T>
  void put_all(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void put_string(std::string_view string) { put_all(std::span<const char>(string)); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what a Writer wrote. Every read is bounds-checked. @throws Error naming `source` on any shortfall.
class Reader {
 public:
  Reader(std::string_view bytes, std::string source) : bytes_(bytes), source_(std::move(source)) {}

  template <typename T>
    requires std::is_arithmetic_v<T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  template <typename T>
    requires std::is_arithmetic_v<T>
  std::vector<T> get_all() {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size() / sizeof(T)) fail();
    std::vector<T> values(count);
    if (count) std::memcpy(values.data(), take(count * sizeof(T)), count * sizeof(T));
    return values;
  }
  /// As `get_all`, into `out`, whose size must be the stored one.
  template <typename T>
    requires std::is_arithmetic_v<T>
  void get_into(std::span<T> out) {
    const auto values = get_all<T>();
    if (values.size() != out.size())
      throw Error(
          text(source_, ": holds ", values.size(), " values where ", out.size(), " were expected; it belongs to another run"));
    std::memcpy(out.data(), values.data(), out.size_bytes());
  }
  std::string get_string() {
    const auto characters = get_all<char>();
    return {characters.begin(), characters.end()};
  }
  bool at_end() const { return bytes_.empty(); }
  const std::string& source() const { return source_; }

 private:
  const char* take(std::size_t count) {
    if (count > bytes_.size()) fail();
    const char* begin = bytes_.data();
    bytes_.remove_prefix(count);
    return begin;
  }
  [[noreturn]] void fail() const { throw Error(text(source_, ": ends too early; the file is damaged")); }

  std::string_view bytes_;
  std::string source_;
};

/// Wraps `payload` as a file: 8 bytes of magic, version, length, payload, CRC-32 over all that.
std::string seal(std::string_view magic, std::uint32_t version, std::string_view payload);
/// The payload of a sealed file. @throws Error naming `source` if magic, version, length or CRC do not fit.
std::string unseal(std::string_view file, std::string_view magic, std::uint32_t version, const std::string& source);

}  // namespace iap
