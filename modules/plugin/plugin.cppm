module;
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
/// Parts of the engine that need what not every machine has: shared libraries that are looked for when they are asked for.
export module iap.plugin;
import iap.core;

export namespace iap {

struct PluginKind {
  std::string_view name;      ///< "live": the library is libiap-live.so
  std::uint32_t version = 0;  ///< that its table must have
  std::string_view remedy;    ///< what to install or to build where there is none: "install Debian's package iap-live, or ..."
};

/// The folders that are looked into, in order: those of the environment variable IAP_PLUGIN_PATH (joined by colons), and only
/// those, where it is set; else `iap` beside the libraries of the tree in which this program or library lies, be it installed or
/// built, and then those of the system.
std::vector<std::filesystem::path> plugin_folders();

/// The plugin's file, or an empty path if no folder has one.
std::filesystem::path find_plugin(std::string_view name);

/// The table of functions of a plugin (`iap_plugin_head::table` of plugin/plugin.h), which stays loaded until the process ends.
/// @throws Error if there is none, naming the folders and the remedy; if it cannot be loaded, with the loader's reason; if it is
/// another plugin or of another version.
const void* load_plugin(const PluginKind& kind);

/// The same as the struct that plugin and user share.
template <typename Table>
const Table& plugin_table(const PluginKind& kind) {
  return *static_cast<const Table*>(load_plugin(kind));
}

}  // namespace iap
