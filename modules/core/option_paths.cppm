module;
#include <string>
#include <string_view>
#include <vector>
/// Where in a Config an option stands: "env.action_repeat"; positions in lists count from 1, as in Lua: "policy.blocks.2.units".
export module iap.core:option_paths;
import :config;

export namespace iap {

/// The parts of `path`, which they view. @throws Error naming the path where one is empty.
std::vector<std::string_view> path_parts(std::string_view path);
/// "policy" of "policy.blocks.2.units".
std::string first_part(std::string_view path);

/// The entry of a table or a list, or nullptr.
const Config* entry_of(const Config& tree, std::string_view key);
Config* entry_of(Config& tree, std::string_view key);
/// What stands at `path`, or nullptr. @throws Error as `path_parts`.
const Config* entry_at(const Config& tree, std::string_view path);
Config* entry_at(Config& tree, std::string_view path);

/// Sets `path` to `value`, which is read as JSON where it parses, as a number where Lua would (".5", "+1"), and as a string
/// otherwise. null takes the entry out, as if it had never been given; it creates nothing on its way.
/// @throws Error naming the path where a part of it is empty, no position of a list, or inside something that has no parts.
void set_path(Config& config, std::string_view path, std::string_view value);

/// `options` with the entries of the table `changes` in their place; null takes an option out.
Config with_changes(Config options, const Config& changes);

}  // namespace iap
