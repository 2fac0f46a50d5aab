module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import :drawing;
import :viewer;

namespace iap {
namespace {

/// From the darkest to the brightest, of each channel.
struct Tones {
  std::array<std::uint8_t, 3> least{255, 255, 255}, most{};

  void include(const std::array<std::uint8_t, 3>& other_least, const std::array<std::uint8_t, 3>& other_most) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      least[channel] = std::min(least[channel], other_least[channel]);
      most[channel] = std::max(most[channel], other_most[channel]);
    }
  }
  /// Whether a pixel is darker or brighter than all of these by more than rounding and edges make, and by more than these differ
  /// from each other, as those of noise do.
  bool lack(std::size_t channel, int value) const {
    constexpr int much = 64;
    const int away = std::max(value - most[channel], least[channel] - value);
    return away > std::max(much, most[channel] - least[channel]);
  }
};

/// The tones of `image`, 8-bit RGB, in each of rows x columns equal parts, or a little more where those end within pixels.
std::vector<Tones> tones_of(const Image& image, int rows, int columns) {
  const auto& [height, width, channels, type] = image.shape();
  const auto begin = [](int part, int parts, int size) { return static_cast<int>(std::int64_t{part} * size / parts); };
  const auto end = [](int part, int parts, int size) {
    return static_cast<int>((std::int64_t{part + 1} * size + parts - 1) / parts);
  };
  std::vector<Tones> tones(static_cast<std::size_t>(rows) * columns);
  for (int row = 0; row < rows; ++row)
    for (int y = begin(row, rows, height); y < end(row, rows, height); ++y)
      for (int column = 0; column < columns; ++column) {
        Tones& part = tones[static_cast<std::size_t>(row) * columns + column];
        for (int x = begin(column, columns, width); x < end(column, columns, width); ++x) {
          const auto* pixel = image.bytes().data() + 3 * (static_cast<std::size_t>(y) * width + x);
          const std::array colour{pixel[0], pixel[1], pixel[2]};
          part.include(colour, colour);
        }
      }
  return tones;
}

/// Whether `drawn`, the larger one, lacks what `seen` shows: pixels whose like is not drawn where they are seen nor beside it, so
/// that noise, edges and thin lines may be drawn otherwise, but nothing may stand elsewhere.
bool shows_another(const Image& seen, const Image& drawn) {
  constexpr std::ptrdiff_t few = 500;  // one in so many
  const auto& shape = seen.shape();
  const auto tones = tones_of(drawn, shape.height, shape.width);
  std::ptrdiff_t lacking = 0;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      Tones around;
      for (int row = std::max(0, y - 1); row <= std::min(y + 1, shape.height - 1); ++row)
        for (int column = std::max(0, x - 1); column <= std::min(x + 1, shape.width - 1); ++column) {
          const Tones& part = tones[static_cast<std::size_t>(row) * shape.width + column];
          around.include(part.least, part.most);
        }
      const auto* pixel = seen.bytes().data() + 3 * (static_cast<std::size_t>(y) * shape.width + x);
      lacking += around.lack(0, pixel[0]) || around.lack(1, pixel[1]) || around.lack(2, pixel[2]);
    }
  return few * lacking > std::ptrdiff_t{shape.height} * shape.width;
}

/// Whether a picture is one of the same view, at least as large in rows and columns; one with other sides may show more to its
/// sides.
bool is_larger(const ImageShape& drawn, const ImageShape& seen) {
  return drawn.height >= seen.height && drawn.width >= seen.width &&
         std::abs(std::int64_t{drawn.height} * seen.width - std::int64_t{drawn.width} * seen.height) <=
             std::max(seen.height, seen.width);
}

bool shows_another(const EnvSpec& watched, const Observation& seen, const EnvSpec& spec, const Observation& drawn) {
  const auto& images = watched.observation.images;
  if (drawn.images.empty()) return false;
  const auto same = std::ranges::find(images, spec.observation.images.front().name, &ImageSpec::name);
  if (same == images.end()) return false;
  const ImageView &before = seen.images[static_cast<std::size_t>(same - images.begin())], &now = drawn.images.front();
  if (!is_larger(now.shape, before.shape)) return false;
  const float white = std::max(white_of(before), white_of(now));
  return shows_another(rgb_copy(before, white), rgb_copy(now, white));
}

/// An environment that draws no pictures for its policies may have no vector either when it draws them for people.
bool is_another_vector(std::span<const float> seen, std::span<const float> drawn) {
  return seen.size() == drawn.size() && std::memcmp(seen.data(), drawn.data(), seen.size_bytes()) != 0;
}

std::string difference(const StepResult& watched, const StepResult& own) {
  if (own.reward != watched.reward) return "pays another reward";
  const bool same_end =
      own.terminated == watched.terminated && own.truncated == watched.truncated && own.unstable == watched.unstable;
  return same_end ? "" : "ends at another step";
}

}  // namespace

PlayedAlong::PlayedAlong(std::unique_ptr<Env> env, const Config& config)
    : env_(std::move(env)), draws_itself_(is_lua_env(config)) {}

template <typename Work>
void PlayedAlong::attempt(Work work) {
  try {
    work();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    astray_ = text("fails: ", error.what());
  }
}

void PlayedAlong::reset(std::uint64_t seed) {
  astray_.clear();
  attempt([&] { env_->reset(seed); });
}

void PlayedAlong::step(std::span<const float> action, const StepResult& result) {
  if (astray_.empty()) attempt([&] { astray_ = difference(result, env_->step(action)); });
}

Observation PlayedAlong::present(const EnvSpec& watched, const Observation& seen) {
  Observation drawn;
  if (!astray_.empty()) return {};
  attempt([&] {
    drawn = env_->observe();
    if (is_another_vector(seen.vector, drawn.vector)) astray_ = "observes another vector";
    // Worlds of the catalog draw no random numbers for their pixels out of the streams that decide what happens.
    if (draws_itself_ && shows_another(watched, seen, spec(), drawn)) astray_ = "shows something else";
  });
  return astray_.empty() ? drawn : Observation{};
}

}  // namespace iap
