module;
#define ZLIB_CONST
#include <zlib.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
module iap.sim;
import iap.core;
#include "model_png.hpp"

namespace iap {
namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";

/// The integer of 32 bits at `at`, its high byte first.
double number_at(std::string_view content, std::size_t at) {
  double value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = 256 * value + static_cast<unsigned char>(content[at + i]);
  return value;
}

/// Unpacks a stream piece by piece to see how long it becomes, and keeps nothing of it.
class Unpacking {
 public:
  Unpacking(const std::string& name, double most) : name_(name), most_(most) {
    if (inflateInit(&stream_) != Z_OK) throw Error(text(name_, ": out of memory"));
  }
  ~Unpacking() { inflateEnd(&stream_); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  void add(std::string_view packed) {
    stream_.next_in = reinterpret_cast<const Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    do {
      if (ended_) return;
      if (looks_.due(work_a_byte * unpacked_.size())) check_interrupt();
      stream_.next_out = unpacked_.data();
      stream_.avail_out = static_cast<uInt>(unpacked_.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      // Z_BUF_ERROR: there is nothing left to read.
      if (!ended_ && status != Z_OK && status != Z_BUF_ERROR) throw Error(text(name_, ": its pixels cannot be unpacked"));
      bytes_ += static_cast<double>(unpacked_.size() - stream_.avail_out);
      if (bytes_ > most_) throw Error(text(name_, ": holds more pixels than its header says; the picture is damaged"));
    } while (stream_.avail_out == 0);
  }

 private:
  const std::string& name_;
  double most_, bytes_ = 0;
  static constexpr std::size_t work_a_byte = 16;
  Looks looks_;
  bool ended_ = false;
  z_stream stream_{};
  std::array<Bytef, std::size_t{1} << 15> unpacked_;
};

/// As MuJoCo's reader goes through the file: the pixels are in all chunks IDAT before the end, wherever they stand. It passes over
/// texts; of a colour profile it unpacks at most 16 MB, but does so with every one that there is.
void check_pixels(const std::string& name, std::string_view content, double most) {
  constexpr std::size_t header_end = 33, frame = 12, type_at = 4, data_at = 8;  // a chunk is a length, a type, data and a checksum
  Unpacking pixels(name, most);
  bool profile = false;
  for (std::size_t at = header_end; at + frame <= content.size();) {
    const double length = number_at(content, at);
    if (length > static_cast<double>(content.size() - at - frame)) return;
    const auto size = static_cast<std::size_t>(length);
    const std::string_view type = content.substr(at + type_at, data_at - type_at);
    if (type == "IEND") return;
    if (type == "iCCP" && std::exchange(profile, true))
      throw Error(text(name, ": has more than one colour profile; the picture is damaged"));
    if (type == "IDAT") pixels.add(content.substr(at + data_at, size));
    at += frame + size;
  }
}

}  // namespace

void check_sides(const std::string& name, const PictureSides& sides) {
  constexpr double most_side = 16384;
  if (sides.width > most_side || sides.height > most_side)
    throw Error(
        text(name, ": has ", sides.height, " x ", sides.width, " pixels; pictures of a model may have ", most_side, " a side"));
}

void check_kind(const std::string& name, std::string_view content, bool called_png) {
  using namespace std::string_view_literals;
  const std::string wanted = std::filesystem::path(name).replace_extension(".png").string();
  if (content.starts_with(signature)) {
    if (!called_png)
      throw Error(text(name, ": is a PNG, which MuJoCo knows by its name alone; call it '", wanted, "', in the model, too"));
    return;
  }
  constexpr std::array<std::pair<std::string_view, const char*>, 8> kinds{{{"\xFF\xD8\xFF"sv, "a JPEG"},
                                                                           {"GIF8"sv, "a GIF"},
                                                                           {"BM"sv, "a BMP"},
                                                                           {"RIFF"sv, "a WebP"},
                                                                           {"II*\0"sv, "a TIFF"},
                                                                           {"MM\0*"sv, "a TIFF"},
                                                                           {"8BPS"sv, "a PSD"},
                                                                           {"DDS "sv, "a DDS"}}};
  // Read as sides, each of these is more than a picture may have.
  for (const auto& [begin, kind] : kinds)
    if (content.starts_with(begin))
      throw Error(text(name, ": is ", kind,
                       ", and of pictures MuJoCo reads PNG alone, in files called .png; write it as one, such as by ",
                       "ImageMagick (convert ", shell_word(name), " ", shell_word(wanted), ")",
                       called_png ? "" : ", and name that in the model"));
}

PictureSides png_sides(std::string_view content) {
  constexpr std::size_t width_at = 16, height_at = 20, end = 24;
  if (!content.starts_with(signature) || content.size() < end) return {};
  return {number_at(content, width_at), number_at(content, height_at)};
}

namespace {

/// As the header says; what is none of PNG's kinds of pixel MuJoCo's reader refuses.
double bytes_a_pixel(std::string_view content) {
  constexpr std::size_t depth_at = 24, kind_at = 25;
  constexpr double usual = 3, bits_a_byte = 8;
  if (content.size() <= kind_at) return usual;
  constexpr std::array<double, 7> colours{1, 0, 3, 1, 2, 0, 4};
  const auto kind = static_cast<unsigned char>(content[kind_at]);
  return kind < colours.size() ? colours[kind] * static_cast<unsigned char>(content[depth_at]) / bits_a_byte : usual;
}

}  // namespace

void check_png(const std::string& name, std::string_view content) {
  if (!content.starts_with(signature)) return;
  constexpr double most_bytes = 8;  // of a pixel: four colours of 16 bits
  const auto [width, height] = png_sides(content);
  check_sides(name, {width, height});
  // MuJoCo's reader unpacks rows, then has the pixels of all beside them, then those that MuJoCo takes.
  constexpr double taken = 4;
  check_memory(name, (2 * bytes_a_pixel(content) + taken) * width * height);
  // A byte for each row says how it is packed; an interlaced picture has rows in seven passes, less than twice as many in all.
  constexpr double passes = 7;
  check_pixels(name, content, most_bytes * width * height + 2 * height + passes);
}

}  // namespace iap
