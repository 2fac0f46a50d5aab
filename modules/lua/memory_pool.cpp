#include "lua/memory_pool.hpp"

#include <algorithm>
#include <mutex>

import iap.core;

namespace iap::lua {
namespace {

/// The least about which `check_memory` looks at what is left.
constexpr std::size_t asked_at_once = std::size_t{1} << 24;

void ask_process(std::size_t bytes) { check_memory("Lua out of files", static_cast<double>(bytes)); }

}  // namespace

MemoryPool& MemoryPool::of_process() noexcept {
  static constinit MemoryPool pool(ask_process);
  return pool;
}

void MemoryPool::take(std::size_t bytes) {
  const std::lock_guard lock(gate_);
  if (taken_ + bytes > allowed_) {
    const std::size_t more = std::max(bytes, asked_at_once);
    ask_(more);
    allowed_ = taken_ + more;
  }
  taken_ += bytes;
}

void MemoryPool::give_back(std::size_t bytes) noexcept {
  const std::lock_guard lock(gate_);
  taken_ -= bytes;
  // What was given back may be somebody else's when it is wanted again.
  allowed_ = std::min(allowed_, taken_ + asked_at_once);
}

}  // namespace iap::lua
