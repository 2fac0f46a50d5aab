module;
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>
module iap.plugin;

namespace iap {
namespace {

namespace fs = std::filesystem;

/// The file that holds this code: a program, or a library that a program of others has loaded.
fs::path own_file() {
  Dl_info info{};
  void* loaded = nullptr;
  std::error_code ignored;
  const bool found = dladdr1(reinterpret_cast<const void*>(&own_file), &info, &loaded, RTLD_DL_LINKMAP) != 0;
  const auto* map = static_cast<const link_map*>(loaded);
  const bool library = found && map && map->l_name && *map->l_name;
  return fs::canonical(library ? map->l_name : "/proc/self/exe", ignored);
}

std::vector<fs::path> named_folders(std::string_view joined) {
  std::vector<fs::path> folders;
  while (!joined.empty()) {
    const auto end = joined.find(':');
    if (end != 0) folders.emplace_back(joined.substr(0, end));
    joined.remove_prefix(end == std::string_view::npos ? joined.size() : end + 1);
  }
  return folders;
}

}  // namespace

std::vector<fs::path> plugin_folders() {
  if (const char* named = std::getenv("IAP_PLUGIN_PATH"); named && *named) return named_folders(named);
  std::vector<fs::path> folders;
  const fs::path own = own_file().parent_path();
  // Programs lie in bin, libraries in the folder of libraries, the Lua module in lua/5.4 below that.
  for (const char* way : {IAP_PLUGINS_FROM_PROGRAMS, "iap", "../../iap"}) {
    std::error_code error;
    const fs::path folder = (own / way).lexically_normal();
    if (!own.empty() && (folders.empty() || fs::is_directory(folder, error))) folders.push_back(folder);
  }
  for (const char* prefix : {"/usr/local", "/usr"}) folders.push_back(fs::path(prefix) / IAP_LIBRARY_FOLDER / "iap");
  return folders;
}

}  // namespace iap
