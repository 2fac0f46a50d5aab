#include <fcntl.h>
#include <gnu/libc-version.h>
#include <lua.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/Version.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>
#include <tuple>

#include "cli/commands.hpp"
#include "cli/line_editor.hpp"
#include "ranks/mpi_table.hpp"
#include "report/live/live.h"
import iap.core;
import iap.envs;
import iap.legged;
import iap.npz;
import iap.plugin;
import iap.process;
import iap.ranks;
import iap.render;
import iap.report;
import iap.script;
import iap.sim;
import iap.train;
#include "core/mathematics.hpp"

namespace iap::cli {
namespace {

void row(std::string_view name, std::string_view value) { std::cout << left_text(name, 15) << one_line(value) << "\n"; }

/// What is told against a plugin, "" if it can be used. A child of this process loads it: what libraries of MPI do to a process
/// that only loads them, or a damaged file does, has no part here.
std::string flaw_of(const PluginKind& kind) {
  constexpr unsigned longest_seconds = 20;
  std::array<int, 2> ends{};
  // Not to wait for what a plugin leaves running, which may hold the other end.
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return text("it cannot be tried: ", std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    alarm(longest_seconds);
    try {
      load_plugin(kind);
    } catch (const std::exception& error) {
      std::ignore = write(ends[1], error.what(), std::strlen(error.what()));
    }
    _exit(0);
  }
  const int fork_error = errno;
  close(ends[1]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  std::string flaw;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = read(ends[0], part.data(), part.size())) > 0;)
    flaw.append(part.data(), static_cast<std::size_t>(size));
  close(ends[0]);
  if (child < 0) return text("it cannot be tried: ", std::strerror(fork_error));
  if (status != 0)
    return text("a process that loads '", find_plugin(kind.name).string(), "' ", describe_end(status), "; ", kind.remedy);
  return flaw;
}

/// `name` of a plugin that is there, and why it cannot be used if it cannot.
std::string usable(std::string_view name, const PluginKind& kind) {
  const std::string flaw = flaw_of(kind);
  return flaw.empty() ? std::string(name) : text(name, " (cannot be used: ", flaw, ")");
}

constexpr std::string_view plugin_remedy = "install it anew, with what it needs";

std::string windows() {
  const std::string file = find_plugin("live").string();
  if (file.empty()) return "none (iap play --live needs the plugin 'live': install iap-live, or build with libsdl2-dev installed)";
  return usable(file, {"live", iap_live_version, plugin_remedy});
}

/// The plugins that are there.
std::string mpi() {
  std::string found;
  for (const char* name : {"openmpi", "mpich"})
    if (!find_plugin(name).empty()) found += text(found.empty() ? "" : ", ", usable(name, {name, iap_mpi_version, plugin_remedy}));
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
                      {"libm", text(mathematics(), ", the last bits of glibc's exp, sin and cos in a number")},
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
  if (const char* folders = std::getenv("IAP_PLUGIN_PATH"); folders && *folders)
    row("plugins", text("looked for in ", folders, " alone, which IAP_PLUGIN_PATH names instead of the installed folders"));
  row("windows", windows());
  row("MPI", mpi());
  for (const auto& [name, version] : versions()) row(name, version);
  if (job) describe_job(*job);
  return Exit::success;
}

}  // namespace iap::cli
