#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.policy;
import iap.report;
import iap.train;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

/// Pictures usually go to a run's media folder, which the first of them makes.
std::filesystem::path with_folder(const std::filesystem::path& file) {
  if (file.has_parent_path()) make_folder(file.parent_path());
  return file;
}

/// iap.report.learning_curve(run, png)
int learning_curve(Call& call) {
  const auto run = call.string(1, "run"), png = call.string(2, "png");
  write_learning_curve(run, with_folder(png));
  return 0;
}

/// iap.report.strip{policy, out, frames, seed, env, min_height} -> the episode's return. `policy` is a run, a file or a policy.
int strip(Call& call) {
  if (lua_type(call.state(), call.at(1)) != LUA_TTABLE) call.refuse(1, "options", "a table");
  const Config config = call.config(1, "options", {.skip = "policy"});
  Options options(call.name(), config);
  const auto out = options.string("out");
  const auto frames = static_cast<int>(options.integer_in("frames", 1, 100, 6));
  const auto seed = options.integer_in("seed", 0, std::numeric_limits<std::int64_t>::max(), 0);
  const auto height = static_cast<int>(options.integer_in("min_height", 1, 4096, 200));
  Config env = options.value("env");
  options.value("policy");
  options.finish();
  lua::push_entry(call.state(), call.at(1), "policy");
  const int policy_at = lua_gettop(call.state());
  const auto found = lua::find_object(call.state(), policy_at);
  auto* object = found.info == &lua::ClassOf<PolicyObject>::info ? static_cast<PolicyObject*>(found.box->object) : nullptr;
  if (!object && lua_type(call.state(), policy_at) != LUA_TSTRING)
    call.fail(text("option 'policy' must be a policy, or the path of a run or policy file, got ",
                   lua::describe_value(call.state(), policy_at)));
  const auto file =
      object ? nullptr : std::make_unique<PolicyFile>(open_policy(std::string(lua::string_at(call.state(), policy_at))));
  const Config* own = (object ? object->metadata : file->metadata).find("env");
  if (env.string()) env = Config::Map{{"name", *env.string()}};
  if (env.is_null() && own) env = *own;
  if (env.is_null()) call.fail("option 'env' is missing: the policy does not say which environment it is for");
  return call.give(
      write_strip(with_folder(out), object ? object->policy : file->policy, env, static_cast<std::uint64_t>(seed), frames, height));
}

constexpr lua::Function functions[] = {{"learning_curve", entry<learning_curve>}, {"strip", entry<strip>}};

}  // namespace

void open_report_face(lua_State* state) {
  lua::push_functions(state, "iap.report", ".", functions);
  lua_setfield(state, -2, "report");
}

}  // namespace iap
