#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "script/arguments.hpp"
#include "script/faces.hpp"
#include "script/lua_text.hpp"
#include "script/objects.hpp"
import iap.attention;
import iap.core;
import iap.policy;

namespace iap {

std::string BlockBlueprint::describe() const { return to_lua(architecture); }

namespace {

/// Adds an image for every name that the block or one inside it asks for.
void add_images(const Config& config, ObservationSpec& observation) {
  const auto has = [&](const std::string& name) {
    return std::ranges::find(observation.images, name, &ImageSpec::name) != observation.images.end();
  };
  if (const auto* entries = config.map()) {
    for (const auto& [key, value] : *entries) {
      if ((key == "image" || key == "key_image") && value.string() && !has(*value.string()))
        observation.images.push_back({*value.string(), {256, 256, 3, PixelType::uint8}});
      add_images(value, observation);
    }
  }
  if (const auto* items = config.list())
    for (const auto& item : *items) add_images(item, observation);
}

}  // namespace

Config check_block(const Config& block) {
  // Large enough for every sensible patch grid; what still does not fit is judged when the policy meets its environment.
  ObservationSpec observation;
  add_images(block, observation);
  if (observation.images.empty()) observation.images.push_back({"pixels", {256, 256, 3, PixelType::uint8}});
  observation.vector = 16;
  ParameterLayout layout;
  const auto* kind = block.find("kind");
  try {
    return make_block(block, {&observation, 4, 16, true, kind && kind->string() ? *kind->string() : "block"}, layout)->config();
  } catch (const OptionError&) {
    throw;
  } catch (const Error&) {
    // A matter of shapes.
    return {};
  }
}

namespace {

using lua::Call;
using lua::entry;

/// One body for all constructors: the kind is the last part of the function's name.
int make_blueprint(Call& call) {
  const std::string kind = call.name().substr(call.name().rfind('.') + 1);
  check_block_arguments(call, kind);
  Config config = call.config(1, "options", {.list_key = "blocks"});
  if (!config.map()) call.refuse(1, "options", "a table");
  if (config.find("kind")) call.fail("option 'kind' is what the function's name says; leave it out");
  config["kind"] = kind;
  // The text goes along, so that a policy file rebuilds its policy without the script.
  if (const auto* file = config.find("file"); kind == "script" && file && file->string() && !config.find("source"))
    config["source"] = read_file(*file->string());
  const Config completed = check_block(config);
  if (const auto* modules = completed.find("required_modules"); kind == "script" && modules) config["required_modules"] = *modules;
  return call.give(std::make_unique<BlockBlueprint>(BlockBlueprint{std::move(config)}));
}

/// @lua function iap.attention.kernels
/// The kernels that attention blocks can name.
/// @return table[] rows - {name, summary, abilities} of each
int kernels(Call& call) {
  Config::List rows;
  for (const auto& row : kernel_catalog())
    rows.push_back(Config::Map{{"name", row.name}, {"summary", row.summary}, {"abilities", abilities(row)}});
  return call.give(Config(std::move(rows)));
}

constexpr lua::Function attention_functions[] = {{"kernels", entry<kernels>}};

/// Opener: constructors of the blocks whose table is `owner`. Names are compared as C strings: nothing here may need a destructor.
void add_constructors(lua_State* state, const char* owner, bool attention) {
  for (const auto& row : block_catalog())
    if (is_attention_block(row.name) == attention) lua::add_function(state, owner, ".", {row.name.c_str(), entry<make_blueprint>});
}

}  // namespace

/// @lua table iap.attention
/// Blocks that look at images through linear attention, and what belongs to them.

/// @lua table iap.policy
/// Policies, and the blocks that they are composed of. A block reads the numbers of the block before it and hands over numbers.

/// @lua class blueprint
/// A block that is described but not built: what the functions of iap.attention and iap.policy return. iap.policy.build and
/// iap.train build it
/// on an environment.
/// @page policy
void open_blueprint_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<BlockBlueprint>::info, {});
  lua::push_functions(state, "iap.attention", ".", attention_functions);
  add_constructors(state, "iap.attention", true);
  lua_setfield(state, -2, "attention");
  lua::push_functions(state, "iap.policy", ".", {});
  add_constructors(state, "iap.policy", false);
  lua_setfield(state, -2, "policy");
}

}  // namespace iap
