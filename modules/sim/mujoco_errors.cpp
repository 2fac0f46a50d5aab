module;
#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_set>
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

// mjData counts warnings itself; the default handler would write a log file into the working folder.
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
  if (refusal_.empty()) return;
  for (void* block : blocks_) std::free(block);
}

// To MuJoCo no memory is an error, from which its compiler cleans up.
void* WeighedMemory::take(std::size_t bytes) {
  constexpr double small = 1 << 20;
  const auto more = static_cast<double>(bytes);
  taken_ += more;
  const bool much = taken_ > memory_share();
  try {
    // What was taken before is in use by now.
    if (much || more >= small) check_memory(what_, much ? taken_ : more);
  } catch (const Error& error) {
    refusal_ = error.what();
    return nullptr;
  }
  void* block = allocate(bytes);
  blocks_.insert(block);
  return block;
}

void WeighedMemory::forget(void* block) { blocks_.erase(block); }

const std::string& WeighedMemory::refusal() const { return refusal_; }

}  // namespace iap
