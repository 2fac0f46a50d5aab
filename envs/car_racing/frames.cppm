module;
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>
export module iap.envs.car_racing:frames;

export namespace iap {

/// A folder of PNG files in the order of their names, scaled to height x width RGB by averaging.
class Frames {
 public:
  Frames() = default;
  /// @throws Error naming the option and the folder if that cannot be read or has no PNG files, or the file that cannot be read.
  Frames(const std::filesystem::path& folder, int height, int width);
  /// Frame `index` of the endless repetition of the folder.
  std::span<const std::uint8_t> at(std::size_t index) const { return frames_[index % frames_.size()]; }

 private:
  std::vector<std::vector<std::uint8_t>> frames_;
};

}  // namespace iap
