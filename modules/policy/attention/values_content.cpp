module;
#include <memory>
#include <span>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;

namespace iap {
namespace {

/// The patch's pixels plus the pixel offset; a position encoding is not in them.
class ContentValues final : public PatchValues {
 public:
  explicit ContentValues(const ValueContext& context) : grid_(context.grid), pixel_offset_(context.pixel_offset) {}
  int size() const override { return grid_.values(); }
  void write(const ImageView& image, int patch, std::span<float> out) override { grid_.copy(image, patch, pixel_offset_, out); }

 private:
  PatchGrid grid_;
  float pixel_offset_;
};

}  // namespace

MadeValues make_content_values(const ValueContext& context) { return std::make_unique<ContentValues>(context); }

}  // namespace iap
