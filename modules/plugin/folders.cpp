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

struct OwnFile {
  fs::path path;
  bool library = false;
};

/// The file that holds this code: a program, or a library that a program of others has loaded.
OwnFile own_file() {
  Dl_info info{};
  void* loaded = nullptr;
  std::error_code ignored;
  const bool found = dladdr1(reinterpret_cast<const void*>(&own_file), &info, &loaded, RTLD_DL_LINKMAP) != 0;
  const auto* map = static_cast<const link_map*>(loaded);
  const bool library = found && map && map->l_name && *map->l_name;
  return {fs::canonical(library ? map->l_name : "/proc/self/exe", ignored), library};
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
  const auto [file, library] = own_file();
  const fs::path own = file.parent_path();
  // Programs lie in bin, libraries in the folder of libraries, the Lua module in lua/5.4 below that. No other way is gone: what
  // lies there is run, and may be anybody's.
  const bool module = library && own.filename() == "5.4" && own.parent_path().filename() == "lua";
  const char* way = module ? "../../iap" : library ? "iap" : IAP_PLUGINS_FROM_PROGRAMS;
  if (!own.empty()) folders.push_back((own / way).lexically_normal());
  for (const char* prefix : {"/usr/local", "/usr"}) folders.push_back(fs::path(prefix) / IAP_LIBRARY_FOLDER / "iap");
  return folders;
}

}  // namespace iap
