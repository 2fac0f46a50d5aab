module;
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
/// The image that a block looks at.
module iap.policy:retina;
import iap.core;

namespace iap {

/// What changed in an image since the frame before, or against the mean of the episode's frames before: what stands still fades.
/// Bytes are 128 + the difference, clipped to 0 ... 255, so that with pixel_offset -0.5 an unchanged pixel counts as 128 / 255 -
/// 0.5 = 0.002, half a grey level from 0; floats are the difference, so that with pixel_offset 0 it counts as 0. All of an
/// episode's first frame is unchanged.
class Contrast {
 public:
  enum class Against : std::uint8_t { frame, episode };

  Contrast(Against against, const ImageShape& shape);
  /// Bytes that it takes.
  static double bytes(Against against, const ImageShape& shape);
  void reset() { frames_ = 0; }
  /// Borrowed until the next call.
  const ImageView& look(const ImageView& image);

 private:
  Against against_;
  std::uint32_t frames_ = 0;  // in the sums, or whether there was one
  Image before_, changed_;
  ImageView view_;
  std::vector<std::uint32_t> sums_;  // of the episode's bytes
  std::vector<double> float_sums_;
};

/// The image of the observation that option `image` names (the first by default), or its pool x pool averages (option `pool`, 1): a
/// block then sees what a camera of a pool-th of the size would, antialiased, and its patches are `pool` times as large in the
/// image. Rows and columns at the end that fill no average are left out. Option `contrast` ("none") shows what changed instead,
/// "frame" or "episode": see Contrast.
class Retina {
 public:
  Retina(Options& options, const ObservationSpec& observation);

  const std::string& name() const { return name_; }
  int pool() const { return pool_; }
  /// Of what `look` returns.
  const ImageShape& shape() const { return shape_; }
  /// Reads option `pixel_offset`, what is added to pixels: by default -0.5, which centres [0, 1]; 0 for floats with `contrast`, as
  /// their changes are around 0 already.
  float pixel_offset(Options& options) const;
  /// ", pool 2, contrast frame": what is not as by default.
  std::string describe() const;
  /// Whether what `look` shows depends on the frames before.
  bool compares_frames() const { return contrast_.has_value(); }
  /// An episode begins.
  void reset();
  /// Once a frame. Borrowed until the next call, or from the observation where it is shown as it is.
  const ImageView& look(const Observation& observation);

 private:
  void average(const ImageView& image);

  std::size_t index_;
  std::string name_;
  int pool_;
  ImageShape shape_;
  std::string contrast_name_;
  std::optional<Contrast> contrast_;
  Image pooled_;
  ImageView view_;
  std::vector<std::uint32_t> sums_;  // of one column of pixels within a row of averages
};

}  // namespace iap
