module;
#include <cstddef>
#include <span>
#include <string>
#include <utility>
export module iap.attention:patches;
import iap.core;

export namespace iap {

/// Square patches of an image (facts: a = floor((H-p)/s)+1 rows, b columns, L = a b, c = p p C values; patch i b + j is row-major).
class PatchGrid {
 public:
  /// `owner` is named in errors. @throws Error if size or stride is not positive or no patch fits.
  PatchGrid(const ImageShape& image, int size, int stride, const std::string& owner);

  const ImageShape& image() const { return image_; }
  int size() const { return size_; }
  int stride() const { return stride_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int count() const { return rows_ * columns_; }                  ///< L
  int values() const { return size_ * size_ * image_.channels; }  ///< c
  /// Centre of patch `index` as (row, column), each in [0, 1] of the image's height and width.
  std::pair<float, float> centre(int index) const;
  /// Copies patch `index` as c floats: row, column, channel order; uint8 becomes value/255, then `offset` is added.
  void copy(const ImageView& image, int index, float offset, std::span<float> out) const;

 private:
  ImageShape image_;
  int size_, stride_, rows_, columns_;
};

}  // namespace iap
