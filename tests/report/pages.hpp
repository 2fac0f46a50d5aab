#pragma once
// Included after `import iap.core; import iap.report;`.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"

inline std::string report(const std::vector<std::filesystem::path>& runs, const iap::ReportOptions& options = {.episodes = 2}) {
  const TemporaryFolder folder;
  iap::write_report(runs, folder.path() / "report.html", options);
  return iap::read_file(folder.path() / "report.html");
}

/// The text between `begin` and `end`, for each time they occur.
inline std::vector<std::string> between(const std::string& words, const std::string& begin, const std::string& end) {
  std::vector<std::string> parts;
  for (std::size_t at = words.find(begin); at != std::string::npos; at = words.find(begin, at)) {
    at += begin.size();
    parts.push_back(words.substr(at, words.find(end, at) - at));
  }
  return parts;
}

/// The y coordinates of a path's points.
inline std::vector<double> heights(const std::string& path) {
  std::vector<double> values;
  for (std::size_t at = path.find(' '); at != std::string::npos; at = path.find(' ', at + 1))
    values.push_back(std::stod(path.substr(at)));
  return values;
}
