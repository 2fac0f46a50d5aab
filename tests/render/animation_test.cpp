#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
#include "moving_pictures.hpp"
import iap.core;
import iap.render;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

int files_in(const std::filesystem::path& folder) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

/// A bright square that walks over a gradient; the fifth frame repeats the fourth.
std::vector<Image> walking_square() {
  std::vector<Image> frames;
  for (int t = 0; t < 6; ++t) {
    Image frame({40, 56, 3, PixelType::uint8});
    const int left = 6 * (t == 4 ? 3 : t);
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 56; ++x) {
        auto* pixel = &frame.bytes()[3 * (static_cast<std::size_t>(y) * 56 + x)];
        const bool inside = x >= left && x < left + 10 && y >= 12 && y < 22;
        pixel[0] = static_cast<std::uint8_t>(inside ? 250 : 2 * x);
        pixel[1] = static_cast<std::uint8_t>(inside ? 220 : 3 * y);
        pixel[2] = 60;
      }
    frames.push_back(std::move(frame));
  }
  return frames;
}

void write(const std::filesystem::path& path, const std::vector<Image>& frames, const AnimationOptions& options) {
  const auto writer = open_animation(path, options);
  for (const auto& frame : frames) writer->add(frame.view());
  writer->finish();
}

double mean_difference(const Image& a, const Image& b) {
  REQUIRE((a.shape() == b.shape()));
  double sum = 0;
  for (std::size_t i = 0; i < a.shape().count(); ++i) sum += std::abs(int{a.bytes()[i]} - int{b.bytes()[i]});
  return sum / static_cast<double>(a.shape().count());
}

bool same(const Image& a, const Image& b) { return a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes()); }

/// What a command prints; nothing where it cannot be started.
std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return output;
  for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) output += static_cast<char>(byte);
  ::pclose(pipe);
  return output;
}

