module;
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
module iap.core;

namespace iap {

std::uint32_t crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string seal(std::string_view magic, std::uint32_t version, std::string_view payload) {
  Writer writer;
  for (std::size_t i = 0; i < 8; ++i) writer.put(i < magic.size() ? magic[i] : '\0');
  writer.put(version);
  writer.put_string(payload);
  std::string file = writer.bytes();
  const std::uint32_t checksum = crc32(file);
  file.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return file;
}

std::string unseal(std::string_view file, std::string_view magic, std::uint32_t version, const std::string& source) {
  const std::string expected(magic.substr(0, 8));
  constexpr std::size_t smallest = 8 + sizeof(std::uint32_t) + sizeof(std::uint64_t) + sizeof(std::uint32_t);
  if (file.size() < smallest) throw Error(text(source, ": is ", file.size(), " bytes, too short for an iap file"));
  if (file.substr(0, expected.size()) != expected) throw Error(text(source, ": is not a file of the kind '", expected, "'"));
  const std::string_view body = file.substr(0, file.size() - sizeof(std::uint32_t));
  const auto stored = Reader(file.substr(body.size()), source).get<std::uint32_t>();
  if (stored != crc32(body)) throw Error(text(source, ": checksum does not match; the file is damaged"));
  Reader reader(body.substr(8), source);
  if (const auto found = reader.get<std::uint32_t>(); found != version)
    throw Error(text(source, ": has format version ", found, ", this program reads version ", version));
  // Not by get_string, which holds what it reads twice.
  const auto size = reader.get<std::uint64_t>();
  constexpr std::size_t before = sizeof version + sizeof size;
  const std::string_view payload = body.substr(8 + before);
  if (size > payload.size()) throw Error(text(source, ": ends too early; the file is damaged"));
  if (size < payload.size()) throw Error(text(source, ": has bytes after its end; the file is damaged"));
  check_memory(text(source, ": its content"), static_cast<double>(size));
  return std::string(payload);
}

}  // namespace iap
