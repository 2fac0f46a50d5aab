module;
#include <filesystem>
#include <span>
#include <string>
#include <vector>
export module iap.render:picture;
import iap.core;

export namespace iap {

/// Writes an 8-bit RGB or grey image, atomically. @throws Error naming the path.
void write_png(const std::filesystem::path& path, const ImageView& image);
/// Reads a PNG as 8-bit RGB. @throws Error naming the path and what is wrong.
Image read_png(const std::filesystem::path& path);

/// A copy enlarged by an integer factor (nearest neighbour).
Image enlarge(const ImageView& image, int factor);
/// Images of the same height side by side, `gap` white pixels apart.
Image side_by_side(std::span<const Image> images, int gap);

/// Draws the attended patches onto an RGB image as the papers do: white squares whose opacity falls with rank.
/// `patch` and `stride` in pixels of `image`; `columns` is the width of the patch grid; `selected` is best first.
void overlay_patches(Image& image, int columns, int patch, int stride, std::span<const int> selected);

}  // namespace iap
