module;
#include <string>
#include <vector>
/// Which libraries of others a build stands on.
export module iap.core:versions;

export namespace iap {

struct LibraryVersion {
  std::string name, version;
};

using LibraryVersions = std::vector<LibraryVersion>;

/// Each module with a door names those behind it: as the library itself tells, or as its headers had it.
LibraryVersions core_versions();

/// "major.minor.patch".
std::string version_text(int major, int minor, int patch);

}  // namespace iap
