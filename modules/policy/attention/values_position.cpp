module;
#include <memory>
#include <span>
#include <tuple>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;

namespace iap {
namespace {

/// (row, column) of the patch's centre.
class PositionValues final : public PatchValues {
 public:
  explicit PositionValues(const ValueContext& context) : grid_(context.grid), position_(context.position) {}
  int size() const override { return 2; }
  void write(const ImageView&, int patch, std::span<float> out) override { std::tie(out[0], out[1]) = position_(grid_, patch); }

 private:
  PatchGrid grid_;
  PositionForm position_;
};

}  // namespace

MadeValues make_position_values(const ValueContext& context) { return std::make_unique<PositionValues>(context); }

}  // namespace iap
