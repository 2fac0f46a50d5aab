module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import :attention_parts;
import :retina;

namespace iap {
namespace {

/// Adds one row of `width` x `channels` values to the sums of its columns.
void add_row(const std::uint8_t* row, std::span<std::uint32_t> sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i];
}

}  // namespace

/// @lua options attention.retina
/// What happens to a picture before a block looks at it.
/// @option pool integer 1..1024 = 1 - the image is averaged over so many pixels in both directions first
/// @option contrast "none"|"frame"|"episode" = "none" - look at what changed: against the frame before, or the mean of the
/// episode's frames so far
/// @see eyes.md#what-moves
Retina::Retina(Options& options, const ObservationSpec& observation)
    : index_(read_image(options, observation)),
      name_(observation.images[index_].name),
      pool_(static_cast<int>(options.integer_in("pool", 1, 1 << 10, 1))),
      shape_(observation.images[index_].shape),
      contrast_name_(options.choice("contrast", {"none", "frame", "episode"}, "none")) {
  if (shape_.height < pool_ || shape_.width < pool_)
    options.fail(text("option 'pool' is ", pool_, ", but the image has only ", shape_.height, " x ", shape_.width, " pixels"));
  const std::size_t sums = pool_ > 1 ? static_cast<std::size_t>(shape_.width / pool_ * pool_) * shape_.channels : 0;
  shape_.height /= pool_;
  shape_.width /= pool_;
  const auto against = contrast_name_ == "frame" ? Contrast::Against::frame : Contrast::Against::episode;
  const double averages = pool_ > 1 ? static_cast<double>(sums * sizeof(std::uint32_t) + shape_.bytes()) : 0.0;
  check_memory(text(options.owner(), ": the image that it looks at"),
               averages + (contrast_name_ != "none" ? Contrast::bytes(against, shape_) : 0.0));
  if (pool_ > 1) {
    sums_.resize(sums);
    pooled_ = Image(shape_);
    view_ = pooled_.view();
  }
  if (contrast_name_ != "none") contrast_.emplace(against, shape_);
}

float Retina::pixel_offset(Options& options) const {
  const bool centred = contrast_ && shape_.type == PixelType::float32;
  return static_cast<float>(options.number_in("pixel_offset", -1, 1, centred ? 0 : -0.5));
}

std::string Retina::describe() const {
  return text(pool_ > 1 ? text(", pool ", pool_) : "", contrast_ ? ", contrast " + contrast_name_ : "");
}

void Retina::reset() {
  if (contrast_) contrast_->reset();
}

const ImageView& Retina::look(const Observation& observation) {
  const ImageView* image = &observation.images[index_];
  if (pool_ > 1) {
    average(*image);
    image = &view_;
  }
  return contrast_ ? contrast_->look(*image) : *image;
}

void Retina::average(const ImageView& image) {
  const std::size_t channels = shape_.channels, width = shape_.width, pool = pool_, count = pool * pool;
  const std::size_t pitch = static_cast<std::size_t>(image.shape.width) * channels;
  for (std::size_t y = 0; y < static_cast<std::size_t>(shape_.height); ++y) {
    check_interrupt();
    const std::size_t begin = y * pool * pitch, target = y * width * channels;
    if (shape_.type == PixelType::float32) {
      for (std::size_t x = 0; x < width; ++x)
        for (std::size_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (std::size_t i = 0; i < count; ++i)
            sum += image.floats()[begin + i / pool * pitch + (x * pool + i % pool) * channels + c];
          pooled_.floats()[target + x * channels + c] = static_cast<float>(sum / static_cast<double>(count));
        }
      continue;
    }
    std::ranges::fill(sums_, 0);
    for (std::size_t row = 0; row < pool; ++row) add_row(image.bytes() + begin + row * pitch, sums_);
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t c = 0; c < channels; ++c) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < pool; ++i) sum += sums_[(x * pool + i) * channels + c];
        pooled_.bytes()[target + x * channels + c] = static_cast<std::uint8_t>((2 * sum + count) / (2 * count));
      }
  }
}

}  // namespace iap
