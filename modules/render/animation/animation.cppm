module;
#include <filesystem>
#include <memory>
#include <string>
export module iap.render:animation;
import iap.core;

export namespace iap {

struct AnimationOptions {
  double fps = 25;   ///< frames a second, in (0, 1000]; browsers show more than 50 slowly
  int quality = 80;  ///< of a WebP, 0 to 100
};

/// A moving picture, one frame after another. Frames are 8-bit RGB, all of the first one's size.
class AnimationWriter {
 public:
  virtual ~AnimationWriter() = default;
  /// Encodes a frame. @throws Error naming the file for a frame that does not fit, and when it cannot be written.
  virtual void add(const ImageView& frame) = 0;
  /// Puts the whole picture in its place; without this call nothing of it remains. @throws Error, also if it has no frame.
  virtual void finish() = 0;
};

/// The endings that `open_animation` knows, in words: ".webp, .png, .apng, .mp4".
std::string animation_endings();

/// What a path's ending asks for: ".webp" (lossy, repeats for ever), ".png" or ".apng" (exact, repeats for ever), ".mp4" (by the
/// program `ffmpeg`, if it is on the PATH). Frames are encoded as they come: what stays in memory is the encoded part of a WebP,
/// and one frame of the others. The file appears whole, when it is finished. @throws Error naming the path for another ending, an
/// option out of range, a folder that cannot be written, and for a missing ffmpeg.
std::unique_ptr<AnimationWriter> open_animation(const std::filesystem::path& path, const AnimationOptions& options);

/// An animated WebP in memory; with one frame, a picture that stands still.
class WebpAnimation {
 public:
  /// `name` stands for it in messages. @throws Error for an option out of range.
  WebpAnimation(std::string name, const AnimationOptions& options);
  ~WebpAnimation();
  WebpAnimation(WebpAnimation&&) noexcept;
  /// @throws Error for a frame that does not fit.
  void add(const ImageView& frame);
  /// The file; ends the animation. @throws Error if it has no frame.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace iap
