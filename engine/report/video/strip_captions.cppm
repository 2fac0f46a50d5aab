module;
#include <span>
#include <string>
/// What stands below the pictures of a strip.
module iap.report:strip_captions;
import iap.core;

namespace iap {

struct StripCaption {
  std::string time;    ///< "12.4 s", or "step 31" where a step has no length
  std::string earned;  ///< "return 350"
};

/// After `steps` steps of `step_seconds` each (0: unknown), which earned `total`.
StripCaption strip_caption(int steps, double step_seconds, double total);

/// `strip`, made of pictures of `width` pixels that stand `gap` pixels apart, with a caption below each, in letters that can be
/// read where the strip is as wide as a page; `colours` adds the scale of a heat map.
Image with_captions(const Image& strip, int width, int gap, std::span<const StripCaption> captions, bool colours);

}  // namespace iap
