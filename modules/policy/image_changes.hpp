// Include <cstddef> and <string> first, and import iap.core and iap.policy.
#pragma once

namespace iap {

/// "from 60x80 to 120x160", for each image whose size is another one; "" where none is, or where there are not as many images.
inline std::string image_changes(const ObservationSpec& before, const ObservationSpec& now) {
  std::string changes;
  for (std::size_t i = 0; i < before.images.size() && before.images.size() == now.images.size(); ++i) {
    const ImageShape &was = before.images[i].shape, &is = now.images[i].shape;
    if (was.height != is.height || was.width != is.width)
      changes += text(changes.empty() ? "" : ", ", "from ", was.height, "x", was.width, " to ", is.height, "x", is.width);
  }
  return changes;
}

}  // namespace iap
