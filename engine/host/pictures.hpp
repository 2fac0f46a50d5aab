#pragma once
// Pictures and vectors between the caller and the engine.
#include <cstddef>
#include <memory>

#include "host/structs.hpp"
import iap.core;
import iap.env;

namespace iap::host {

/// The body of the functions that describe image number `index` of those that are seen. `whose`: "the policy sees".
void describe_image(const char* function, const char* whose, const ObservationSpec& seen, std::size_t index, iap_image_spec* spec);

/// The body of the functions that show: points the caller's `images` and `vector` at what is seen. @throws BadArgument, and nothing
/// is filled then.
void show(const char* function, const ObservationSpec& spec, const Observation& seen, iap_image* images, std::size_t image_count,
          const float** vector);

/// Reads one of the pictures that a policy sees.
class PictureReader {
 public:
  explicit PictureReader(ImageSpec spec);
  ~PictureReader();
  PictureReader(PictureReader&&) noexcept;

  /// `given` as the policy sees it: in place where it lies as the engine wants it, else in memory of the reader.
  /// @throws BadArgument naming images[index].
  ImageView read(const char* function, const iap_image& given, std::size_t index);

 private:
  struct Resizer;

  ImageView arranged(const iap_image& given, const ImageShape& shape);
  ImageView resized(const ImageView& picture);

  ImageSpec spec_;
  Image copy_;
  std::unique_ptr<Resizer> resizer_;
};

}  // namespace iap::host
