module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.policy;
import iap.core;
import iap.attention;
import :attention_parts;

namespace iap {

MadeValues make_position_values(const ValueContext& context);
MadeValues make_content_values(const ValueContext& context);
MadeValues make_projection_values(const ValueContext& context);
MadeValues make_histogram_values(const ValueContext& context);
MadeValues make_convolution_values(const ValueContext& context);

std::span<const ValuesEntry> values_catalog() {
  static const std::array entries{
      ValuesEntry{"position", {}, {R"({"position_range": "unit", "centre": "pixel"})"}, make_position_values},
      ValuesEntry{"content", {}, {R"({"pixel_offset": 0.25})"}, make_content_values},
      ValuesEntry{"projection", {"dv"}, {R"({"dv": 3, "encoding": "learned"})"}, make_projection_values},
      ValuesEntry{"histogram", {"bins"}, {R"({"bins": 5})"}, make_histogram_values},
      ValuesEntry{"convolution",
                  {"convolution", "convolution_size", "convolution_channels"},
                  {R"({"convolution_size": 5, "convolution_channels": 3})",
                   R"({"convolution": "fixed", "convolution_size": 5, "convolution_channels": 2})"},
                  make_convolution_values},
  };
  return entries;
}

/// @lua options attention.values
/// What a block hands over of patches.
/// @option values string|string[] = "position" - what is handed over of a patch: "position", "content", "projection", "histogram",
/// "convolution"; of rank "centroid", too. In this order, whatever that of a list
/// @option dv integer 1..65536 = 8 - columns of a projection X' W_V
/// @option bins integer 1..256 = 8 - of a histogram of intensities: equal parts of [0, 1]; what lies outside, as depth in metres
/// may, counts in the first or the last
/// @option convolution "learned"|"fixed" = "learned" - filters: learned, or smoothing, derivatives down and right, and Laplacian
/// @option convolution_size integer 1..255 = 3 - side of the filters' window, pixels; odd and at least 3 for fixed ones
/// @option convolution_channels integer 1..4096 = 4 - filters; there are 4 fixed ones
/// @see attention-blocks.md#options-of-both
std::vector<std::string> read_value_names(Options& options, const char* fallback, std::vector<std::string> own) {
  const Config& given = options.value("values");
  if (given.is_null()) options.complete("values", fallback);
  const Config::List single{given.is_null() ? Config(fallback) : given};
  const Config::List& wanted = given.list() ? *given.list() : single;
  std::vector<std::string> all;
  for (const auto& kind : values_catalog()) all.push_back(kind.name);
  std::ranges::move(own, std::back_inserter(all));
  std::string known;
  for (const auto& name : all) known += text(known.empty() ? "" : ", ", '"', name, '"');
  // The order is that of the table, whatever the order in which they are named.
  std::vector<std::string> names;
  for (const auto& name : all)
    if (std::ranges::find(wanted, Config(name)) != wanted.end()) names.push_back(name);
  for (const auto& item : wanted)
    if (!item.string() || std::ranges::find(names, *item.string()) == names.end())
      options.fail(text("option 'values' takes ", known, " or a list of them, handed over in this order, got ", item.describe()));
  if (names.empty()) options.fail(text("option 'values' must name at least one of ", known));
  // Elsewhere the nearest name would mislead: d, in place of dv, is the size of queries and keys.
  for (const auto& kind : values_catalog())
    for (const auto& option : kind.options)
      if (options.has(option) && std::ranges::find(names, kind.name) == names.end())
        throw OptionError(text(options.owner(), ": option '", option, "' goes with values = \"", kind.name, "\""));
  return names;
}

std::vector<MadeValues> make_values(const std::vector<std::string>& names, const ValueContext& context) {
  std::vector<MadeValues> values;
  for (const auto& name : names)
    for (const auto& kind : values_catalog())
      if (kind.name == name) values.push_back(kind.make(context));
  return values;
}

std::int64_t total_size(const std::vector<MadeValues>& values) {
  std::int64_t size = 0;
  for (const auto& kind : values) size += kind->size();
  return size;
}

float pixel_at(const ImageView& image, std::size_t index) {
  return image.shape.type == PixelType::uint8 ? static_cast<float>(image.bytes()[index]) / 255.0F : image.floats()[index];
}

}  // namespace iap
