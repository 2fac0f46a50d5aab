#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

import iap.core;
import iap.policy;

/// A Config from JSON with single quotes.
inline iap::Config config(std::string json) {
  for (char& c : json)
    if (c == '\'') c = '"';
  return iap::parse_json(json, "test");
}

inline iap::ObservationSpec vector_spec(int size) { return {{}, size}; }

inline iap::ObservationSpec image_spec(int height, int width, int channels = 3, int vector = 0) {
  return {{{"pixels", {height, width, channels, iap::PixelType::uint8}}}, vector};
}

/// A random observation of the given spec, owned.
class Frame {
 public:
  Frame(const iap::ObservationSpec& spec, std::uint64_t seed) : vector_(static_cast<std::size_t>(spec.vector)) {
    iap::Random random(seed);
    random.fill_normal(vector_);
    for (const auto& image : spec.images) {
      iap::Image drawn(image.shape);
      for (auto& byte : drawn.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
      for (auto& value : drawn.floats()) value = static_cast<float>(random.uniform());
      images_.push_back(std::move(drawn));
    }
    for (const auto& image : images_) views_.push_back(image.view());
  }
  iap::Observation observation() const { return {views_, vector_}; }
  iap::Image& image(std::size_t index = 0) { return images_[index]; }
  const iap::Image& image(std::size_t index = 0) const { return images_[index]; }
  std::vector<float>& vector() { return vector_; }
  const std::vector<float>& vector() const { return vector_; }

 private:
  std::vector<float> vector_;
  std::vector<iap::Image> images_;
  std::vector<iap::ImageView> views_;
};

/// The values of the slice `name` of a policy's parameters.
inline std::vector<double> slice(const iap::Policy& policy, std::string_view name) {
  for (const auto& part : policy.layout().slices())
    if (part.name == name) {
      const auto values = policy.parameters().subspan(part.offset, part.size);
      return {values.begin(), values.end()};
    }
  throw iap::Error(iap::text("no slice '", name, "'"));
}

/// Fills all parameters with N(0, deviation^2), biases included.
inline void randomise(iap::Policy& policy, std::uint64_t seed, double deviation = 0.5) {
  std::vector<float> values(policy.size());
  iap::Random random(seed);
  for (float& value : values) value = static_cast<float>(deviation * random.normal());
  policy.set_parameters(values);
}

inline std::vector<float> act(iap::Policy& policy, const Frame& frame) {
  const auto action = policy.act(frame.observation());
  return {action.begin(), action.end()};
}

/// y = W x + b in double precision, W row-major with b.size() rows.
inline std::vector<double> affine(const std::vector<double>& weight, const std::vector<double>& bias,
                                  const std::vector<double>& x) {
  std::vector<double> y(bias);
  for (std::size_t row = 0; row < y.size(); ++row)
    for (std::size_t column = 0; column < x.size(); ++column) y[row] += weight[row * x.size() + column] * x[column];
  return y;
}

inline std::vector<double> widen(const std::vector<float>& values) { return {values.begin(), values.end()}; }
