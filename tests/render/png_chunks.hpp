// PNGs made chunk by chunk, which may hold more than their header says. Include with <cstddef>, <cstdint>, <string>, <string_view>
// and <zlib.h>; needs iap.core.
#pragma once

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

inline std::string zlib_packed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  packed.resize(size);
  return packed;
}

inline std::string png_chunk(const std::string& type, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + type + data + big_endian(iap::crc32(type + data));
}

// Of 8-bit RGB, with `pixels` as a zlib stream and the chunks `others` before them.
inline std::string png_of(std::uint32_t width, std::uint32_t height, const std::string& pixels, const std::string& others = "") {
  const std::string header = big_endian(width) + big_endian(height) + std::string("\x08\x02\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + others + png_chunk("IDAT", pixels) + png_chunk("IEND", "");
}
