#pragma once
#include <cstddef>

#include "core/fork_mutex.hpp"

namespace iap::lua {

/// Memory that confined states hold together: each has a limit of its own, but nothing limits how many a file brings.
class MemoryPool {
 public:
  /// @throws Error where so many bytes more may not be taken.
  using Ask = void (*)(std::size_t bytes);

  constexpr explicit MemoryPool(Ask ask) noexcept : ask_(ask) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// That of all states which name no other; it asks `check_memory`.
  static MemoryPool& of_process() noexcept;

  /// Asks whenever all have taken 16 MiB more, since to ask takes a tenth of a millisecond. @throws Error, and nothing is taken.
  void take(std::size_t bytes);
  void give_back(std::size_t bytes) noexcept;

 private:
  ForkMutex gate_;
  Ask ask_;
  std::size_t taken_ = 0, allowed_ = 0;  ///< up to which nobody need ask
};

}  // namespace iap::lua
