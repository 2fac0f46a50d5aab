module;
#include <span>
#include <string>
#include <vector>
/// What stands below the pictures of a strip.
module iap.report:strip_captions;
import iap.core;

namespace iap {

struct StripCaption {
  std::string time;    ///< "12.4 s", or "step 31" where a step has no length
  std::string earned;  ///< "return 350"
};

/// When a picture of a strip was taken: after so many steps, which earned `total`.
struct StripMoment {
  int steps = 0;
  double total = 0;
};

/// Of pictures one after the other, with steps of `step_seconds` each (0: unknown): times with one digit behind the point, or with
/// as many as tell neighbours apart.
std::vector<StripCaption> strip_captions(std::span<const StripMoment> moments, double step_seconds);

/// `strip`, made of pictures of `width` pixels that stand `gap` pixels apart, with a caption below each, in letters that can be
/// read where the strip is as wide as a page; `lowest` adds the scale of a heat map, unless it is "", and names its lower end.
Image with_captions(const Image& strip, int width, int gap, std::span<const StripCaption> captions, const std::string& lowest);

}  // namespace iap
