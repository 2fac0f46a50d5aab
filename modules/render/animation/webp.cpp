module;
#include <webp/encode.h>
#include <webp/mux.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
module iap.render;
import iap.core;
#include "animation_formats.hpp"

namespace iap {
namespace {

struct EndEncoder {
  void operator()(WebPAnimEncoder* encoder) const { WebPAnimEncoderDelete(encoder); }
};

struct EndMux {
  void operator()(WebPMux* mux) const { WebPMuxDelete(mux); }
};
using Mux = std::unique_ptr<WebPMux, EndMux>;

/// A file of one pixel through which the frame before is seen, as libwebp has it where it holds a frame for longer than the format
/// can say.
constexpr std::array<std::uint8_t, 28> transparent_pixel{0x52, 0x49, 0x46, 0x46, 0x14, 0x00, 0x00, 0x00, 0x57, 0x45,
                                                         0x42, 0x50, 0x56, 0x50, 0x38, 0x4c, 0x08, 0x00, 0x00, 0x00,
                                                         0x2f, 0x00, 0x00, 0x00, 0x10, 0x88, 0x88, 0x08};

/// A frame as the encoder wants it.
class Picture {
 public:
  explicit Picture(const ImageView& frame) {
    valid_ = WebPPictureInit(&picture_) != 0;
    picture_.use_argb = 1;
    picture_.width = frame.shape.width;
    picture_.height = frame.shape.height;
    valid_ = valid_ && WebPPictureImportRGB(&picture_, frame.bytes(), 3 * frame.shape.width);
  }
  ~Picture() { WebPPictureFree(&picture_); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  WebPPicture* get() { return valid_ ? &picture_ : nullptr; }

 private:
  WebPPicture picture_{};
  bool valid_;
};

}  // namespace

struct WebpAnimation::Impl {
  Impl(std::string name_, const AnimationOptions& options_) : name(std::move(name_)), options(options_) {
    check_animation_options(name, options);
    if (!WebPConfigPreset(&config, WEBP_PRESET_DRAWING, static_cast<float>(options.quality)))
      throw Error(text("cannot write '", name, "': libwebp is of another version than the one this was built with"));
    config.method = 2;  // half the time of the default 4 for a few percent in size
  }
  [[noreturn]] void fail() const {
    throw Error(text("cannot write '", name, "': ", encoder ? WebPAnimEncoderGetError(encoder.get()) : "out of memory"));
  }
  /// When frame `index` begins. The format has 24 bits for a frame's milliseconds, its encoder an int for all of them.
  int begin_ms(int index) const {
    constexpr std::int64_t longest_frame = (1 << 24) - 1;
    const std::int64_t at = frame_begin_ms(index, options.fps);
    if (frame_begin_ms(1, options.fps) > longest_frame || at > std::numeric_limits<int>::max())
      throw Error(text("cannot write '", name, "': a WebP holds frames of 4.6 hours and 24 days of them at most; of fps = ",
                       options.fps, " frame ", index + 1, " does not fit, choose a higher fps"));
    return static_cast<int>(at);
  }
  void begin(const ImageView& frame) {
    WebPAnimEncoderOptions layout;
    if (!WebPAnimEncoderOptionsInit(&layout)) fail();
    layout.anim_params.loop_count = 0;
    // Key frames let players seek; one every few seconds is enough.
    layout.kmin = 29;
    layout.kmax = 90;
    encoder.reset(WebPAnimEncoderNew(frame.shape.width, frame.shape.height, &layout));
    if (!encoder) fail();
  }

  std::string separated(const WebPData& merged) const;

