#include "script/kinds/script_spec.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>
import iap.core;
import iap.env;

namespace iap {
namespace {

/// Before anything is read: a misspelt name would pass for a missing one.
void refuse_unknown(Options& options, std::initializer_list<const char*> names) {
  for (const char* name : names) options.value(name);
  options.finish();
}

ImageSpec read_image(const std::string& file, const std::string& name, const Config& entry) {
  Options options(text(file, ": spec.images.", name), entry);
  refuse_unknown(options, {"height", "width", "channels", "type"});
  ImageSpec image{name, {}};
  image.shape.height = static_cast<int>(options.integer_in("height", 1, std::int64_t{largest_side}));
  image.shape.width = static_cast<int>(options.integer_in("width", 1, std::int64_t{largest_side}));
  image.shape.channels = static_cast<int>(options.integer_in("channels", 1, 4, 3));
  if (image.shape.channels == 2) options.fail("option 'channels' must be 1, 3 or 4, got 2");
  image.shape.type = options.choice("type", {"uint8", "float32"}, "uint8") == "uint8" ? PixelType::uint8 : PixelType::float32;
  return image;
}

/// What all of them take.
void check_images(const std::string& file, const std::vector<ImageSpec>& images) {
  constexpr double copies = 4;  // here, in the policy, and between them
  double bytes = 0;
  for (const ImageSpec& image : images) bytes += copies * static_cast<double>(image.shape.bytes());
  const auto count = images.size();
  const std::string what = count == 1 ? text("image '", images[0].name, "'") : text("what its ", count, " images hold");
  check_memory(text(file, ": ", what), bytes);
}

}  // namespace

void refuse_filled_in(lua::ScriptObject& script, int max_steps, const Config& keys) {
  script.refuse_reading("action_repeat");
  if (max_steps > 0) script.refuse_reading("time_limit");
  if (!keys.is_null()) script.refuse_reading("keys");
}

std::string describe_in_lua(const Config& value) { return value.is_null() ? "nil" : value.describe(); }

std::vector<std::string> read_state_names(Options& options) {
  std::vector<std::string> names;
  for (const Config& name : options.list("state_names")) {
    if (!name.string()) options.fail(text("option 'state_names' must be a list of names, got ", name.describe(), " in it"));
    names.push_back(*name.string());
  }
  return names;
}

/// @lua options task.spec
/// What an environment in Lua takes and shows: entry `spec` of its table.
/// @option action_size integer 1.. - values of an action
/// @option action_low number -1e30..1e30 = -1 - the least value of each
/// @option action_high number -1e30..1e30 = 1 - the highest
/// @option control_dt number 1e-9..1e9 = 1 - seconds a step
/// @option max_steps integer 0.. = 0 - time limit in steps; 0: none
/// @option vector integer 0.. = 0 - numbers that observe returns
/// @option state_names string[] ? - what these are
/// @option keys table ? - {KEY = action}: what a person's keys do in `iap play --live`
/// @option images table{task.image} ? - pictures that observe returns, {NAME = {height = 48, width = 64, channels = 1}, ...}, in
/// the order of their names, byte by byte: a block without `image` looks at `depth` rather than at `rgb`; images.NAME

/// @lua options task.image
/// An image in `spec.images`.
/// @option height integer 1..16384 - pixels
/// @option width integer 1..16384 - pixels
/// @option channels integer 1..4 = 3 - 1, 3 or 4
/// @option type "uint8"|"float32" = "uint8" - of a value; bytes show 0 to 255
EnvSpec read_script_spec(const std::string& file, const Config& entry) {
  if (!entry.map())
    throw Error(text(file, ": the table that function(options) returns must have a table 'spec', got ", describe_in_lua(entry)));
  Options options(file + ": spec", entry);
  refuse_unknown(
      options, {"action_size", "action_low", "action_high", "control_dt", "max_steps", "vector", "state_names", "keys", "images"});
  EnvSpec spec;
  spec.action_size = static_cast<int>(options.integer_in("action_size", 1, std::int64_t{largest_vector}));
  constexpr double most_action = 1e30;  // actions are of single precision
  spec.action_low = static_cast<float>(options.number_in("action_low", -most_action, most_action, -1));
  spec.action_high = static_cast<float>(options.number_in("action_high", -most_action, most_action, 1));
  if (!(spec.action_low < spec.action_high))
    options.fail(text("option 'action_low' must be below 'action_high', got ", spec.action_low, " and ", spec.action_high));
  if (options.has("control_dt")) spec.observation.dt = options.number_in("control_dt", 1e-9, 1e9);
  spec.control_dt = options.number_in("control_dt", 1e-9, 1e9, 1);
  spec.max_steps = static_cast<int>(options.integer_in("max_steps", 0, 1'000'000'000, 0));
  spec.observation.vector = static_cast<int>(options.integer_in("vector", 0, std::int64_t{largest_vector}, 0));
  spec.state_names = read_state_names(options);
  if (const auto flaw = state_names_flaw(spec); !flaw.empty()) options.fail(text("option 'state_names': ", flaw));
  spec.config["keys"] = options.value("keys");
  const Config& images = options.value("images");
  if (!images.is_null() && !images.map())
    options.fail("option 'images' must be a table of names, {pixels = {height = 64, width = 64}}");
  if (images.map())
    for (const auto& [name, image] : *images.map()) spec.observation.images.push_back(read_image(file, name, image));
  check_images(file, spec.observation.images);
  if (spec.observation.vector == 0 && spec.observation.images.empty()) options.fail("nothing is observed; set vector, or images");
  return spec;
}

}  // namespace iap
