#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/kinds/script_kinds.hpp"
#include "script/kinds/script_spec.hpp"
import iap.core;
import iap.policy;

namespace iap {
namespace {

constexpr std::int64_t most_values = 1 << 24;

/// What a script is told about its place: {inputs, vector, action_size, last}.
Config shapes_of(const BlockContext& context) {
  return Config::Map{{"inputs", context.inputs},
                     {"vector", context.observation->vector},
                     {"action_size", context.action_size},
                     {"last", context.last}};
}

int read_size(lua::ScriptObject& script, const char* name, std::int64_t low) {
  const Config value = script.entry(name);
  const auto size = value.integer();
  if (!size || *size < low || *size > most_values)
    throw Error(
        text(script.file(), ": '", name, "' must be an integer in [", low, ", ", most_values, "], got ", describe_in_lua(value)));
  return static_cast<int>(*size);
}

/// @lua options task.block
/// A block in Lua: the table that function(options, shapes) of its file returns; `shapes` is {inputs, vector, action_size, last}.
/// iap.policy.script makes it. Its functions are taken once, when it is made: one that is put in a function's place later is never
/// called.
/// @option parameters integer 0..16777216 - how many numbers it takes from the policy's vector
/// @option outputs integer 1..16777216 - how many it hands over
/// @option forward fun(self:table,parameters:number[],inputs:number[],vector:number[]):number[] - the outputs. It may
/// change its lists: what it writes into `parameters` lasts until the episode ends
/// @option reset fun(self:table,seed:integer) ? - begins an episode: puts back whatever else an episode changes, what was made of
/// `parameters` included (a training looks whether it does); math.random is seeded before. The seed is any 64-bit integer, so that
/// half of all are negative in Lua. It is called with 0, too, when the block is built and when its initial parameters are drawn, so
/// that a policy is ready to act
/// @option initialise fun(self:table):number[] = (N(0, 0.1^2)) - initial parameters
/// @see lua.md
class ScriptBlock final : public Block {
 public:
  ScriptBlock(std::unique_ptr<lua::ScriptObject> script, const BlockContext& context, ParameterLayout& layout)
      : Block(context, read_size(*script, "outputs", 1)), script_(std::move(script)) {
    size_ = static_cast<std::size_t>(read_size(*script_, "parameters", 0));
    if (size_ > 0) offset_ = layout.add(path() + ".parameters", {static_cast<int>(size_)});
    script_->refuse_misspelt({"forward", "reset", "initialise"});
    forward_ = script_->method("forward", true);
    reset_ = script_->method("reset", false);
    initialise_ = script_->method("initialise", false);
    keep_parameters();
  }
  std::string_view kind() const override { return "script"; }
  std::string memory() const override { return "is written in Lua, which may remember"; }
  std::string describe() const override { return script_->file(); }

  void initialise(std::span<float> parameters, Random& random) const override {
    const auto own = parameters.subspan(offset_, size_);
    if (initialise_ == LUA_NOREF) {
      for (float& value : own) value = static_cast<float>(0.1 * random.normal());
      return;
    }
    script_->seed(random.bits());
    script_->invoke(initialise_, "initialise", 1, [](lua_State*) noexcept { return 0; });
    script_->take(-1, "what initialise returns", own);
    script_->clear();
  }

  void bind(std::span<const float> parameters) override {
    bound_ = parameters.subspan(offset_, size_);
    keep_parameters();
  }

  void reset(std::uint64_t episode_seed) override {
    if (used_) keep_parameters();
    // The world draws from the episode's seed itself, and other blocks from the same: none may know the numbers of another.
    script_->seed(derive_seed({.seed = episode_seed, .member = crc32(path()), .purpose = Purpose::policy}));
    if (reset_ == LUA_NOREF) return;
    script_->invoke(reset_, "reset", 0, [episode_seed](lua_State* state) noexcept {
      lua_pushinteger(state, static_cast<lua_Integer>(episode_seed));
      return 1;
    });
  }

  void forward(const Observation& observation, std::span<const float> in, std::span<float> out) override {
    used_ = true;
    const int parameters = parameters_;
    script_->invoke(forward_, "forward", 1, [&observation, in, parameters](lua_State* state) noexcept {
      lua_rawgeti(state, LUA_REGISTRYINDEX, parameters);
      lua::ScriptObject::push_list(state, in);
      lua::ScriptObject::push_list(state, observation.vector);
      return 3;
    });
    script_->take(-1, "what forward returns", out);
    script_->clear();
  }

 private:
  /// Lists the parameters anew, as the script may have changed the list before.
  void keep_parameters() {
    const int before = std::exchange(parameters_, LUA_NOREF);
    lua::protect(script_->state(), 0, 1, [own = bound_, before](lua_State* state) noexcept {
      luaL_unref(state, LUA_REGISTRYINDEX, before);
      lua::ScriptObject::push_list(state, own);
      lua_pushinteger(state, luaL_ref(state, LUA_REGISTRYINDEX));
    });
    parameters_ = static_cast<int>(lua_tointegerx(script_->state(), -1, nullptr));
    script_->clear();
    used_ = false;
  }

  std::unique_ptr<lua::ScriptObject> script_;
  std::size_t offset_ = 0, size_ = 0;
  std::span<const float> bound_;
  bool used_ = false;  ///< whether the script has had the list of parameters
  int forward_, reset_, initialise_, parameters_ = LUA_NOREF;
};

}  // namespace

/// @lua function iap.policy.script
/// A block that is written in Lua; the slowest kind, for ideas. The script's function gets all options; one that it reads neither
/// while it runs nor, later, by the name options.NAME is an error. Text and required modules travel in the policy file.
/// @option file string - path of the script, which returns function(options, shapes)
/// @option source string ? - its text; by default that of the file
/// @option required_modules table ? - the texts of the modules that it requires, by name; as policy files hold them
/// @option loaded_from string ? - the policy file that the text comes from: what is named is confined to computing
/// @use policy.block
/// @return blueprint - as many parameters as the script says
/// @example iap.policy.script { file = "block.lua", gain = 2 }
/// @see lua.md
std::unique_ptr<Block> make_script_block(Options& options, const BlockContext& context, ParameterLayout& layout) {
  auto script = std::make_unique<lua::ScriptObject>(options.string("file"), options,
                                                    lua::ScriptSetting{.shapes = shapes_of(context), .library = open_task_library});
  for (const char* own : {"source", "required_modules"})
    if (const Config* value = script->config().find(own)) options.complete(own, *value);
  auto block = std::make_unique<ScriptBlock>(std::move(script), context, layout);
  // Policies act without a reset as after one.
  block->reset(0);
  return block;
}

}  // namespace iap
