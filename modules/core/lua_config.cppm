module;
#include <string_view>
/// What of a Config is written in Lua.
export module iap.core:lua_config;
import :config;

export namespace iap {

/// Whether `name`, of an environment, is that of a text in Lua.
bool is_lua_name(std::string_view name);
/// Whether `env` describes an environment that is built out of a text in Lua.
bool is_lua_env(const Config& env);
/// Whether `block` describes a block of a policy that is built out of a text in Lua: what it holds are then its own options.
bool is_lua_block(const Config& block);

}  // namespace iap
