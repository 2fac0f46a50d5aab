module;
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>
export module iap.envs.car_racing:frames;

export namespace iap {

/// A folder of PNG files in the order of their names, scaled to height x width RGB by averaging.
class Frames {
 public:
  Frames() = default;
  /// Keeps the first `most` frames at most, shared with all others of the process that were made of the same files.
  /// @throws Error naming the option and the folder if that cannot be read or has no PNG files, the file that cannot be read, or
  /// what would take too much memory; Interrupted between two files.
  Frames(const std::filesystem::path& folder, int height, int width, std::size_t most);
  /// Frame `index` of the endless repetition of the folder; of a folder with more than `most`, below that.
  std::span<const std::uint8_t> at(std::size_t index) const {
    return std::span(*pixels_).subspan(index % (pixels_->size() / frame_size_) * frame_size_, frame_size_);
  }

 private:
  std::size_t frame_size_ = 0;
  std::shared_ptr<const std::vector<std::uint8_t>> pixels_;
};

}  // namespace iap
