module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>
/// The image that an attention block looks at.
module iap.policy:pooled_image;
import iap.core;

namespace iap {

/// The image of the observation that option `image` names (the first by default), or its pool x pool averages (option `pool`, 1): a
/// block then sees what a camera of a pool-th of the size would, antialiased, and its patches are `pool` times as large in the
/// image. Rows and columns at the end that fill no average are left out.
class PooledImage {
 public:
  PooledImage(Options& options, const ObservationSpec& observation);

  const std::string& name() const { return name_; }
  int pool() const { return pool_; }
  /// Of what `look` returns.
  const ImageShape& shape() const { return shape_; }
  /// Borrowed until the next call, or from the observation where nothing is pooled.
  const ImageView& look(const Observation& observation);

 private:
  void average(const ImageView& image);

  std::size_t index_;
  std::string name_;
  int pool_;
  ImageShape shape_;
  Image pooled_;
  ImageView view_;
  std::vector<std::uint32_t> sums_;  // of one column of pixels within a row of averages
};

}  // namespace iap
