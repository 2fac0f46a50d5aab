module;
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
module iap.render;
import iap.core;
#include "animation_formats.hpp"

// APNG: a PNG with a chunk acTL after its header, and for each frame a chunk fcTL (place, duration) before its compressed pixels,
// which stand in IDAT for the first frame and in fdAT for the others.
namespace iap {
namespace {

constexpr std::size_t signature_size = 8, header_chunk_size = 25;

std::uint32_t read_big(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const unsigned char byte : bytes.substr(0, 4)) value = value << 8 | byte;
  return value;
}

void put_big(std::string& bytes, std::uint32_t value, int size = 4) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

std::string chunk(std::string_view type, std::string_view content) {
  std::string bytes;
  put_big(bytes, static_cast<std::uint32_t>(content.size()));
  bytes += type;
  bytes += content;
  put_big(bytes, crc32(std::string_view(bytes).substr(4)));
  return bytes;
}

/// The contents of a PNG's IDAT chunks.
std::vector<std::string_view> image_data(std::string_view png) {
  std::vector<std::string_view> found;
  for (std::size_t at = signature_size; at + 12 <= png.size();) {
    const std::size_t length = read_big(png.substr(at));
    if (png.substr(at + 4, 4) == "IDAT") found.push_back(png.substr(at + 8, length));
    at += length + 12;
  }
  return found;
}

struct Area {
  int left = 0, top = 0, width = 0, height = 0;
};

/// The smallest rectangle outside of which two images of the same shape are equal; one pixel if they are equal everywhere.
Area changed_area(const ImageView& before, const ImageView& now) {
  const int width = now.shape.width, height = now.shape.height;
  int left = width, right = -1, top = height, bottom = -1;
  for (int y = 0; y < height; ++y) {
    const std::size_t row = static_cast<std::size_t>(3) * width;
    const std::uint8_t *a = before.bytes() + row * y, *b = now.bytes() + row * y;
    if (std::memcmp(a, b, row) == 0) continue;
    top = std::min(top, y);
    bottom = y;
    const auto first = std::mismatch(a, a + row, b).first - a;
    auto last = static_cast<std::ptrdiff_t>(row) - 1;
    while (a[last] == b[last]) --last;
    left = std::min(left, static_cast<int>(first / 3));
    right = std::max(right, static_cast<int>(last / 3));
  }
  if (bottom < 0) return {0, 0, 1, 1};
  return {left, top, right - left + 1, bottom - top + 1};
}

Image cut(const ImageView& image, const Area& area) {
  Image part({area.height, area.width, 3, PixelType::uint8});
  const std::size_t row = static_cast<std::size_t>(3) * area.width;
  for (int y = 0; y < area.height; ++y)
    std::memcpy(part.bytes().data() + row * y,
                image.bytes() + 3 * (static_cast<std::size_t>(area.top + y) * image.shape.width + area.left), row);
  return part;
}

class ApngFile final : public AnimationWriter {
 public:
  ApngFile(const std::filesystem::path& path, const AnimationOptions& options)
      : name_(path.string()), options_(options), file_(path) {}

  void add(const ImageView& frame) override {
    check_animation_frame(name_, frame, shape_);
    const Area area = frames_ == 0 ? Area{0, 0, shape_.width, shape_.height} : changed_area(before_.view(), frame);
    const std::string png = encode_png(cut(frame, area).view());
    if (frames_ == 0) {
      file_.append(std::string_view(png).substr(0, signature_size + header_chunk_size));
      file_.append(frame_count());
    }
    file_.append(frame_control(area));
    for (const std::string_view data : image_data(png)) {
      if (frames_ == 0) {
        file_.append(chunk("IDAT", data));
        continue;
      }
      std::string content;
      put_big(content, sequence_++);
      content += data;
      file_.append(chunk("fdAT", content));
    }
    before_ = Image(shape_);
    std::copy_n(frame.bytes(), shape_.count(), before_.bytes().begin());
    ++frames_;
  }

  void finish() override {
    if (frames_ == 0) throw Error(text("cannot write '", name_, "': it has no frame"));
    file_.append(chunk("IEND", ""));
    file_.overwrite(signature_size + header_chunk_size, frame_count());
    file_.commit();
  }

 private:
  std::string frame_count() const {
    std::string content;
    put_big(content, static_cast<std::uint32_t>(frames_));
    put_big(content, 0);  // plays: without end
    return chunk("acTL", content);
  }

  std::string frame_control(const Area& area) {
    std::string content;
    put_big(content, sequence_++);
    for (const int value : {area.width, area.height, area.left, area.top}) put_big(content, static_cast<std::uint32_t>(value));
    const std::int64_t duration = frame_begin_ms(frames_ + 1, options_.fps) - frame_begin_ms(frames_, options_.fps);
    put_big(content, static_cast<std::uint32_t>(std::min(duration, std::int64_t{65535})), 2);
    put_big(content, 1000, 2);
    content += std::string(2, '\0');  // leave the frame as it is, replace what is below
    return chunk("fcTL", content);
  }

  std::string name_;
  AnimationOptions options_;
  PartFile file_;
  ImageShape shape_;
  Image before_;
  int frames_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<AnimationWriter> open_apng(const std::filesystem::path& path, const AnimationOptions& options) {
  return std::make_unique<ApngFile>(path, options);
}

}  // namespace iap
