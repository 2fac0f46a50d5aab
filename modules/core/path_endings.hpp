// Include <algorithm>, <cstddef>, <string> and <vector> first.
#pragma once

namespace iap {

/// Of each path of options the shortest end that no other one of `paths` has, in whole parts: "sigma"; "1.heads" beside "2.heads".
inline std::vector<std::string> path_endings(const std::vector<std::string>& paths) {
  std::vector<std::string> endings;
  for (const auto& path : paths)
    for (auto dot = path.rfind('.');; dot = path.rfind('.', dot - 1)) {
      const std::string ending = dot == std::string::npos ? path : path.substr(dot + 1);
      const auto same = [&](const std::string& other) { return ("." + other).ends_with("." + ending); };
      if (dot != std::string::npos && dot != 0 && std::ranges::count_if(paths, same) > 1) continue;
      endings.push_back(ending);
      break;
    }
  return endings;
}

}  // namespace iap
