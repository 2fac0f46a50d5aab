module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
module iap.policy;
import iap.core;

namespace iap {
namespace {
std::string images_text(std::size_t count) { return text(count, count == 1 ? " image" : " images"); }

std::string vector_text(const char* name, int size) {
  return size == 0 ? "none" : text(name, " of ", size, size == 1 ? " value" : " values");
}
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
  double values = 0;
  Options options(source + ": observation", config);
  for (const auto& item : options.list("images")) {
    Options entry(text(source, ": observation image ", spec.images.size() + 1), item);
    ImageSpec image{.name = entry.string("name")};
    image.shape.height = static_cast<int>(entry.integer_in("height", 1, std::int64_t{largest_seen_side}));
    image.shape.width = static_cast<int>(entry.integer_in("width", 1, std::int64_t{largest_seen_side}));
    image.shape.channels = static_cast<int>(entry.integer_in("channels", 1, 4));
    image.shape.type = entry.choice("type", {"uint8", "float32"}) == "uint8" ? PixelType::uint8 : PixelType::float32;
    entry.finish();
    values += static_cast<double>(image.shape.count());
    spec.images.push_back(std::move(image));
  }
  if (const std::size_t count = spec.images.size(); count > 0) {
    constexpr double bytes_a_value = 2 * sizeof(float);  // policies keep some pictures as floats
    const std::string what = count == 1 ? text("image '", spec.images[0].name, "'") : text("what its ", count, " images hold");
    check_memory(text(source, ": observation: ", what), values * bytes_a_value);
  }
  spec.vector = static_cast<int>(options.integer_in("vector", 0, std::int64_t{largest_vector}));
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

std::string observation_difference(const ObservationSpec& seen, const ObservationSpec& built, ImageSizes sizes) {
  const ObservationSpec now = comparable(seen, built, sizes);
  std::string all;
  const auto differs = [&all](const auto&... words) { all += text(all.empty() ? "" : ", ", words...); };
  if (now.images.size() != built.images.size())
    differs(images_text(now.images.size()), " instead of ", images_text(built.images.size()));
  for (std::size_t i = 0; i < now.images.size() && now.images.size() == built.images.size(); ++i) {
    const ImageSpec &image = now.images[i], &own = built.images[i];
    if (image.name != own.name) differs("the image '", image.name, "' instead of '", own.name, "'");
    if (!(image.shape == own.shape))
      differs("the image '", image.name, "' of ", describe(seen.images[i].shape), " instead of ", describe(own.shape));
  }
  if (now.vector != built.vector)
    differs(now.vector == 0 ? "no vector" : vector_text("a vector", now.vector), " instead of ", vector_text("one", built.vector));
  return all;
}

}  // namespace iap
