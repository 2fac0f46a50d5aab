module;
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.envs.distraction;
import iap.core;
import iap.render;
#include "core/file_identity.hpp"

namespace iap {
namespace {

// A process that may allocate only so much (worker_memory) needs most of that for its episodes.
std::size_t most_bytes() {
  constexpr std::size_t most = std::size_t{1} << 30, share = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::min<std::size_t>(most, limit.rlim_cur / share);
}

// What is expensive to make and the same for every thread, by name. What was not used for longest goes first when room is needed;
// whoever still shows it keeps it alive.
class Store {
 public:
  template <typename T>
  std::shared_ptr<const T> get(const std::string& name, const std::function<std::shared_ptr<const T>(std::size_t& bytes)>& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = entries_.find(name); found != entries_.end()) {
        found->second.used = ++clock_;
        return std::static_pointer_cast<const T>(found->second.value);
      }
    }
    // Made without the lock: two threads may make the same thing once, and then share the first.
    std::size_t bytes = 0;
    auto value = made(make, bytes);
    const std::lock_guard lock(mutex_);
    const auto [entry, fresh] = entries_.try_emplace(name, Entry{value, bytes, 0});
    entry->second.used = ++clock_;
    auto kept = std::static_pointer_cast<const T>(entry->second.value);
    if (fresh) total_ += bytes;
    for (const std::size_t most = most_bytes(); total_ > most && entries_.size() > 1;) {
      const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& item) { return item.second.used; });
      total_ -= oldest->second.bytes;
      entries_.erase(oldest);
    }
    return kept;
  }

 private:
  // Where there is no memory for it, the others go.
  template <typename Make>
  auto made(const Make& make, std::size_t& bytes) {
    try {
      return make(bytes);
    } catch (const std::bad_alloc&) {
      forget();
    }
    return make(bytes);
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    total_ = 0;
  }

  struct Entry {
    std::shared_ptr<const void> value;
    std::size_t bytes = 0;
    std::uint64_t used = 0;
  };
  ForkMutex mutex_;
  std::map<std::string, Entry> entries_;
  std::size_t total_ = 0;
  std::uint64_t clock_ = 0;
};

Store& store() {
  static Store shared;
  return shared;
}

// One axis of a bilinear stretch around pixel centres.
struct Weight {
  int first, second;
  float second_share;
};

std::vector<Weight> stretch(int from, int to) {
  std::vector<Weight> weights;
  for (int i = 0; i < to; ++i) {
    const float centre = (static_cast<float>(i) + 0.5f) * static_cast<float>(from) / static_cast<float>(to) - 0.5f;
    const float clamped = std::clamp(centre, 0.0f, static_cast<float>(from - 1));
    const int first = static_cast<int>(clamped);
    weights.push_back({first, std::min(first + 1, from - 1), clamped - static_cast<float>(first)});
  }
  return weights;
}

// As TensorFlow's bilinear resize, cut to whole numbers.
std::vector<std::uint8_t> resized(const Image& image, int size) {
  const auto [height, width, channels, type] = image.shape();
  if (height == size && width == size) return {image.bytes().begin(), image.bytes().end()};
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(size) * size * 3);
  const auto rows = stretch(height, size), columns = stretch(width, size);
  for (int y = 0; y < size; ++y) {
    const std::uint8_t* top = image.bytes().data() + static_cast<std::size_t>(rows[y].first) * width * 3;
    const std::uint8_t* bottom = image.bytes().data() + static_cast<std::size_t>(rows[y].second) * width * 3;
    std::uint8_t* out = rgb.data() + static_cast<std::size_t>(y) * size * 3;
    for (int x = 0; x < size; ++x) {
      const auto [a, b, share] = columns[x];
      for (int c = 0; c < 3; ++c) {
        const auto mixed = [&, at = c](const std::uint8_t* row) {
          const float left = row[3 * a + at], right = row[3 * b + at];
          return left + (right - left) * share;
        };
        const float above = mixed(top);
        out[3 * x + c] = static_cast<std::uint8_t>(above + (mixed(bottom) - above) * rows[y].second_share);
      }
    }
  }
  return rgb;
}

void blend(std::span<std::uint8_t> rgb, double alpha, std::span<const std::uint8_t> own) {
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>((1 - alpha) * own[i] + alpha * rgb[i]);
}

std::shared_ptr<const Texture> without_finest(const Texture& full, int halvings) {
  const Texture::Level level = full.levels()[halvings];
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(level.width) * level.height * 3);
  for (const std::uint32_t texel : full.texels().subspan(level.offset, static_cast<std::size_t>(level.width) * level.height))
    for (const int shift : {0, 8, 16}) rgb.push_back(static_cast<std::uint8_t>(texel >> shift));
  return std::make_shared<const Texture>(Texture::Kind::sky, level.width, level.height, rgb);
}

// How many mipmap levels of a face of this size no pixel looks at. A painted video owes nobody its finest level: half a level more
// goes, and a quarter of the memory's traffic with it.
int halvings_of(int size, const SkyPicture& picture, bool painted) {
  const double detail = picture.detail + std::log2(static_cast<double>(size) / picture.size);
  const double coarsest = std::floor(std::log2(size));
  return static_cast<int>(std::clamp(std::floor(painted ? detail + 0.5 : detail), 0.0, coarsest));
}

// By what stands there now: frames that others have taken the place of are no longer shown.
std::string name_of(const std::filesystem::path& frame) { return text(frame.string(), "\n", file_identity(frame)); }

Image painted_frame(const Video& video, int frame) {
  const auto scenery = store().get<PaintedVideo>(text("scenery ", video.seed), [&](std::size_t& bytes) {
    auto made = std::make_shared<const PaintedVideo>(video.seed);
    bytes = made->bytes();
    return made;
  });
  Image image({PaintedVideo::edge, PaintedVideo::edge, 3, PixelType::uint8});
  scenery->paint(frame, image.bytes());
  return image;
}

}  // namespace

std::shared_ptr<const Texture> sky_texture(const Video& video, int frame, const SkyPicture& picture) {
  const bool painted = video.frames.empty();
  const int size = painted && picture.alpha >= 1 ? std::min(PaintedVideo::edge, picture.size) : picture.size;
  const int halvings = halvings_of(size, picture, painted);
  std::string name = text(painted ? text("painted ", video.seed, " ", frame) : name_of(video.frames.at(frame)), "\n", size, " ",
                          halvings, " ", hex_text(picture.alpha));
  if (picture.alpha < 1) name += text(" ", picture.own_sum);
  return store().get<Texture>(name, [&](std::size_t& bytes) {
    const Image image = painted ? painted_frame(video, frame) : read_image(video.frames[frame]);
    auto rgb = resized(image, size);
    if (picture.alpha < 1) blend(rgb, picture.alpha, picture.own);
    auto sky = std::make_shared<const Texture>(Texture::Kind::sky, size, size, rgb);
    if (halvings > 0) sky = without_finest(*sky, halvings);
    bytes = sky->texels().size_bytes();
    return sky;
  });
}

}  // namespace iap
