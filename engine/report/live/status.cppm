module;
#include <string>
/// What stands below the picture of a live episode.
module iap.report:status;
import iap.core;

namespace iap {

struct LiveStatus {
  std::string left, right;  ///< of the first line
  std::string below;        ///< the second line
  bool steered = false;     ///< a person acts: the whole picture says so, in red
};

/// The rows that `with_status` adds.
int status_height();
/// `picture` with two lines below it.
Image with_status(const Image& picture, const LiveStatus& status);

}  // namespace iap
