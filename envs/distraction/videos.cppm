module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>
export module iap.envs.distraction:videos;
import iap.core;
import iap.render;

export namespace iap {

enum class Split : std::uint8_t { train, validation };

/// One video: its frames as picture files in order, or none for one that the engine paints itself.
struct Video {
  std::string name;
  std::vector<std::filesystem::path> frames;
  std::uint64_t seed = 0;  ///< of a painted video
  int length() const;
};

/// The videos of one split, in the order of `numbered_before`, as their frames are.
/// An empty `folder` gives the painted ones: 60 for training, 30 for validation, none in both. Else `folder` holds one folder of
/// PNG or JPEG frames for each video (the layout of DAVIS, "JPEGImages/480p"). Where it has folders "train" and "validation", the
/// videos lie in those; otherwise the 30 names of DAVIS 2017's validation set are the validation videos, and all others train.
/// @throws Error naming the folder if it is missing, holds no video of that split, or a video has no frame.
std::vector<Video> find_videos(const std::filesystem::path& folder, Split split);

/// How a frame becomes a sky.
struct SkyPicture {
  int size = 800;                       ///< texels along the edge of the sky's faces, all six of which show the frame
  double detail = 0;                    ///< the finest mipmap level of such a face that any pixel looks at; finer ones are left out
  double alpha = 1;                     ///< of the frame over `own`
  std::span<const std::uint8_t> own{};  ///< the model's sky, size x size x 3; used where alpha < 1
  std::uint32_t own_sum = 0;            ///< its CRC-32
};

/// Frame `frame` of `video` as a sky. Loaded or painted on first use, then shared by all threads of the process, which keeps up to
/// 1 GiB of them, or a quarter of what it may allocate where that is limited, and forgets what was not used for longest. A frame
/// whose file has become another is loaded anew.
/// Frames of another size are stretched to size x size with bilinear filtering; painted ones keep their own size where that is
/// smaller. @throws Error naming the file.
std::shared_ptr<const Texture> sky_texture(const Video& video, int frame, const SkyPicture& picture);

}  // namespace iap
