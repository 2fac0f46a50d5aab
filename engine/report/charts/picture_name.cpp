module;
#include <filesystem>
#include <initializer_list>
#include <string_view>
module iap.report;
import iap.core;
import :figures;

namespace iap {

void check_picture_name(const std::filesystem::path& path, std::string_view thing) {
  if (!path.empty()) check_ending(path, text(thing, " is a picture"), {".png"});
}

}  // namespace iap
