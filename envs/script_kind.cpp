module;
#include <atomic>
#include <memory>
module iap.envs;
import iap.core;
import iap.env;

namespace iap {
namespace {

std::atomic<EnvMaker> script_maker = nullptr;

}  // namespace

void register_script_envs(EnvMaker make) noexcept { script_maker = make; }

std::unique_ptr<Env> make_script_env_kind(Options& options) {
  if (const EnvMaker make = script_maker) return make(options);
  options.fail("environments written in Lua need the script layer; call iap::register_lua() first (import iap.script, or iap)");
}

}  // namespace iap
