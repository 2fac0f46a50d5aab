module;
#include "script/kinds/script_kinds.hpp"
module iap.script;
import iap.policy;

namespace iap {

void register_lua_blocks() noexcept { register_script_blocks(make_script_block); }

}  // namespace iap
