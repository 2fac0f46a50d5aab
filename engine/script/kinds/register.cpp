module;
#include "script/kinds/script_kinds.hpp"
module iap.script;
import iap.envs;

namespace iap {

void register_lua() noexcept {
  register_lua_blocks();
  register_script_envs(make_script_env);
}

}  // namespace iap
