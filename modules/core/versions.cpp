module;
#include <fmt/core.h>
#include <hwy/highway.h>
#include <oneapi/tbb/version.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include <string>
module iap.core;

namespace iap {

std::string version_text(int major, int minor, int patch) { return text(major, ".", minor, ".", patch); }

LibraryVersions core_versions() {
  return {{"fmt", version_text(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"Highway", version_text(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
          {"nlohmann-json", version_text(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
          {"TBB", TBB_runtime_version()},
          {"zlib", zlibVersion()}};
}

}  // namespace iap
