module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.env;
import iap.core;

namespace iap {
namespace {

// Along one axis, output i is the mean of the input over [i, i + 1) * from / to.
class AreaWeights {
 public:
  AreaWeights(int from, int to) {
    const double scale = static_cast<double>(from) / to;
    for (int i = 0; i < to; ++i) {
      const double begin = i * scale, end = std::min<double>((i + 1) * scale, from);
      const int first = static_cast<int>(begin);
      const int last = std::min(from, std::max(first + 1, static_cast<int>(std::ceil(end - 1e-9))));
      spans_.push_back({first, last, weights_.size()});
      for (int j = first; j < last; ++j)
        weights_.push_back(static_cast<float>((std::min(end, j + 1.0) - std::max(begin, double(j))) / scale));
    }
  }

  template <typename Visit>
  void each(int output, Visit visit) const {
    const auto& span = spans_[output];
    for (int j = span.first; j < span.last; ++j) visit(j, weights_[span.weight + (j - span.first)]);
  }

 private:
  struct Span {
    int first, last;
    std::size_t weight;
  };
  std::vector<Span> spans_;
  std::vector<float> weights_;
};

class Resizer {
 public:
  Resizer(ImageShape from, ImageShape to)
      : columns_(from.width, to.width),
        rows_(from.height, to.height),
        narrow_(static_cast<std::size_t>(from.height) * to.width * to.channels),
        line_(static_cast<std::size_t>(to.width) * to.channels),
        image_(to) {}

  ImageView resize(const ImageView& image) {
    const auto& to = image_.shape();
    if (to.type == PixelType::uint8)
      resize(image.bytes(), image.shape, image_.bytes(), [](float value) { return static_cast<std::uint8_t>(value + 0.5f); });
    else
      resize(image.floats(), image.shape, image_.floats(), [](float value) { return value; });
    return image_.view();
  }

 private:
  template <typename T, typename Convert>
  void resize(const T* in, ImageShape from, std::span<T> out, Convert convert) {
    const auto& to = image_.shape();
    const int channels = to.channels;
    std::ranges::fill(narrow_, 0.0f);
    for (int y = 0; y < from.height; ++y) {
      const T* row = in + static_cast<std::size_t>(y) * from.width * channels;
      float* narrow = narrow_.data() + y * line_.size();
      for (int x = 0; x < to.width; ++x)
        columns_.each(x, [&](int j, float weight) {
          for (int c = 0; c < channels; ++c) narrow[x * channels + c] += weight * static_cast<float>(row[j * channels + c]);
        });
    }
    for (int y = 0; y < to.height; ++y) {
      std::ranges::fill(line_, 0.0f);
      rows_.each(y, [&](int j, float weight) {
        const float* narrow = narrow_.data() + j * line_.size();
        for (std::size_t i = 0; i < line_.size(); ++i) line_[i] += weight * narrow[i];
      });
      std::ranges::transform(line_, out.begin() + static_cast<std::ptrdiff_t>(y * line_.size()), convert);
    }
  }

  AreaWeights columns_, rows_;
  std::vector<float> narrow_, line_;
  Image image_;
};

class ResizeImages final : public EnvWrapper {
 public:
  ResizeImages(std::unique_ptr<Env> env, int height, int width) : EnvWrapper(std::move(env)) {
    for (auto& image : spec_.observation.images) {
      const ImageShape from = image.shape;
      image.shape.height = height;
      image.shape.width = width;
      resizers_.emplace_back(from, image.shape);
    }
    views_.resize(resizers_.size());
  }

  Observation observe() override {
    Observation observation = env_->observe();
    if (const auto flaw = observation_flaw(env_->spec(), observation, false); !flaw.empty())
      throw Error(text(spec_.name, ": ", flaw));
    for (std::size_t i = 0; i < resizers_.size(); ++i) views_[i] = resizers_[i].resize(observation.images[i]);
    observation.images = views_;
    return observation;
  }

 private:
  std::vector<Resizer> resizers_;
  std::vector<ImageView> views_;
};

}  // namespace

std::unique_ptr<Env> resize_images(std::unique_ptr<Env> env, int height, int width) {
  if (height < 1 || width < 1)
    throw Error(text(env->spec().name, ": cannot resize images to ", height, " x ", width, "; both sizes must be positive"));
  return std::make_unique<ResizeImages>(std::move(env), height, width);
}

}  // namespace iap
