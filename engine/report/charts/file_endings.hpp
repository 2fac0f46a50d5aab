// What files of a kind are called. Include <filesystem>, <initializer_list> and <string_view> first.
#pragma once

namespace iap {

/// Pipes, devices and files that are open here (/dev/stdout, /dev/fd/N) may have any name. @throws Error that says what `thing` is
/// ("a strip is a picture") where `path` ends in none of `endings`, which are in small letters (".png").
void check_ending(const std::filesystem::path& path, std::string_view thing, std::initializer_list<std::string_view> endings);

}  // namespace iap
