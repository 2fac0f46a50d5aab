#include "host/pictures.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.env;

namespace iap::host {
namespace {

std::int32_t pixel_of(PixelType type) { return type == PixelType::uint8 ? IAP_UINT8 : IAP_FLOAT32; }

template <typename Value>
void swap_red_and_blue(std::span<Value> values, std::size_t channels) {
  for (std::size_t at = 0; at + 2 < values.size(); at += channels) std::swap(values[at], values[at + 2]);
}

bool is_swapped(const iap_image& given, const ImageShape& shape) { return given.order == IAP_BGR && shape.channels >= 3; }

/// Where the caller has what is value `index` as the engine has it: red and blue may stand the other way about.
std::size_t given_place(std::size_t index, const iap_image& given, const ImageShape& shape) {
  constexpr std::size_t red_to_blue = 2;
  const std::size_t channel = index % static_cast<std::size_t>(shape.channels);
  if (!is_swapped(given, shape) || channel > red_to_blue) return index;
  return index - channel + (red_to_blue - channel);
}

/// A picture held out to the engine's resizing, which works on environments.
class Shown final : public Env {
 public:
  explicit Shown(const ImageSpec& image) {
    spec_.name = "picture";
    spec_.observation.images = {image};
  }
  void show(const ImageView& picture) { picture_ = picture; }

  const EnvSpec& spec() const override { return spec_; }
  void reset(std::uint64_t) override {}
  StepResult step(std::span<const float>) override { return {}; }
  Observation observe() override { return {{&picture_, 1}, {}}; }