  std::string name;
  AnimationOptions options;
  WebPConfig config{};
  std::unique_ptr<WebPAnimEncoder, EndEncoder> encoder;
  ImageShape shape;
  int frames = 0;
};

/// The encoder lets a frame that hardly differs from the one before prolong it, and makes a still of a film in which nothing moves.
/// Here each has its place in the file again: one that changes a single pixel into nothing.
std::string WebpAnimation::Impl::separated(const WebPData& merged) const {
  const auto check = [&](bool done) {
    if (!done)
      throw Error(
          text("cannot write '", name, "': libwebp cannot join its frames; where memory is short, choose fewer or smaller ones"));
  };
  const Mux from(WebPMuxCreate(&merged, 0)), to(WebPMuxNew());
  check(from && to);
  int held = 0;
  check(WebPMuxNumChunks(from.get(), WEBP_CHUNK_ANMF, &held) == WEBP_MUX_OK);
  if (frames == 1 || held == frames) return {reinterpret_cast<const char*>(merged.bytes), merged.size};
  const WebPMuxAnimParams forever{.bgcolor = 0xFFFFFFFF, .loop_count = 0};
  check(WebPMuxSetAnimationParams(to.get(), &forever) == WEBP_MUX_OK);
  const auto push = [&](WebPMuxFrameInfo frame, int index, WebPMuxAnimDispose dispose) {
    frame.id = WEBP_CHUNK_ANMF;
    frame.duration = begin_ms(index + 1) - begin_ms(index);
    frame.dispose_method = dispose;
    check(WebPMuxPushFrame(to.get(), &frame, 1) == WEBP_MUX_OK);
  };
  const WebPMuxFrameInfo unchanged{.bitstream = {transparent_pixel.data(), transparent_pixel.size()},
                                   .blend_method = WEBP_MUX_BLEND};
  for (int index = 0, end = 0; index < frames;) {
    WebPMuxFrameInfo frame{};
    check(WebPMuxGetFrame(from.get(), 1, &frame) == WEBP_MUX_OK);
    const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&frame.bitstream, WebPDataClear);
    check(WebPMuxDeleteFrame(from.get(), 1) == WEBP_MUX_OK);
    end = held == 0 ? begin_ms(frames) : end + frame.duration;
    // A frame that clears its place when it ends does so after its last repetition, which is drawn anew until then.
    const auto dispose = frame.dispose_method;
    const WebPMuxFrameInfo& again = dispose == WEBP_MUX_DISPOSE_NONE ? unchanged : frame;
    for (bool first = true; index < frames && begin_ms(index) < end; ++index, first = false)
      push(first ? frame : again, index, begin_ms(index + 1) < end ? WEBP_MUX_DISPOSE_NONE : dispose);
  }
  WebPData data;
  WebPDataInit(&data);
  const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&data, WebPDataClear);
  check(WebPMuxAssemble(to.get(), &data) == WEBP_MUX_OK);
  return {reinterpret_cast<const char*>(data.bytes), data.size};
}

WebpAnimation::WebpAnimation(std::string name, const AnimationOptions& options)
    : impl_(std::make_unique<Impl>(std::move(name), options)) {}
WebpAnimation::~WebpAnimation() = default;
WebpAnimation::WebpAnimation(WebpAnimation&&) noexcept = default;

void WebpAnimation::add(const ImageView& frame) {
  check_animation_frame(impl_->name, frame, impl_->shape);
  if (!impl_->encoder) impl_->begin(frame);
  Picture picture(frame);
  const int begin = impl_->begin_ms(impl_->frames);
  if (!picture.get() || !WebPAnimEncoderAdd(impl_->encoder.get(), picture.get(), begin, &impl_->config)) impl_->fail();
  ++impl_->frames;
}

std::string WebpAnimation::finish() {
  if (impl_->frames == 0) throw Error(text("cannot write '", impl_->name, "': it has no frame"));
  WebPData data;
  WebPDataInit(&data);
  const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&data, WebPDataClear);
  const int end = impl_->begin_ms(impl_->frames);
  if (!WebPAnimEncoderAdd(impl_->encoder.get(), nullptr, end, nullptr) || !WebPAnimEncoderAssemble(impl_->encoder.get(), &data))
    impl_->fail();
  return impl_->separated(data);
}

namespace {

class WebpFile final : public AnimationWriter {
 public:
  WebpFile(const std::filesystem::path& path, const AnimationOptions& options) : path_(path), animation_(path.string(), options) {}
  void add(const ImageView& frame) override { animation_.add(frame); }
  void finish() override { write_file_atomic(path_, animation_.finish()); }

 private:
  std::filesystem::path path_;
  WebpAnimation animation_;
};

}  // namespace

std::unique_ptr<AnimationWriter> open_webp(const std::filesystem::path& path, const AnimationOptions& options) {
  return std::make_unique<WebpFile>(path, options);
}

}  // namespace iap
