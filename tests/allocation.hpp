// Replaces the global operator new and operator delete of a test program, to count what C++ allocates in it, and to see what it
// does where memory runs out. Such replacements may not be inline: include this in exactly one source file of the program. Its name
// holds "allocation_test", which iap_test leaves out where the thread sanitizer's own operator new is in the way.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

/// How often memory was asked for, on all threads, since the program began.
inline std::atomic<long> allocations = 0;
/// The bytes asked for, whatever was given back.
inline std::atomic<std::size_t> bytes_taken = 0;
/// Allocations, on all threads, until one fails, and no other after it; negative: none does.
inline std::atomic<long> until_failure = -1;

/// Memory that `std::free` takes back, aligned for everything or to `alignment`; null if there is none or it is to fail.
inline void* take_memory(std::size_t size, std::size_t alignment = 0) noexcept {
  ++allocations;
  bytes_taken += size;
  if (until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0) return nullptr;
  size = std::max<std::size_t>(size, 1);
  if (alignment == 0) return std::malloc(size);
  // The address sanitizer refuses sizes that are no multiple.
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
inline void* take_memory(std::size_t size, std::align_val_t alignment) noexcept {
  return take_memory(size, static_cast<std::size_t>(alignment));
}
inline void* memory_or_throw(void* memory) {
  if (memory) return memory;
  throw std::bad_alloc();
}

// All of them: what the address sanitizer's own ones gave could not be freed here.
void* operator new(std::size_t size) { return memory_or_throw(take_memory(size)); }
void* operator new[](std::size_t size) { return memory_or_throw(take_memory(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take_memory(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take_memory(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return memory_or_throw(take_memory(size, alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return memory_or_throw(take_memory(size, alignment)); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take_memory(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take_memory(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
