module;
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
module iap.report;
import iap.core;
import :figures;

namespace iap {

void check_picture_name(const std::filesystem::path& path, std::string_view thing) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (!ending.empty() && ending != ".png")
    throw Error(text("cannot write '", path.string(), "': ", thing, " is a picture; its name must end in .png"));
}

}  // namespace iap
