module;
#include <webp/encode.h>
#include <webp/mux.h>

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
  /// When the next frame begins. The format has 24 bits for a frame's milliseconds, its encoder an int for all of them.
  int begin_ms() const {
    constexpr std::int64_t longest_frame = (1 << 24) - 1;
    const std::int64_t at = frame_begin_ms(frames, options.fps);
    if (frame_begin_ms(1, options.fps) > longest_frame || at > std::numeric_limits<int>::max())
      throw Error(text("cannot write '", name, "': a WebP holds frames of 4.6 hours and 24 days of them at most; of fps = ",
                       options.fps, " frame ", frames + 1, " does not fit, choose a higher fps"));
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

  std::string name;
  AnimationOptions options;
  WebPConfig config{};
  std::unique_ptr<WebPAnimEncoder, EndEncoder> encoder;
  ImageShape shape;
  int frames = 0;
};

WebpAnimation::WebpAnimation(std::string name, const AnimationOptions& options)
    : impl_(std::make_unique<Impl>(std::move(name), options)) {}
WebpAnimation::~WebpAnimation() = default;
WebpAnimation::WebpAnimation(WebpAnimation&&) noexcept = default;

void WebpAnimation::add(const ImageView& frame) {
  check_animation_frame(impl_->name, frame, impl_->shape);
  if (!impl_->encoder) impl_->begin(frame);
  Picture picture(frame);
  const int begin = impl_->begin_ms();
  if (!picture.get() || !WebPAnimEncoderAdd(impl_->encoder.get(), picture.get(), begin, &impl_->config)) impl_->fail();
  ++impl_->frames;
}

std::string WebpAnimation::finish() {
  if (impl_->frames == 0) throw Error(text("cannot write '", impl_->name, "': it has no frame"));
  WebPData data;
  WebPDataInit(&data);
  const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&data, WebPDataClear);
  const int end = impl_->begin_ms();
  if (!WebPAnimEncoderAdd(impl_->encoder.get(), nullptr, end, nullptr) || !WebPAnimEncoderAssemble(impl_->encoder.get(), &data))
    impl_->fail();
  return {reinterpret_cast<const char*>(data.bytes), data.size};
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
