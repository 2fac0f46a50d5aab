module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
module iap.policy;
import iap.core;

namespace iap {
namespace {
constexpr std::int64_t largest_image = 1 << 15;
constexpr std::int64_t largest_vector = 1 << 24;
}  // namespace

Config to_config(const ObservationSpec& spec) {
  Config::List images;
  for (const auto& image : spec.images) {
    Config entry;
    entry["name"] = image.name;
    entry["height"] = image.shape.height;
    entry["width"] = image.shape.width;
    entry["channels"] = image.shape.channels;
    entry["type"] = image.shape.type == PixelType::uint8 ? "uint8" : "float32";
    images.push_back(std::move(entry));
  }
  Config config;
  config["images"] = std::move(images);
  config["vector"] = spec.vector;
  if (spec.dt > 0) config["dt"] = spec.dt;
  return config;
}

ObservationSpec observation_from_config(const Config& config, const std::string& source) {
  ObservationSpec spec;
  Options options(source + ": observation", config);
  for (const auto& item : options.list("images")) {
    Options entry(text(source, ": observation image ", spec.images.size() + 1), item);
    ImageSpec image{.name = entry.string("name")};
    image.shape.height = static_cast<int>(entry.integer_in("height", 1, largest_image));
    image.shape.width = static_cast<int>(entry.integer_in("width", 1, largest_image));
    image.shape.channels = static_cast<int>(entry.integer_in("channels", 1, 4));
    image.shape.type = entry.choice("type", {"uint8", "float32"}) == "uint8" ? PixelType::uint8 : PixelType::float32;
    entry.finish();
    // Policies keep some pictures as floats.
    constexpr double bytes_a_value = 2 * sizeof(float);
    check_memory(text(source, ": observation image '", image.name, "'"), static_cast<double>(image.shape.count()) * bytes_a_value);
    spec.images.push_back(std::move(image));
  }
  spec.vector = static_cast<int>(options.integer_in("vector", 0, largest_vector));
  spec.dt = options.number_in("dt", 0, 1e9, 0);
  options.finish();
  return spec;
}

ObservationSpec comparable(ObservationSpec seen, const ObservationSpec& built, ImageSizes sizes) {
  seen.dt = built.dt;
  const std::size_t shared = sizes == ImageSizes::any ? std::min(seen.images.size(), built.images.size()) : 0;
  for (std::size_t i = 0; i < shared; ++i) {
    seen.images[i].shape.height = built.images[i].shape.height;
    seen.images[i].shape.width = built.images[i].shape.width;
  }
  return seen;
}

}  // namespace iap
