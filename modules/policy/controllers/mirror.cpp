module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

/// "" or why `block`, or one inside it, cannot be asked twice a step.
std::string memory_of(const Block& block) {
  if (const std::string why = block.memory(); !why.empty()) return text("'", block.path(), "' ", why);
  for (const auto& child : block.children())
    if (auto why = memory_of(*child); !why.empty()) return why;
  return "";
}

/// -1 for each of the `size` numbers of `what` that option `key` names, else 1.
std::vector<float> read_signs(Options& options, const char* key, std::int64_t size, const char* what) {
  std::vector<float> signs(static_cast<std::size_t>(size), 1);
  const auto numbers = options.integers(key, std::vector<std::int64_t>{});
  check_numbers(options, key, numbers, size, what);
  for (const std::int64_t number : numbers) signs[static_cast<std::size_t>(number - 1)] = -1;
  return signs;
}

template <typename T>
void flip(const T* from, const ImageShape& shape, std::span<T> to) {
  const auto width = static_cast<std::size_t>(shape.width), channels = static_cast<std::size_t>(shape.channels);
  for (std::size_t row = 0; row < to.size(); row += width * channels)
    for (std::size_t column = 0; column < width; ++column)
      std::copy_n(from + row + (width - 1 - column) * channels, channels,
                  to.begin() + static_cast<std::ptrdiff_t>(row + column * channels));
}

/// A policy that treats left and right alike: with f the block, o the observation and o' its mirror image, (f(o) + f(o')) / 2, and
/// (f(o) - f(o')) / 2 for the numbers named by `odd`. f gets the observation's vector, whatever the mirror reads.
class Mirror final : public Block {
 public:
  Mirror(std::unique_ptr<Block> block, std::vector<float> signs, std::vector<float> vector_signs, const BlockContext& context)
      : Block(context, block->outputs()),
        signs_(std::move(signs)),
        vector_signs_(std::move(vector_signs)),
        vector_(vector_signs_.size()),
        mirrored_(signs_.size()),
        given_(signs_.size()) {
    block_.push_back(std::move(block));
    images_.reserve(context.observation->images.size());
    for (const auto& image : context.observation->images) images_.emplace_back(image.shape);
    for (const Image& image : images_) views_.push_back(image.view());
  }
  std::string_view kind() const override { return "mirror"; }
  std::string memory() const override { return ""; }
  std::string describe() const override { return text("odd ", std::ranges::count(signs_, -1.0F), " of ", signs_.size()); }
  std::span<const std::unique_ptr<Block>> children() const override { return block_; }

  // The mirror image first: what the block then remembers of its last call, for pictures and tables, is of the world as it is.
  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    check_interrupt();  // mirrors in mirrors ask what stands inside twice each
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const ImageView& seen = observation.images[i];
      if (seen.shape.type == PixelType::uint8)
        flip(seen.bytes(), seen.shape, images_[i].bytes());
      else
        flip(seen.floats(), seen.shape, images_[i].floats());
    }
    for (std::size_t i = 0; i < vector_.size(); ++i) vector_[i] = vector_signs_[i] * observation.vector[i];
    block_[0]->run({.images = views_, .vector = vector_}, vector_, mirrored_);
    block_[0]->run(observation, observation.vector, given_);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = 0.5F * given_[i] + 0.5F * signs_[i] * mirrored_[i];
  }

 private:
  std::vector<std::unique_ptr<Block>> block_;
  std::vector<float> signs_, vector_signs_, vector_, mirrored_, given_;
  std::vector<Image> images_;
  std::vector<ImageView> views_;
};

}  // namespace

/// @lua function iap.policy.mirror
/// Makes a block treat left and right alike. It is asked twice, once with the observation's pictures flipped left to right: what it
/// hands over is the mean of both or, of odd numbers, half their difference. A robot that steers by one side's walls so steers by
/// the other's. The block reads the observation's vector, whatever the mirror reads, and must not remember: no memory, clock,
/// difference to the frame before or block in Lua.
/// @option block blueprint - what looks and decides
/// @option odd integer[] = {} - numbers, from 1, of what it hands over that change sign in a mirror: a turn, a step aside
/// @option odd_inputs integer[] = {} - numbers of the observation's vector that do: a sideways speed, the sine of a heading
/// @use policy.block
/// @return blueprint - with the block's parameters
/// @example iap.policy.mirror { block = iap.policy.cnn { layers = { { channels = 2 } } }, odd = { 1 } }
/// @see controllers.md#left-and-right
MadeBlock make_mirror(Options& options, const BlockContext& context, ParameterLayout& layout) {
  BlockContext inside = context;
  inside.inputs = context.observation->vector;
  inside.path = child_path(context.path, 1, options.value("block"));
  auto block = make_inside(options, "block", inside, layout);
  if (const std::string why = memory_of(*block); !why.empty())
    options.fail(text(why, ", and a mirror asks its block twice a step; put it outside the mirror"));
  double bytes = sizeof(float) * (3.0 * block->outputs() + 2.0 * context.observation->vector);
  for (const auto& image : context.observation->images)
    bytes += static_cast<double>(image.shape.bytes() + sizeof(Image) + sizeof(ImageView));
  check_memory(text(options.owner(), ": what it sees in the mirror"), bytes);
  auto signs = read_signs(options, "odd", block->outputs(), "what the block hands over");
  auto vector_signs = read_signs(options, "odd_inputs", context.observation->vector, "the observation's vector");
  return std::make_unique<Mirror>(std::move(block), std::move(signs), std::move(vector_signs), context);
}

}  // namespace iap
