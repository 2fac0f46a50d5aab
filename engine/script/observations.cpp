#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "script/objects.hpp"
import iap.core;
import iap.env;
#include "core/copy_pixels.hpp"

namespace iap {
namespace {

/// What is not finite would stay in what a policy remembers, or has gathered, long after it was seen.
void check_finite(const lua::Call& call, const std::string& what, std::span<const float> values) {
  const std::size_t bad = first_not_finite(values);
  if (bad < values.size()) call.fail(text(what, " holds ", values[bad], " as value ", bad + 1, "; give finite values"));
}

}  // namespace

std::string ImageObject::describe() const { return "image " + iap::describe(image.shape()); }

int give_image(lua::Call& call, Image image) {
  const std::size_t bytes = image.bytes().size() + image.floats().size_bytes();
  return call.give(std::make_unique<ImageObject>(ImageObject{std::move(image)}), bytes);
}

int give_image(lua::Call& call, const ImageView& image) { return give_image(call, copy_of(image)); }

int give_observation(lua::Call& call, const ObservationSpec& spec, const Observation& observation) {
  lua_State* state = call.state();
  call.give(Config(Config::Map{}));
  call.give(observation.vector);
  lua::set_entry(state, "vector");
  call.give(Config(Config::Map{}));
  for (std::size_t i = 0; i < spec.images.size(); ++i) {
    give_image(call, observation.images[i]);
    lua::set_entry(state, spec.images[i].name);
  }
  lua::set_entry(state, "images");
  return 1;
}

ObservationReader::ObservationReader(const lua::Call& call, int argument, const ObservationSpec& spec) {
  lua_State* state = call.state();
  if (lua_type(state, call.at(argument)) != LUA_TTABLE)
    call.refuse(argument, "observation", "a table {vector = ..., images = ...} as env:observe gives it");
  if (spec.vector > 0) {
    lua::push_entry(state, call.at(argument), "vector");
    if (lua_type(state, -1) != LUA_TTABLE) call.fail(text("observation.vector must be a list of ", spec.vector, " numbers"));
    for (const double value : lua::read_numbers(state, -1, call.name() + ": observation.vector"))
      vector.push_back(static_cast<float>(value));
    check_finite(call, "observation.vector", vector);
  }
  if (spec.images.empty()) return;
  lua::push_entry(state, call.at(argument), "images");
  if (lua_type(state, -1) != LUA_TTABLE) call.fail("observation.images must be a table of images");
  const int table = lua_gettop(state);
  for (const auto& wanted : spec.images) {
    lua::push_entry(state, table, wanted.name);
    const auto* object = call.object_or_null<ImageObject>(lua_gettop(state) - call.at(0));
    if (!object) call.fail(text("observation.images.", wanted.name, " must be an image, got ", lua::describe_value(state, -1)));
    if (object->image.shape().type == PixelType::float32)
      check_finite(call, text("observation.images.", wanted.name), object->image.floats());
    images.push_back(object->image.view());
    lua_pop(state, 1);
  }
}

}  // namespace iap