/// PATH for the time of a test.
class Path {
 public:
  explicit Path(const std::filesystem::path& folder) : before_(std::getenv("PATH")) { ::setenv("PATH", folder.c_str(), 1); }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

void write_program(const std::filesystem::path& path, const std::string& body) {
  write_file_atomic(path, "#!/bin/sh\n" + body);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("an APNG holds its frames exactly, and when each of them is shown") {
  const TemporaryFolder folder;
  const auto frames = walking_square();
  write(folder.path() / "a.png", frames, {.fps = 30});
  const Moving moving = ApngDecoder(read_file(folder.path() / "a.png")).decode();
  REQUIRE(moving.frames.size() == frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) CHECK(same(moving.frames[i], frames[i]));
  CHECK(moving.plays == 0);
  CHECK(moving.begins == std::vector<int>{0, 33, 67, 100, 133, 167});
  // Programs that know no APNG see the first frame.
  CHECK(same(read_png(folder.path() / "a.png"), frames[0]));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a WebP holds its frames about, and when each of them is shown") {
  const TemporaryFolder folder;
  const auto frames = walking_square();
  write(folder.path() / "a.webp", frames, {.fps = 12.5, .quality = 90});
  const Moving moving = decode_webp(read_file(folder.path() / "a.webp"));
  CHECK(moving.plays == 0);
  REQUIRE(moving.frames.size() == 6);
  CHECK(moving.begins == std::vector<int>{0, 80, 160, 240, 320, 400});
  CHECK(moving.durations.back() == 80);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(mean_difference(moving.frames[i], frames[i]) < 6);
    if (i != 4) CHECK(mean_difference(moving.frames[i], frames[i == 0 ? 2 : i - 1]) > 8);
  }
  CHECK(same(moving.frames[4], moving.frames[3]));
}

TEST_CASE("a WebP in which nothing moves holds as many frames as were added, for as long") {
  const auto frames = walking_square();
  for (const int still : {0, 1, 3}) {  // moving frames before the still ones
    WebpAnimation animation("test", {.fps = 30});
    for (int i = 0; i < still; ++i) animation.add(frames[static_cast<std::size_t>(i)].view());
    for (int i = 0; i < 40; ++i) animation.add(frames[5].view());
    const Moving moving = decode_webp(animation.finish());
    CHECK(moving.plays == 0);
    REQUIRE(std::ssize(moving.frames) == still + 40);
    CHECK(moving.begins.back() + moving.durations.back() == std::lround((still + 40) * 1000.0 / 30));
    for (int i = 0; i < 40; ++i) CHECK(mean_difference(moving.frames[static_cast<std::size_t>(still + i)], frames[5]) < 6);
    for (int i = 0; i < still; ++i)
      CHECK(mean_difference(moving.frames[static_cast<std::size_t>(i)], frames[static_cast<std::size_t>(i)]) < 6);
  }
}

TEST_CASE("a WebP of one frame stands still, and quality costs bytes") {
  const auto frames = walking_square();
  const auto encode = [&](int quality) {
    WebpAnimation animation("test", {.quality = quality});
    animation.add(frames[0].view());
    return animation.finish();
  };
  CHECK(mean_difference(decode_webp(encode(90)).frames.at(0), frames[0]) < 6);
  CHECK(encode(10).size() < encode(95).size());
  WebpAnimation empty("test", {});
  CHECK_THROWS_MATCHES(empty.finish(), Error, MessageMatches(ContainsSubstring("'test': it has no frame")));
}

TEST_CASE("an MP4 is what ffmpeg makes of the frames") {
  const TemporaryFolder folder, programs;
  // Stands for ffmpeg: keeps its arguments, and writes what it reads into its last one, file:PATH.
  write_program(programs.path() / "ffmpeg", "[ \"$1\" = -version ] && exit 0\nfor a; do echo \"$a\" >>" +
                                                (programs.path() / "arguments").string() + "; done\n/bin/cat >\"${a#file:}\"\n");
  const Path path(programs.path());
  const auto frames = walking_square();
  write(folder.path() / "a.mp4", frames, {.fps = 12.5});
  std::string expected;
  for (const auto& frame : frames) expected.append(frame.bytes().begin(), frame.bytes().end());
  CHECK(read_file(folder.path() / "a.mp4") == expected);
  const std::string arguments = read_file(programs.path() / "arguments");
  CHECK_THAT(arguments, ContainsSubstring("-video_size\n56x40\n-framerate\n12.5\n"));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("an MP4 has the frames' colours, whatever its size, and says how they are written") {
  if (output_of("ffmpeg -version").empty() || output_of("ffprobe -version").empty()) SKIP("no ffmpeg on this machine");
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "a.mp4").string();
  constexpr std::array<std::uint8_t, 3> grass{102, 204, 102};
  for (const auto& [height, width] : {std::pair(32, 40), std::pair(721, 1281)}) {
    Image frame({height, width, 3, PixelType::uint8});
    for (std::size_t i = 0; i < frame.shape().count(); ++i) frame.bytes()[i] = grass[i % 3];
    write(file, {frame, frame}, {});
    CHECK(output_of("ffprobe -v error -select_streams v -of csv=p=0 -show_entries "
                    "stream=color_range,color_space,color_transfer,color_primaries " +
                    file) == "tv,bt709,bt709,bt709\n");
    const std::string pixels =
        output_of("ffmpeg -v error -i " + file + " -vf scale=in_color_matrix=bt709:in_range=tv -pix_fmt rgb24 -f rawvideo -");
    REQUIRE(pixels.size() >= 3 * static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(int{static_cast<std::uint8_t>(pixels[3000 + i])} - int{grass[i]}) <= 3);
  }
}

TEST_CASE("ffmpeg missing or failing is one clear message, and leaves no file") {
  const TemporaryFolder folder, programs;
  const Path path(programs.path());
  const auto file = folder.path() / "a.mp4";
  const auto frames = walking_square();
  CHECK_THROWS_MATCHES(write(file, frames, {}), Error,
                       MessageMatches(ContainsSubstring("'ffmpeg', which is not on the PATH") && ContainsSubstring("a.mp4")));
  write_program(programs.path() / "ffmpeg",
                "[ \"$1\" = -version ] && exit 0\n/bin/cat >/dev/null\necho no such codec >&2\nexit 1\n");
  CHECK_THROWS_MATCHES(write(file, frames, {}), Error, MessageMatches(ContainsSubstring("ffmpeg failed: no such codec")));
  // One that ends at once: writing to it must not raise a signal.
  write_program(programs.path() / "ffmpeg", "[ \"$1\" = -version ] && exit 0\necho bad size >&2\nexit 1\n");
  const std::vector<Image> many(400, frames[0]);
  CHECK_THROWS_MATCHES(write(file, many, {}), Error, MessageMatches(ContainsSubstring("bad size")));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an ffmpeg whose end nobody learns counts as failed") {
  const TemporaryFolder folder, programs;
  const Path path(programs.path());
  write_program(programs.path() / "ffmpeg", "[ \"$1\" = -version ] && exit 0\n/bin/cat >/dev/null\nexit 1\n");
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  CHECK_THROWS_MATCHES(
      write(folder.path() / "a.mp4", walking_square(), {}), Error,
      MessageMatches(ContainsSubstring("ffmpeg failed: how it ended is not told to a process that ignores SIGCHLD")));
  std::signal(SIGCHLD, before);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a moving picture appears when it is finished, and not before") {
  const auto frames = walking_square();
  for (const char* name : {"a.webp", "a.apng", "a.PNG"}) {
    const TemporaryFolder folder;
    const auto path = folder.path() / name;
    write_file_atomic(path, "old");
    {
      const auto writer = open_animation(path, {});
      writer->add(frames[0].view());
    }
    CHECK(read_file(path) == "old");
    write(path, frames, {});
    CHECK(read_file(path) != "old");
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("what cannot be written as a moving picture is an error that says why") {
  const TemporaryFolder folder;
  const auto refuses = [&](const char* name, const AnimationOptions& options, const char* why) {
    CHECK_THROWS_MATCHES(open_animation(folder.path() / name, options), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuses("a.gif", {}, "must end in one of .webp, .png, .apng, .mp4");
  refuses("a", {}, "must end in");
  refuses("a.webp", {.fps = 0}, "fps must be above 0 and at most 1000, got 0");
  refuses("a.webp", {.fps = NAN}, "fps must be above 0");
  refuses("a.webp", {.quality = 101}, "quality must be in [0, 100], got 101");
  refuses("nothing/a.png", {}, "a.png");
  // Frames of days: a WebP has no place for them, an APNG shows each as long as it can.
  const auto frames = walking_square();
  CHECK_THROWS_MATCHES(write(folder.path() / "a.webp", frames, {.fps = 1e-5}), Error,
                       MessageMatches(ContainsSubstring("of fps = 1e-05 frame 1 does not fit, choose a higher fps")));
  write(folder.path() / "a.png", frames, {.fps = 1e-6});
  CHECK_THAT(read_file(folder.path() / "a.png"), ContainsSubstring(std::string("\xff\xff\x03\xe8", 4)));
  for (const char* name : {"a.webp", "a.png"}) {
    const auto writer = open_animation(folder.path() / name, {});
    CHECK_THROWS_MATCHES(writer->finish(), Error, MessageMatches(ContainsSubstring("it has no frame")));
    writer->add(walking_square()[0].view());
    CHECK_THROWS_MATCHES(writer->add(Image({4, 56, 3, PixelType::uint8}).view()), Error,
                         MessageMatches(ContainsSubstring("4 x 56") && ContainsSubstring("40 x 56")));
    CHECK_THROWS_MATCHES(writer->add(Image({40, 56, 1, PixelType::uint8}).view()), Error,
                         MessageMatches(ContainsSubstring("frames are 8-bit RGB")));
  }
}
