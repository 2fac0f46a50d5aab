module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;
import :internal;

namespace iap {
namespace {

/// V = X' W_V, W_V being c x dV, as in regular attention. It begins as N(0, 1/c).
class ProjectionValues final : public PatchValues {
 public:
  explicit ProjectionValues(const ValueContext& context)
      : grid_(context.grid),
        pixel_offset_(context.pixel_offset),
        columns_(read_projection_size(context.options)),
        offset_(context.layout.add(context.array("value"), {grid_.values(), columns_})),
        patch_(grid_.values()) {}
  int size() const override { return columns_; }
  void initialise(std::span<float> parameters, Random& random) const override {
    fill_normal(parameters.subspan(offset_, patch_.size() * columns_), 1 / std::sqrt(grid_.values()), random);
  }
  void bind(std::span<const float> parameters, std::span<const float> encoding) override {
    weights_ = parameters.subspan(offset_, patch_.size() * columns_);
    encoding_ = encoding;
  }
  void write(const ImageView& image, int patch, std::span<float> out) override {
    grid_.copy(image, patch, pixel_offset_, patch_);
    if (!encoding_.empty())
      for (std::size_t v = 0; v < patch_.size(); ++v) patch_[v] += encoding_[patch * patch_.size() + v];
    std::ranges::fill(out, 0.0F);
    for (std::size_t v = 0; v < patch_.size(); ++v)
      for (std::size_t column = 0; column < out.size(); ++column) out[column] += patch_[v] * weights_[v * out.size() + column];
  }

 private:
  PatchGrid grid_;
  float pixel_offset_;
  int columns_;
  std::size_t offset_;
  std::vector<float> patch_;
  std::span<const float> weights_, encoding_;
};

}  // namespace

int read_projection_size(Options& options) { return static_cast<int>(options.integer_in("dv", 1, 1 << 16, 8)); }

MadeValues make_projection_values(const ValueContext& context) { return std::make_unique<ProjectionValues>(context); }

}  // namespace iap
