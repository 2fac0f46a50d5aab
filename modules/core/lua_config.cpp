module;
#include <string>
#include <string_view>
module iap.core;

namespace iap {

bool is_lua_name(std::string_view name) { return name.ends_with(".lua"); }

bool is_lua_env(const Config& env) {
  const Config* name = env.find("name");
  return name && name->string() && is_lua_name(*name->string());
}

bool is_lua_block(const Config& block) {
  const Config* kind = block.find("kind");
  return kind && *kind == Config("script");
}

}  // namespace iap
