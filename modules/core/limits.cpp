module;
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "core/fork_mutex.hpp"
module iap.core;
import :part_place;

namespace iap {
namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();
std::atomic<double> most_usable = unlimited;

double machine_memory() { return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)); }

double address_space() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? unlimited : static_cast<double>(limit.rlim_cur);
}

/// The number in the file; the word "max", or no file, is no limit.
double number_in(const fs::path& path) {
  std::ifstream file(path);
  double bytes = 0;
  return file >> bytes ? bytes : unlimited;
}

/// The least limit of the group and those above it.
double group_limit(const fs::path& root, std::string_view group, const char* file) {
  double least = number_in(root / file);
  fs::path path = root;
  for (const auto& part : fs::path(group).relative_path()) least = std::min(least, number_in((path /= part) / file));
  return least;
}

/// Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH; version 2 has no controllers there.
double control_groups() {
  double least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", group = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, group_limit("/sys/fs/cgroup", group, "memory.max"));
    if (controllers.find(",memory,") != controllers.npos)
      least = std::min(least, group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

/// What is in use by this process, and what the machine has left; what cannot be read takes nothing away.
double resident_memory() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  return file >> all >> resident ? resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

double available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    double kib = 0;
    if (name == "MemAvailable:" && file >> kib) return 1024 * kib;
  }
  return unlimited;
}

/// What can still be taken: an eighth stays for what nobody asks about.
double memory_left() { return std::min(0.875 * usable_memory() - resident_memory(), available_memory()); }

/// Whether the file is a text that the kernel makes while it is read. Such files say that they are empty, and some never end
/// (/proc/kmsg).
bool is_of_kernel(const fs::path& path) {
  struct statfs system{};
  return ::statfs(path.c_str(), &system) == 0 &&
         (system.f_type == PROC_SUPER_MAGIC || system.f_type == TRACEFS_MAGIC || system.f_type == DEBUGFS_MAGIC);
}

}  // namespace

double usable_memory() {
  const Unforked whole;  // the first call finds out, and others wait for it
  static const double given = std::min(machine_memory(), control_groups());
  return std::min({given, address_space(), most_usable.load(std::memory_order_relaxed)});
}

void limit_usable_memory(double bytes) { most_usable.store(bytes, std::memory_order_relaxed); }

double memory_share() { return usable_memory() / 2; }

void check_memory(std::string_view what, double bytes) {
  if (!(bytes <= memory_share()))
    throw Error(text(what, " needs ", memory_text(bytes), " of memory, more than half of the ", memory_text(usable_memory()),
                     " that this process may use; make it smaller, or give the process more memory"));
  constexpr double small = 1 << 24;
  if (bytes < small) return;
  if (const double left = memory_left(); bytes > left)
    throw Error(text(what, " needs ", memory_text(bytes), " of memory, but of the ", memory_text(usable_memory()),
                     " that this process may use ", memory_text(std::max(left, 0.0)),
                     " are left; make it smaller, or give the process more memory"));
}

void check_file(const fs::path& path, std::uintmax_t most, double copies) {
  check_name("read", path);
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_directory(status)) return;  // whoever reads it says so
  if (!fs::is_regular_file(status)) throw Error(text("cannot read '", path.string(), "': it is no regular file"));
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return;
  if (size == 0 && is_of_kernel(path))
    throw Error(
        text("cannot read '", path.string(), "': the kernel makes it while it is read, which may never end; copy it to a file"));
  if (size > most)
    throw Error(text("cannot read '", path.string(), "': it has ", memory_text(static_cast<double>(size)), ", at most ",
                     memory_text(static_cast<double>(most)), " are taken; make it smaller"));
  check_memory(text("reading '", path.string(), "'"), copies * static_cast<double>(size));
}

}  // namespace iap
