#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace iap {
/// Of the script that a run keeps as its experiment.lua.
inline constexpr std::uintmax_t most_script_bytes = std::uintmax_t{64} << 20;

extern "C++" {

/// Whether the run in `folder` has what it can go on from. @throws Error as `is_there`.
bool holds_checkpoint(const std::filesystem::path& folder);
/// Whether a folder in `folder` is a run's, or one that a sweep made for a run.
bool holds_runs(const std::filesystem::path& folder);
/// Why nothing else may be written to `file`, if it is one that a run keeps (`is_run_file`), or a sweep's table that is there: a
/// clause that names the folder, which is another one than that of a link; "" otherwise.
std::string kept_by_run(const std::filesystem::path& file);
/// @throws Error for a file that a run keeps: the run could not go on, or would say what is not so.
void refuse_run_file(const std::filesystem::path& file);
}
}  // namespace iap
