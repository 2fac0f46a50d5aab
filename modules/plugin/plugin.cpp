module;
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "plugin/plugin.h"
module iap.plugin;
import iap.core;

namespace iap {
namespace {

namespace fs = std::filesystem;

std::string file_name(std::string_view name) { return text("libiap-", name, ".so"); }

std::string missing(const PluginKind& kind) {
  std::string folders;
  for (const auto& folder : plugin_folders()) folders += text(folders.empty() ? "" : ", ", folder.string());
  const std::string told = text("plugin '", kind.name, "' is not there (", file_name(kind.name), " in ", folders, "); ");
  const char* named = std::getenv("IAP_PLUGIN_PATH");
  if (!named || !*named) return text(told, kind.remedy, ", or name its folder in the environment variable IAP_PLUGIN_PATH");
  return text(
      told,
      "the environment variable IAP_PLUGIN_PATH names these folders instead of the installed ones: add the plugin's, or unset it; ",
      kind.remedy);
}

}  // namespace

fs::path find_plugin(std::string_view name) {
  for (const auto& folder : plugin_folders()) {
    std::error_code ignored;
    // A name without a slash would make the loader search the system.
    if (fs::path file = fs::absolute(folder / file_name(name), ignored); fs::is_regular_file(file, ignored)) return file;
  }
  return {};
}

const void* load_plugin(const PluginKind& kind) {
  const fs::path file = find_plugin(kind.name);
  if (file.empty()) throw Error(missing(kind));
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(text("plugin '", kind.name, "' cannot be loaded: ", dlerror(), "; ", kind.remedy));
  const auto* head = static_cast<const iap_plugin_head*>(dlsym(library, "iap_plugin"));
  if (!head || !head->name || std::string_view(head->name) != kind.name || !head->table)
    throw Error(text("'", file.string(), "' is not the plugin '", kind.name, "'; ", kind.remedy));
  if (head->version != kind.version)
    throw Error(text("plugin '", kind.name, "' ('", file.string(), "') is of version ", head->version,
                     ", this program needs version ", kind.version, "; use the one that was built with this program"));
  return head->table;
}

}  // namespace iap
