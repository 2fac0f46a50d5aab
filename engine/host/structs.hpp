#pragma once
// Structs that may grow: the caller's `size` says how much of one there is.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "host/guard.hpp"

namespace iap::host {

/// The size of T in the first version of the interface that had it: write a number here for a struct that has grown.
template <typename T>
inline constexpr std::size_t first_size = sizeof(T);

/// `what`: "'spec'", "'images[2]'". @throws BadArgument for a struct that is null or says no plausible size.
template <typename T>
void check_struct(const char* function, const std::string& what, const char* type, const T* given) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, size) == 0);
  constexpr std::size_t most = 4096;
  require(given, function, ": ", what, " is null; it must point to a struct ", type);
  require(given->size >= first_size<T> && given->size <= most, function, ": the member size of ", what, " is ", given->size,
          "; set it to sizeof(", type, ")");
}

/// Gives the caller as much of `value` as its struct has room for; what this library does not know becomes 0.
template <typename T>
void fill_struct(T* out, T value) {
  const std::size_t size = out->size;
  value.size = size;
  std::memcpy(out, &value, std::min(size, sizeof value));
  if (size > sizeof value) std::memset(reinterpret_cast<char*>(out) + sizeof value, 0, size - sizeof value);
}

/// What the caller's struct has of T; the rest is 0.
template <typename T>
T read_struct(const T* given) {
  T value{};
  std::memcpy(&value, given, std::min(given->size, sizeof value));
  return value;
}

/// Element `index` of the caller's array, whose elements are as large as the first says. @throws BadArgument.
template <typename T>
T* element(const char* function, const char* array, const char* type, T* first, std::size_t index) {
  using Bytes = std::conditional_t<std::is_const_v<T>, const char, char>;
  const auto named = [&](std::size_t at) { return text("'", array, "[", at, "]'"); };
  if (index == 0) {
    check_struct(function, named(0), type, first);
    return first;
  }
  auto* found = reinterpret_cast<T*>(reinterpret_cast<Bytes*>(first) + index * first->size);
  require(found->size == first->size, function, ": the member size of ", named(index), " is ", found->size, ", that of ", named(0),
          " is ", first->size, "; set both to sizeof(", type, ")");
  return found;
}

}  // namespace iap::host
