module;
#include <dlfcn.h>
#include <mujoco/mujoco.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"
#include "mujoco_memory.hpp"

namespace iap {
namespace {

// Those of the program that has iap inside, where it simulates with MuJoCo itself; null where it set none.
struct Handlers {
  decltype(mju_user_error) error = nullptr;
  decltype(mju_user_warning) warning = nullptr;
  decltype(mju_user_malloc) allocate = nullptr;
  decltype(mju_user_free) release = nullptr;
} host;

thread_local int calls = 0;
thread_local WeighedMemory* weighed = nullptr;
// MuJoCo compiles with threads of its own, too.
std::atomic<int> compilations = 0;

// MuJoCo is built with unwind tables, so the exception passes its C frames; its default handler would prompt and exit.
void take_error(const char* message) {
  if (calls > 0 || weighed) throw Error(text("MuJoCo: ", message));
  if (host.error) return host.error(message);
  mju_user_error = nullptr;  // MuJoCo's own asks for Enter and exits
  mju_error(message);
}

// mjData counts warnings itself, and MujocoWorld::unstable looks at them; the default handler would write a log file into the
// working folder.
void take_warning(const char* message) {
  if (calls > 0 || compilations > 0) return;
  if (host.warning) return host.warning(message);
  mju_writeLog("WARNING", message);
  std::printf("WARNING: %s\n\n", message);
}

void* allocate(std::size_t bytes) {
  if (host.allocate) return host.allocate(bytes);
  constexpr std::size_t alignment = 64;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void release(void* block) { host.release ? host.release(block) : std::free(block); }

void* take_memory(std::size_t bytes) { return weighed ? weighed->take(bytes) : allocate(bytes); }

void give_back_memory(void* block) {
  if (weighed) weighed->forget(block);
  release(block);
}

// A program that brings another MuJoCo along has the loader prefer that, whose models look otherwise.
void check_version() {
  if (mj_version() == mjVERSION_HEADER) return;
  Dl_info place{};
  const bool known = dladdr(reinterpret_cast<const void*>(&mj_version), &place) != 0;
  throw Error(text("another MuJoCo is in the way: version ", mj_version(), " (", known ? place.dli_fname : "the program's",
                   ") takes the place of ", mjVERSION_HEADER,
                   "; link the program with that one, or load iap by dlopen with RTLD_DEEPBIND"));
}

// MuJoCo asks for qhull and libccd by names that say nothing of their kind: the loader prefers those of a program that has others
// inside (libqhull, whose functions take other arguments than libqhull_r's; a libccd in float32).
void check_geometry_libraries() {
  Dl_info place{};
  if (!dladdr(reinterpret_cast<const void*>(&mj_version), &place)) return;
  const auto close = [](void* library) { dlclose(library); };
  const std::unique_ptr<void, decltype(close)> mujoco(dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD), close);
  if (!mujoco) return;
  for (const char* function : {"qh_init_A", "ccdMPRPenetration"}) {
    const void* own = dlsym(mujoco.get(), function);
    const void* taken = dlsym(RTLD_DEFAULT, function);
    Dl_info own_place{}, taken_place{};
    if (!own || !taken || own == taken || !dladdr(own, &own_place) || !dladdr(taken, &taken_place)) continue;
    throw Error(text("another library is in the way: ", function, " of '", taken_place.dli_fname, "' takes the place of that of '",
                     own_place.dli_fname, "' in MuJoCo; link the program so that it does not export it (-Wl,--exclude-libs,ALL), ",
                     "or load iap by dlopen with RTLD_DEEPBIND"));
  }
}

}  // namespace

void install_mujoco_handlers() {
  const Unforked whole;  // others wait for the first call
  static std::once_flag once;
  std::call_once(once, [] {
    check_version();
    check_geometry_libraries();
    host = {mju_user_error, mju_user_warning, mju_user_malloc, mju_user_free};
    mju_user_error = take_error;
    mju_user_warning = take_warning;
    mju_user_malloc = take_memory;
    mju_user_free = give_back_memory;
  });
}

MujocoCall::MujocoCall() noexcept { ++calls; }
MujocoCall::~MujocoCall() { --calls; }

WeighedMemory::WeighedMemory(std::string what) : what_(std::move(what)), outer_(std::exchange(weighed, this)) { ++compilations; }

WeighedMemory::~WeighedMemory() {
  --compilations;
  weighed = outer_;
  if (!refused_) return;
  for (const auto& [block, bytes] : blocks_) release(block);
}

// To MuJoCo no memory is an error, from which its compiler cleans up; through its C frames nothing else may come.
void* WeighedMemory::take(std::size_t bytes) {
  constexpr double small = 1 << 20;
  const auto more = static_cast<double>(bytes);
  void* block = nullptr;
  try {
    const bool much = taken_ + more > memory_share();
    // What was taken before is in use by now.
    if (much || more >= small) check_memory(what_, much ? taken_ + more : more);
    block = allocate(bytes);
    if (block) blocks_.emplace(block, bytes);
    taken_ += more;
    return block;
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const std::exception&) {
    refuse("out of memory");
  }
  if (block) release(block);
  return nullptr;
}

void WeighedMemory::refuse(const char* why) {
  refused_ = true;
  try {
    refusal_ = why;
  } catch (const std::exception&) {
    refusal_.clear();  // which is said then
  }
}

void WeighedMemory::forget(void* block) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  taken_ -= static_cast<double>(found->second);
  blocks_.erase(found);
}

std::string WeighedMemory::refusal() const { return !refused_ || !refusal_.empty() ? refusal_ : "out of memory"; }

}  // namespace iap