 private:
  EnvSpec spec_;
  ImageView picture_;
};

}  // namespace

void describe_image(const char* function, const char* whose, const ObservationSpec& seen, std::size_t index, iap_image_spec* spec) {
  check_struct(function, "'spec'", "iap_image_spec", spec);
  require(index < seen.images.size(), function, ": 'index' is ", index, "; ", whose, " ", counted(seen.images.size(), "image"));
  const auto& [name, shape] = seen.images[index];
  fill_struct(spec, {0, name.c_str(), shape.height, shape.width, shape.channels, pixel_of(shape.type)});
}

void show(const char* function, const ObservationSpec& spec, const Observation& seen, iap_image* images, std::size_t image_count,
          const float** vector) {
  require(images || image_count == 0, function, ": 'images' is null, but 'image_count' is ", image_count);
  require(image_count == 0 || image_count == spec.images.size(), function, ": 'image_count' is ", image_count, "; there ",
          spec.images.size() == 1 ? "is " : "are ", counted(spec.images.size(), "image"));
  for (std::size_t i = 0; i < image_count; ++i) element(function, "images", "iap_image", images, i);
  for (std::size_t i = 0; i < image_count; ++i) {
    const ImageShape& shape = spec.images[i].shape;
    fill_struct(element(function, "images", "iap_image", images, i), {.size = 0,
                                                                      .height = shape.height,
                                                                      .width = shape.width,
                                                                      .channels = shape.channels,
                                                                      .pixel = pixel_of(shape.type),
                                                                      .order = IAP_RGB,
                                                                      .fit = IAP_SAME_SIZE,
                                                                      .row_stride = 0,
                                                                      .data = seen.images[i].data});
  }
  if (vector) *vector = seen.vector.data();
}

struct PictureReader::Resizer {
  ImageShape from;
  Shown* shown;  // inside `env`
  std::unique_ptr<Env> env;
};

PictureReader::PictureReader(ImageSpec spec) : spec_(std::move(spec)) {}
PictureReader::~PictureReader() = default;
PictureReader::PictureReader(PictureReader&&) noexcept = default;

ImageView PictureReader::read(const char* function, const iap_image& given, std::size_t index) {
  const auto wrong = [&](const auto&... parts) { throw BadArgument(text(function, ": 'images[", index, "]", parts...)); };
  if (given.pixel != IAP_UINT8 && given.pixel != IAP_FLOAT32) wrong(".pixel' is ", given.pixel, "; give IAP_UINT8 or IAP_FLOAT32");
  if (given.order != IAP_RGB && given.order != IAP_BGR) wrong(".order' is ", given.order, "; give IAP_RGB or IAP_BGR");
  if (given.fit != IAP_SAME_SIZE && given.fit != IAP_RESIZE) wrong(".fit' is ", given.fit, "; give IAP_SAME_SIZE or IAP_RESIZE");
  const ImageShape shape{given.height, given.width, given.channels,
                         given.pixel == IAP_FLOAT32 ? PixelType::float32 : PixelType::uint8};
  const ImageShape same_size{spec_.shape.height, spec_.shape.width, shape.channels, shape.type};
  const bool sized = shape.height >= 1 && shape.width >= 1 && shape.height <= largest_seen_side && shape.width <= largest_seen_side;
  const bool fits = same_size == spec_.shape && sized && (given.fit == IAP_RESIZE || shape == spec_.shape);
  if (!fits)
    wrong("' is ", describe(shape), "; the policy sees '", spec_.name, "' as ", describe(spec_.shape),
          same_size == spec_.shape && sized ? "; IAP_RESIZE as its 'fit' has it resized"
          : !sized                          ? text("; give a height and a width of 1 to ", largest_seen_side)
                                            : "");
  if (!given.data) wrong(".data' is null (the image '", spec_.name, "')");
  const auto row = static_cast<std::int64_t>(shape.bytes() / static_cast<std::size_t>(shape.height));
  if (given.row_stride > -row && given.row_stride < row && given.row_stride != 0)
    wrong(".row_stride' is ", given.row_stride, "; a row has ", row, " bytes (0: rows follow one another)");
  if (const auto most = std::numeric_limits<std::int64_t>::max() / shape.height;
      given.row_stride > most || given.row_stride < -most)
    wrong(".row_stride' is ", given.row_stride, "; no memory has ", shape.height, " rows so far apart");
  const ImageView view = arranged(given, shape);
  if (shape.type == PixelType::float32) {
    const std::span pixels(view.floats(), shape.count());
    const std::size_t bad = first_not_finite(pixels);
    if (bad < pixels.size())
      wrong(".data' holds ", pixels[bad], " as value ", given_place(bad, given, shape), "; give finite values");
  }
  return shape == spec_.shape ? view : resized(view);
}

ImageView PictureReader::arranged(const iap_image& given, const ImageShape& shape) {
  const std::size_t pixel = shape.value_bytes(), row = static_cast<std::size_t>(shape.width) * shape.channels * pixel;
  const bool swapped = is_swapped(given, shape);
  const bool aligned = reinterpret_cast<std::uintptr_t>(given.data) % pixel == 0;
  const std::int64_t stride = given.row_stride == 0 ? static_cast<std::int64_t>(row) : given.row_stride;
  if (!swapped && aligned && stride == static_cast<std::int64_t>(row)) return {shape, given.data};
  if (copy_.shape() != shape) copy_ = Image(shape);
  auto* to = shape.type == PixelType::uint8 ? reinterpret_cast<char*>(copy_.bytes().data())
                                            : reinterpret_cast<char*>(copy_.floats().data());
  const auto* from = static_cast<const char*>(given.data);
  for (int y = 0; y < shape.height; ++y) std::memcpy(to + static_cast<std::size_t>(y) * row, from + y * stride, row);
  const auto channels = static_cast<std::size_t>(shape.channels);
  if (swapped)
    shape.type == PixelType::uint8 ? swap_red_and_blue(copy_.bytes(), channels) : swap_red_and_blue(copy_.floats(), channels);
  return copy_.view();
}

ImageView PictureReader::resized(const ImageView& picture) {
  if (!resizer_ || resizer_->from != picture.shape) {
    auto shown = std::make_unique<Shown>(ImageSpec{spec_.name, picture.shape});
    auto made = std::make_unique<Resizer>(Resizer{picture.shape, shown.get(), nullptr});
    made->env = resize_images(std::move(shown), spec_.shape.height, spec_.shape.width);
    resizer_ = std::move(made);
  }
  resizer_->shown->show(picture);
  return resizer_->env->observe().images.front();
}

}  // namespace iap::host
