#include <hwy/highway.h>
#include <lua.h>
#include <mujoco/mujoco.h>

#include <iostream>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
import iap.core;
import iap.plugin;
import iap.script;
import iap.sim;

namespace iap::cli {
namespace {

void row(std::string_view name, std::string_view value) { std::cout << left_text(name, 10) << value << "\n"; }

/// Highway numbers better instruction sets lower.
std::string simd() {
  const auto supported = hwy::SupportedTargets();
  return hwy::TargetName(supported & -supported);
}

}  // namespace

int doctor() {
  row("iap", version());
  row("Lua", LUA_RELEASE);
  row("MuJoCo", mj_versionString());
  row("threads", text(hardware_threads()));
  row("SIMD", simd());
  row("OpenGL", describe_gl());
  const std::string windows = find_plugin("live").string();
  row("windows", windows.empty() ? "none (iap play --live needs the plugin 'live', built where libsdl2-dev is)" : windows);
  return Exit::success;
}

}  // namespace iap::cli
