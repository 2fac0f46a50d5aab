#pragma once
#include <filesystem>
#include <string>

namespace iap {
extern "C++" {

/// Why nothing else may be written to `file`, if it is one that a run or a sweep keeps (`is_run_file`): a clause that names the
/// run's folder, which is another one than that of a link; "" otherwise.
std::string kept_by_run(const std::filesystem::path& file);
/// @throws Error for a file that a run keeps: the run could not go on, or would say what is not so.
void refuse_run_file(const std::filesystem::path& file);
}
}  // namespace iap
