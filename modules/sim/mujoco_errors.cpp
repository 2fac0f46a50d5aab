module;
#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"
#include "mujoco_memory.hpp"

namespace iap {
namespace {

// MuJoCo is built with unwind tables, so the exception passes its C frames; its default handler would prompt and exit.
void throw_error(const char* message) { throw Error(text("MuJoCo: ", message)); }

// mjData counts warnings itself, and MujocoWorld::unstable looks at them; the default handler would write a log file into the
// working folder.
void ignore_warning(const char*) {}

thread_local WeighedMemory* weighed = nullptr;

void* allocate(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* take_memory(std::size_t bytes) { return weighed ? weighed->take(bytes) : allocate(bytes); }

void give_back_memory(void* block) {
  if (weighed) weighed->forget(block);
  std::free(block);
}

}  // namespace

void install_mujoco_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    mju_user_error = throw_error;
    mju_user_warning = ignore_warning;
    mju_user_malloc = take_memory;
    mju_user_free = give_back_memory;
  });
}

WeighedMemory::WeighedMemory(std::string what) : what_(std::move(what)), outer_(std::exchange(weighed, this)) {}

WeighedMemory::~WeighedMemory() {
  weighed = outer_;
  if (!refused_) return;
  for (const auto& [block, bytes] : blocks_) std::free(block);
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
  std::free(block);
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
