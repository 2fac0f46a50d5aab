#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/kinds/script_kinds.hpp"
#include "script/kinds/script_spec.hpp"
import iap.core;
import iap.env;

namespace iap {
namespace {

/// An environment that is all Lua. Its file returns function(options), which returns a table with
///   spec                  {action_size, action_low, action_high, vector, state_names, control_dt, max_steps, images, keys}, where
///                         images is {name = {height, width, channels, type}}, state_names names the values of the vector and keys
///                         are a person's, as the option `keys`
///   reset(self, seed)     a new episode; math.random is seeded before
///   step(self, action)    -> reward, terminated, truncated
///   observe(self)         -> list of `vector` numbers, {name = string of bytes or flat list of numbers}
/// Everything is copied at once, so that rollouts never wait for another state.
class ScriptEnv final : public Env {
 public:
  explicit ScriptEnv(lua::ScriptObject script, Options& options) : script_(std::move(script)) {
    const std::string& file = script_.file();
    spec_ = read_script_spec(file, script_.entry("spec"));
    spec_.name = file;
    const Config keys = spec_.config["keys"];
    refuse_filled_in(script_, spec_.max_steps, keys);
    spec_.config = script_.config();
    if (!keys.is_null() && !options.has("keys")) spec_.config["keys"] = keys;
    spec_.config["name"] = file;
    // The text of the script is as much given as its options are.
    for (const auto& [key, value] : *script_.config().map())
      if (!options.has(key)) spec_.given[key] = value;
    if (script_.is_fresh()) script_.refuse_misspelt({"reset", "step", "observe"});
    reset_ = script_.method("reset", true);
    step_ = script_.method("step", true);
    observe_ = script_.method("observe", true);
    action_.resize(static_cast<std::size_t>(spec_.action_size));
    vector_.resize(static_cast<std::size_t>(spec_.observation.vector));
    for (const auto& image : spec_.observation.images) images_.emplace_back(image.shape);
    for (const auto& image : images_) views_.push_back(image.view());
  }

  const EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    steps_ = 0;
    seen_ = false;
    script_.seed(seed);
    script_.invoke(reset_, "reset", 0, [seed](lua_State* state) noexcept {
      lua_pushinteger(state, static_cast<lua_Integer>(seed));
      return 1;
    });
  }

  StepResult step(std::span<const float> action) override {
    clip_action(spec_, action, action_);
    seen_ = false;
    stepping_ = true;
    ++steps_;
    script_.invoke(step_, "step", 3, [this](lua_State* state) noexcept {
      lua::ScriptObject::push_list(state, action_);
      return 1;
    });
    const StepResult result{
        .reward = reward(), .terminated = flag(2, "terminated"), .truncated = flag(3, "truncated") || at_limit()};
    script_.clear();
    return result;
  }

  Observation observe() override {
    stepping_ = false;
    if (!seen_) look();
    seen_ = true;
    return {views_, vector_};
  }

 private:
  bool at_limit() const { return spec_.max_steps > 0 && steps_ >= spec_.max_steps; }

  [[noreturn]] void fail(std::string_view message, std::string_view remedy = "") {
    // A picture belongs to the step that is decided on it.
    const auto complaint = text(script_.file(), ": ", message, stepping_ ? " at step " : " before step ",
                                stepping_ ? steps_ : steps_ + 1, " of the episode with seed ", seed_, remedy);
    script_.clear();
    throw Error(complaint);
  }

  double reward() {
    const bool is_number = lua_type(script_.state(), 1) == LUA_TNUMBER;
    const double value = is_number ? lua_tonumberx(script_.state(), 1, nullptr) : NAN;
    if (!std::isfinite(value)) fail("step must return a finite reward first, got " + lua::describe_value(script_.state(), 1));
    return value;
  }

  bool flag(int index, std::string_view name) {
    const int type = lua_type(script_.state(), index);
    if (type != LUA_TBOOLEAN && type != LUA_TNIL)
      fail(text("step must return ", name, " as true or false, got ", lua::describe_value(script_.state(), index)));
    return lua_toboolean(script_.state(), index) != 0;
  }

  void look() {
    script_.invoke(observe_, "observe", 2, [](lua_State*) noexcept { return 0; });
    if (vector_.empty())
      check_no_vector();
    else
      script_.take(1, "the vector from observe", vector_);
    check_images();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      lua::push_entry(script_.state(), 2, spec_.observation.images[i].name);
      copy_image(spec_.observation.images[i].name, images_[i]);
      lua_pop(script_.state(), 1);
    }
    script_.clear();
  }

  /// No policy would see what the spec leaves out.
  void check_no_vector() {
    lua_State* state = script_.state();
    if (!lua_toboolean(state, 1)) return;
    if (lua_type(state, 1) != LUA_TTABLE)
      fail("observe must return nil first, as the spec has no vector, got " + lua::describe_value(state, 1));
    if (const auto count = lua_rawlen(state, 1); count > 0)
      fail(text("observe returns a list of ", count, " first, but the spec has no vector"),
           text("; set vector = ", count, " in the spec, or return nil first"));
  }

