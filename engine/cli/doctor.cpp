#include <lua.h>
#include <mujoco/mujoco.h>

#include <iostream>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
import iap.core;
import iap.plugin;
import iap.ranks;
import iap.script;
import iap.sim;

namespace iap::cli {
namespace {

void row(std::string_view name, std::string_view value) { std::cout << left_text(name, 10) << value << "\n"; }

/// The plugins that are there.
std::string mpi() {
  std::string found;
  for (const char* name : {"openmpi", "mpich"})
    if (!find_plugin(name).empty()) found += text(found.empty() ? "" : ", ", name);
  return found.empty() ? "no plugin; needed by mpirun and srun only" : found;
}

/// Hosts with their ranks and the episodes that they play at a time.
void describe_job(const Job& job) {
  row("ranks", text(job.ranks().size()));
  int rank = 0;
  for (const auto& [host, threads, instructions] : job.ranks())
    row("", text("rank ", rank++, " on ", host, ": ", threads, threads == 1 ? " thread, " : " threads, ", instructions));
}

}  // namespace

int doctor(const Job* job) {
  row("iap", version());
  row("Lua", LUA_RELEASE);
  row("MuJoCo", mj_versionString());
  row("threads", text(hardware_threads()));
  row("SIMD", best_instruction_set(instruction_sets()));
  row("OpenGL", describe_gl());
  const std::string windows = find_plugin("live").string();
  row("windows", windows.empty() ? "none (iap play --live needs the plugin 'live', built where libsdl2-dev is)" : windows);
  row("MPI", mpi());
  if (job) describe_job(*job);
  return Exit::success;
}

}  // namespace iap::cli
