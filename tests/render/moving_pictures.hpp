#pragma once
#include <unistd.h>
#include <webp/demux.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

import iap.core;
import iap.render;

/// A decoded animation.
struct Moving {
  std::vector<iap::Image> frames;
  std::vector<int> begins, durations;  ///< milliseconds
  int plays = -1;                      ///< 0: without end
};

/// By libwebp's own decoder.
inline Moving decode_webp(const std::string& file) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(WebPAnimDecoderNew(&data, nullptr),
                                                                             WebPAnimDecoderDelete);
  WebPAnimInfo info;
  if (!decoder || !WebPAnimDecoderGetInfo(decoder.get(), &info)) throw std::runtime_error("not a WebP animation");
  Moving moving;
  moving.plays = static_cast<int>(info.loop_count);
  int before = 0;
  while (WebPAnimDecoderHasMoreFrames(decoder.get())) {
    std::uint8_t* rgba = nullptr;
    int end = 0;
    if (!WebPAnimDecoderGetNext(decoder.get(), &rgba, &end)) throw std::runtime_error("a broken frame");
    iap::Image frame({static_cast<int>(info.canvas_height), static_cast<int>(info.canvas_width), 3, iap::PixelType::uint8});
    for (std::size_t i = 0; i < frame.shape().count(); ++i) frame.bytes()[i] = rgba[i / 3 * 4 + i % 3];
    moving.frames.push_back(std::move(frame));
    moving.begins.push_back(before);
    moving.durations.push_back(end - before);
    before = end;
  }
  return moving;
}

/// Reads APNG by its specification: each frame becomes a PNG of its own, which read_png decodes, laid onto the one before.
class ApngDecoder {
 public:
  explicit ApngDecoder(std::string file) : file_(std::move(file)) {}

  Moving decode() {
    if (file_.substr(0, 8) != signature) throw std::runtime_error("not a PNG");
    for (std::size_t at = 8; at < file_.size();) at = chunk(at);
    flush();
    if (moving_.frames.size() != announced_) throw std::runtime_error("acTL announces another number of frames");
    return std::move(moving_);
  }

 private:
  static std::uint32_t big(std::string_view bytes, int size = 4) {
    std::uint32_t value = 0;
    for (int i = 0; i < size; ++i) value = value * 256 + static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    return value;
  }
  static std::string put(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
  }
  static std::string make_chunk(const std::string& type, const std::string& content) {
    return put(static_cast<std::uint32_t>(content.size())) + type + content + put(iap::crc32(type + content));
  }
  void in_sequence(std::string_view content) {
    if (big(content) != sequence_++) throw std::runtime_error("a chunk out of sequence");
  }

  std::size_t chunk(std::size_t at) {
    const std::size_t length = big(std::string_view(file_).substr(at));
    const std::string type = file_.substr(at + 4, 4), content = file_.substr(at + 8, length);
    if (big(std::string_view(file_).substr(at + 8 + length)) != iap::crc32(type + content)) throw std::runtime_error("a wrong CRC");
    if (type == "IHDR") header_ = content;
    if (type == "acTL") announced_ = big(content), moving_.plays = static_cast<int>(big(content.substr(4)));
    if (type == "fcTL") {
      flush();
      in_sequence(content);
      control_ = content;
    }
    if (type == "IDAT") pixels_ += make_chunk("IDAT", content);
    if (type == "fdAT") {
      in_sequence(content);
      pixels_ += make_chunk("IDAT", content.substr(4));
    }
    return at + length + 12;
  }

  void flush() {
    if (control_.empty()) return;
    const auto field = [&](std::size_t at) { return big(std::string_view(control_).substr(at)); };
    const int width = static_cast<int>(field(4)), left = static_cast<int>(field(12)), top = static_cast<int>(field(16));
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("iap_apng_" + std::to_string(::getpid()) + ".png");
    iap::write_file_atomic(
        path, signature + make_chunk("IHDR", control_.substr(4, 8) + header_.substr(8)) + pixels_ + make_chunk("IEND", ""));
    const iap::Image part = iap::read_png(path);
    std::filesystem::remove(path);
    iap::Image frame =
        moving_.frames.empty()
            ? iap::Image({static_cast<int>(big(header_.substr(4))), static_cast<int>(big(header_)), 3, iap::PixelType::uint8})
            : moving_.frames.back();
    for (int y = 0; y < part.shape().height; ++y)
      std::memcpy(&frame.bytes()[3 * (static_cast<std::size_t>(top + y) * frame.shape().width + left)],
                  &part.bytes()[static_cast<std::size_t>(3) * width * y], static_cast<std::size_t>(3) * width);
    const int delay =
        static_cast<int>(1000 * big(std::string_view(control_).substr(20), 2) / big(std::string_view(control_).substr(22), 2));
    moving_.begins.push_back(moving_.begins.empty() ? 0 : moving_.begins.back() + moving_.durations.back());
    moving_.durations.push_back(delay);
    moving_.frames.push_back(std::move(frame));
    control_.clear();
    pixels_.clear();
  }

  inline static const std::string signature = "\x89PNG\r\n\x1a\n";
  std::string file_, header_, control_, pixels_;
  std::size_t announced_ = 0;
  std::uint32_t sequence_ = 0;
  Moving moving_;
};
