module;
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <vector>
/// Folders of pictures that are a video, frame by frame.
export module iap.render:frame_files;

export namespace iap {

/// Whether `a` comes before `b`, by name: runs of digits are compared as numbers ("2.png" before "10.png"), all else as text.
bool numbered_before(const std::filesystem::path& a, const std::filesystem::path& b);
/// What a list keeps of a path, whose parts are kept, too.
inline constexpr double bytes_a_path = 640;
/// The files or, with `folders`, the folders in `folder`, by `numbered_before`; those whose names begin with a dot are left out.
/// `failure` says why the folder cannot be read.
std::vector<std::filesystem::path> numbered_entries(const std::filesystem::path& folder, bool folders, std::error_code& failure);
/// Whether the name ends in one of `endings`, which are in small letters (".png"); its own letters may be capital.
bool ends_in(const std::filesystem::path& path, std::initializer_list<std::string_view> endings);

}  // namespace iap
