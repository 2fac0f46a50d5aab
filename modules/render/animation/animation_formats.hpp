// The formats behind `open_animation`. Include after `module iap.render;`, with <cstdint>, <filesystem>, <memory> and <string>
// before it.
#pragma once

namespace iap {

std::unique_ptr<AnimationWriter> open_webp(const std::filesystem::path& path, const AnimationOptions& options);
std::unique_ptr<AnimationWriter> open_apng(const std::filesystem::path& path, const AnimationOptions& options);
std::unique_ptr<AnimationWriter> open_mp4(const std::filesystem::path& path, const AnimationOptions& options);

// Throws Error naming the file `name` unless both options are in their ranges.
void check_animation_options(const std::string& name, const AnimationOptions& options);

// Checks the frames of one animation: 8-bit RGB, all of the first one's size, which `shape` becomes.
// Throws Error naming the file `name`.
void check_animation_frame(const std::string& name, const ImageView& frame, ImageShape& shape);

// When frame `index` begins, in milliseconds: rounded from the exact time, so that rounding does not add up.
std::int64_t frame_begin_ms(int index, double fps);

}  // namespace iap
