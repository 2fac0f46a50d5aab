module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>
/// What a file that somebody else made may ask of this process: refused before it is allocated or read.
export module iap.core:limits;

export namespace iap {

/// Bytes that this process may use: the least of the machine's memory, the limits of the control groups (versions 1 and 2) that it
/// is in, and its limit of address space (ulimit -v).
double usable_memory();
/// From here on no more than `bytes` of that (infinity: all of it), for a process that shares its machine.
void limit_usable_memory(double bytes);
/// Half of that: what one object out of a file may take.
double memory_share();
/// @throws Error "`what` needs ... of memory, more than half of ..." with the remedy, if `bytes` is above the share.
void check_memory(std::string_view what, double bytes);
/// Makes room for `count` more values in a list that grows for as long as an episode lasts, by doubling. `bytes_a_value` is what
/// each takes in the end, with what is made of it. @throws Error as `check_memory` does, before the list grows.
template <typename Value>
void reserve_growing(std::vector<Value>& list, std::size_t count, std::string_view what, double bytes_a_value = sizeof(Value)) {
  const std::size_t needed = list.size() + count;
  if (needed <= list.capacity()) return;
  const std::size_t room = std::max(needed, 2 * list.capacity());
  check_memory(what, bytes_a_value * static_cast<double>(room));
  list.reserve(room);
}
/// Before the file is read, whose content is in memory `copies` times at once. @throws Error naming the path if it is there and is
/// no regular file (a device never ends), or if its content is above `most` bytes or, with the copies, the share.
void check_file(const std::filesystem::path& path, std::uintmax_t most = UINTMAX_MAX, double copies = 1);

}  // namespace iap