  /// The same for images.
  void check_images() {
    lua_State* state = script_.state();
    const auto& images = spec_.observation.images;
    if (images.empty() && !lua_toboolean(state, 2)) return;
    if (lua_type(state, 2) != LUA_TTABLE)
      fail(text("observe must return ", images.empty() ? "nothing second, as the spec has no images" : "a table of images second",
                ", got ", lua::describe_value(state, 2)));
    lua::reserve(state, 2);
    lua_pushnil(state);
    while (lua_next(state, 2)) {
      const auto name = lua_type(state, -2) == LUA_TSTRING ? lua::string_at(state, -2) : std::string_view();
      if (std::ranges::find(images, name, &ImageSpec::name) == images.end()) refuse_image(name);
      lua_pop(state, 1);
    }
  }

  /// The key stands below the top of the stack; `name` is empty where it is no string.
  [[noreturn]] void refuse_image(std::string_view name) {
    std::vector<std::string> known;
    for (const auto& image : spec_.observation.images) known.push_back(image.name);
    const std::string nearest = nearest_name(name, known);
    fail(text("observe returns an image ", name.empty() ? lua::describe_value(script_.state(), -2) : text("'", name, "'"),
              " that spec.images does not have"),
         nearest.empty() ? "; describe it there, or leave it out" : text("; did you mean '", nearest, "'?"));
  }

  void copy_image(const std::string& name, Image& image) {
    lua_State* state = script_.state();
    const bool bytes = image.shape().type == PixelType::uint8;
    const std::size_t size = bytes ? image.bytes().size() : image.floats().size_bytes();
    if (const int type = lua_type(state, -1); type != LUA_TSTRING && type != LUA_TTABLE)
      fail(text("image '", name, "' must be a string of ", size, " bytes or a flat list of ", image.shape().count(),
                " numbers, got ", lua::describe_value(state, -1)));
    if (lua_type(state, -1) == LUA_TSTRING) {
      const auto content = lua::string_at(state, -1);
      if (content.size() != size) fail(text("image '", name, "' must have ", size, " bytes, got ", content.size()));
      std::memcpy(bytes ? static_cast<void*>(image.bytes().data()) : image.floats().data(), content.data(), size);
      if (!bytes) check_finite(name, image.floats());
      return;
    }
    if (!bytes) return script_.take(-1, text("image '", name, "'"), image.floats());
    pixels_.resize(image.bytes().size());
    script_.take(-1, text("image '", name, "'"), pixels_);
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      if (pixels_[i] < 0 || pixels_[i] > 255 || pixels_[i] != std::trunc(pixels_[i]))
        fail(text("image '", name, "': value ", i + 1, " must be a whole number from 0 to 255, got ", pixels_[i]),
             text("; set type = \"float32\" in spec.images.", name, ", or scale to 255 and round"));
      image.bytes()[i] = static_cast<std::uint8_t>(pixels_[i]);
    }
  }

  void check_finite(const std::string& name, std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i])) fail(text("image '", name, "': value ", i + 1, " must be finite, got ", values[i]));
  }

  lua::ScriptObject script_;
  EnvSpec spec_;
  int reset_, step_, observe_;
  std::uint64_t seed_ = 0;
  int steps_ = 0;
  bool stepping_ = false;  ///< whether `step` is at work
  bool seen_ = false;      ///< whether the copies below show the present state
  std::vector<float> action_, vector_, pixels_;
  std::vector<Image> images_;
  std::vector<ImageView> views_;
};

}  // namespace

/// @lua topic task
/// What Lua files of yours return: environments, MuJoCo tasks and blocks, and what they get to see.

/// @lua options task.env
/// An environment that is all Lua: the table that the file's function(options) returns. iap.env.make("FILE.lua", options) makes it;
/// an option that the function reads neither while it runs nor, later, by the name options.NAME (in these words) is an error.
/// Its functions are taken once, when it is made: one that is put in a function's place later is never called.
/// @option spec table{task.spec} - what it takes and shows
/// @option reset fun(self:table,seed:integer) - begins an episode; math.random is seeded before. The seed is any 64-bit integer, so
/// that half of all are negative in Lua
/// @option step fun(self:table,action:number[]):number,boolean?,boolean? - reward, terminated, truncated
/// @option observe fun(self:table):number[],table - `vector` numbers, then {NAME = string of bytes or flat list of numbers}
/// @example iap.env.make("pendulum.lua", { strength = 4 })
/// @see lua.md
std::unique_ptr<Env> make_script_env(Options& options) {
  const std::string file = options.string("name");
  lua::ScriptObject script(file, options, {.may_be_table = true, .library = open_task_library});
  // Whoever has a spec keeps in its table what it likes.
  const bool is_task = !script.has("spec");
  if (is_task && script.has("model")) return make_script_task(std::move(script), options);
  if (is_task && script.has("reward"))
    throw Error(text(file, ": a MuJoCo task needs model = \"NAME.xml\", the path of its MJCF from this file's folder"));
  return std::make_unique<ScriptEnv>(std::move(script), options);
}

}  // namespace iap
