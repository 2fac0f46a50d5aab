module;
#include <filesystem>
#include <span>
#include <string>
#include <vector>
export module iap.render:picture;
import iap.core;

export namespace iap {

/// The PNG file of an 8-bit RGB or grey image. @throws Error starting "cannot encode" for any other image.
std::string encode_png(const ImageView& image);
/// Writes an 8-bit RGB or grey image, atomically. @throws Error naming the path.
void write_png(const std::filesystem::path& path, const ImageView& image);
/// The most pixels that a picture file may hold.
inline constexpr int largest_picture = 64 << 20;
/// Reads a PNG of any kind, up to 16384 pixels per side and `largest_picture` in all, as 8-bit RGB without its transparency; of 16
/// bits a channel the upper 8 count. @throws Error naming the path and what is wrong.
Image read_png(const std::filesystem::path& path);
/// Reads a grey or colour JPEG of the same sizes as 8-bit RGB. Damaged data is an error, where decoders usually fill up with grey,
/// and so is a picture for print (CMYK). @throws Error naming the path and what is wrong.
Image read_jpeg(const std::filesystem::path& path);
/// Reads a PNG or a JPEG, told apart by how the file starts. @throws Error naming the path and what is wrong.
Image read_image(const std::filesystem::path& path);

/// A copy enlarged by an integer factor (nearest neighbour), any number of 8-bit channels. @throws Error for a factor below 1.
Image enlarge(const ImageView& image, int factor);
/// 8-bit images of the same height and channels side by side, `gap` white pixels apart. @throws Error if they do not fit.
Image side_by_side(std::span<const Image> images, int gap);

}  // namespace iap
