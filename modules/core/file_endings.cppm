module;
#include <filesystem>
#include <initializer_list>
#include <string_view>
/// What files of a kind are called, so that a slip replaces no other.
export module iap.core:file_endings;

export namespace iap {

/// Pipes, devices and files that are open here (/dev/stdout, /dev/fd/N) may have any name. @throws Error that says what `thing` is
/// ("a strip is a picture") where `path` ends in none of `endings`, which are in small letters (".png").
void check_ending(const std::filesystem::path& path, std::string_view thing, std::initializer_list<std::string_view> endings);

/// For what may be called anything else: @throws Error as `check_ending`, but where `path` ends in one of `endings`.
void check_foreign_ending(const std::filesystem::path& path, std::string_view thing,
                          std::initializer_list<std::string_view> endings);

/// For tables of numbers and their like: @throws Error saying what `thing` ("a table") is not, where `path` is a script's name or
/// a policy's.
void check_data_name(const std::filesystem::path& path, std::string_view thing);

}  // namespace iap
