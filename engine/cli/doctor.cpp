#include <gnu/libc-version.h>
#include <lua.h>

#include <CLI/Version.hpp>
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/line_editor.hpp"
import iap.core;
import iap.envs;
import iap.legged;
import iap.npz;
import iap.plugin;
import iap.ranks;
import iap.render;
import iap.report;
import iap.script;
import iap.sim;
import iap.train;

namespace iap::cli {
namespace {

void row(std::string_view name, std::string_view value) { std::cout << left_text(name, 15) << value << "\n"; }

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

std::string lower(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

/// Everything that the program stands on, by name.
LibraryVersions versions() {
  LibraryVersions all{{"Lua", LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE},
                      {"CLI11", CLI11_VERSION},
                      {"compiler", __VERSION__},
                      {"glibc", gnu_get_libc_version()},
                      {"libedit", line_editor_version()},
                      {"libstdc++", text("headers of ", _GLIBCXX_RELEASE, ", ", __GLIBCXX__)}};
  for (const auto& own : {core_versions(), envs_versions(), legged_versions(), npz_versions(), render_versions(), report_versions(),
                          sim_versions(), train_versions()})
    all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all, {}, [](const LibraryVersion& library) { return lower(library.name); });
  return all;
}

}  // namespace

int doctor(const Job* job) {
  row("iap", version());
  row("threads", text(hardware_threads()));
  row("SIMD", chosen_instructions());
  row("OpenGL", describe_gl());
  const std::string windows = find_plugin("live").string();
  row("windows", windows.empty() ? "none (iap play --live needs the plugin 'live', built where libsdl2-dev is)" : windows);
  row("MPI", mpi());
  for (const auto& [name, version] : versions()) row(name, version);
  if (job) describe_job(*job);
  return Exit::success;
}

}  // namespace iap::cli
