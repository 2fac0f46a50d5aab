#include <cstdio>
// libjpeg's header needs the C library's before it.
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.envs.distraction;
import iap.envs.dm_control;
import iap.render;
import iap.sim;
#include "core/files_read.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

// Smooth enough for a JPEG to keep.
Image picture(int height, int width, double phase) {
  Image image({height, width, 3, PixelType::uint8});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        image.bytes()[(static_cast<std::size_t>(y) * width + x) * 3 + c] =
            static_cast<std::uint8_t>(127 + 100 * std::sin(0.05 * x + 0.03 * y * (c + 1) + phase));
  return image;
}

// `channels` 1, 3 or, for print, 4.
void write_jpeg(const fs::path& path, const Image& image, int channels) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &data, &size);
  jpeg.image_width = image.shape().width;
  jpeg.image_height = image.shape().height;
  jpeg.input_components = channels;
  jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 98, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(image.shape().width) * channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    for (int x = 0; x < image.shape().width; ++x)
      for (int c = 0; c < channels; ++c)
        row[x * channels + c] = image.bytes()[(static_cast<std::size_t>(jpeg.next_scanline) * image.shape().width + x) * 3 + c % 3];
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&jpeg, rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  write_file_atomic(path, {reinterpret_cast<const char*>(data), size});
  jpeg_destroy_compress(&jpeg);
  std::free(data);
}

void write_video(const fs::path& folder, int frames) {
  make_folder(folder);
  for (int i = 0; i < frames; ++i) write_png(folder / ("0000" + std::to_string(i) + ".png"), picture(6, 9, i).view());
}

std::vector<std::string> names(const std::vector<Video>& videos) {
  std::vector<std::string> result;
  for (const auto& video : videos) result.push_back(video.name);
  return result;
}

void put32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

}  // namespace

TEST_CASE("a JPEG gives back what was written, grey or in colour") {
  const TemporaryFolder folder;
  for (const int channels : {1, 3}) {
    for (const auto [height, width] : {std::array{1, 1}, {37, 51}, {120, 160}}) {
      const Image image = picture(height, width, 0.3);
      write_jpeg(folder.path() / "a.jpg", image, channels);
      for (const Image& back : {read_jpeg(folder.path() / "a.jpg"), read_image(folder.path() / "a.jpg")}) {
        REQUIRE((back.shape() == image.shape()));
        double sum = 0;
        for (std::size_t i = 0; i < image.bytes().size(); ++i)
          sum += std::abs(back.bytes()[i] - image.bytes()[channels == 1 ? i / 3 * 3 : i]);
        CHECK(sum / static_cast<double>(image.bytes().size()) < 1.5);
      }
    }
  }
}

TEST_CASE("bad picture files are errors that name the file and say what is wrong") {
  const TemporaryFolder folder;
  const auto refuses = [&](const std::string& name, const std::string& content, const std::string& why) {
    const auto path = folder.path() / name;
    write_file_atomic(path, content);
    CHECK_THROWS_MATCHES(read_image(path), Error, MessageMatches(ContainsSubstring(name) && ContainsSubstring(why)));
  };
  write_jpeg(folder.path() / "good.jpg", picture(60, 80, 0), 3);
  const std::string jpeg = read_file(folder.path() / "good.jpg");
  refuses("empty.jpg", "", "it is empty");
  refuses("text.png", "this is no picture", "neither as a PNG nor as a JPEG");
  for (const std::size_t share : {4, 20, 50, 90}) refuses("cut.jpg", jpeg.substr(0, jpeg.size() * share / 100), "as a JPEG");
  write_jpeg(folder.path() / "print.jpg", picture(20, 20, 0), 4);
  CHECK_THROWS_MATCHES(read_image(folder.path() / "print.jpg"), Error,
                       MessageMatches(ContainsSubstring("print.jpg") && ContainsSubstring("CMYK")));
  std::string huge_jpeg = jpeg;  // its size stands in the frame header
  const auto header = jpeg.find("\xff\xc0");
  REQUIRE(header != std::string::npos);
  put32(huge_jpeg, header + 5, 0xf000f000);
  refuses("huge.jpg", huge_jpeg, "61440 x 61440 pixels");

  write_png(folder.path() / "good.png", picture(20, 20, 0).view());
  const std::string png = read_file(folder.path() / "good.png");
  refuses("cut.png", png.substr(0, png.size() / 2), "as a PNG");
  std::string huge_png = png;
  put32(huge_png, 16, 16000);
  put32(huge_png, 20, 16000);
  put32(huge_png, 29, crc32(std::string_view(huge_png).substr(12, 17)));
  refuses("huge.png", huge_png, "16000 x 16000 pixels");
  CHECK_THROWS_MATCHES(read_image(folder.path() / "missing.jpg"), Error, MessageMatches(ContainsSubstring("missing.jpg")));
}

TEST_CASE("of 16 bits a channel the upper eight count") {
  // 2 x 1 pixels of 16 bits, stored without compression: red 0x1234, green 0x8000, blue 0xffff; then black.
  const TemporaryFolder folder;
  const auto path = folder.path() / "deep.png";
  write_file_atomic(path, read_file(std::string(IAP_TEST_DATA) + "/distraction/deep.png"));
  const Image image = read_image(path);
  REQUIRE((image.shape() == ImageShape{1, 2, 3, PixelType::uint8}));
  CHECK(std::ranges::equal(image.bytes(), std::array<std::uint8_t, 6>{0x12, 0x80, 0xff, 0, 0, 0}));
}

TEST_CASE("videos are folders of frames, in order") {
  const TemporaryFolder folder;
  for (const char* name : {"zebra", "bear", "camel", "libby", ".hidden"}) write_video(folder.path() / name, 3);
  write_file_atomic(folder.path() / "bear" / "notes.txt", "no frame");
  write_file_atomic(folder.path() / "readme.txt", "no video");
  const auto train = find_videos(folder.path(), Split::train), validation = find_videos(folder.path(), Split::validation);
  CHECK(names(train) == std::vector<std::string>{"bear", "zebra"});
  CHECK(names(validation) == std::vector<std::string>{"camel", "libby"});
  REQUIRE(train[0].length() == 3);
  for (int i = 0; i < 3; ++i) CHECK(train[0].frames[i].filename() == "0000" + std::to_string(i) + ".png");

  write_video(folder.path() / "sets" / "train" / "camel", 1);
  write_video(folder.path() / "sets" / "validation" / "tree", 2);
  CHECK(names(find_videos(folder.path() / "sets", Split::train)) == std::vector<std::string>{"camel"});
  CHECK(names(find_videos(folder.path() / "sets", Split::validation)) == std::vector<std::string>{"tree"});
}

TEST_CASE("the frames of all videos are weighed together") {
  const TemporaryFolder folder;
  for (int video = 0; video < 20; ++video) {
    make_folder(folder.path() / text("v", video));
    for (int frame = 0; frame < 5; ++frame) write_file_atomic(folder.path() / text("v", video) / text(frame, ".png"), "");
  }
  CHECK(find_videos(folder.path(), Split::train).size() == 20);
  limit_usable_memory(42'000);
  CHECK_THROWS_MATCHES(
      find_videos(folder.path(), Split::train), Error,
      MessageMatches(ContainsSubstring("the videos in " + folder.path().string() + ": a list of their frames needs")));
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("numbers in the names of videos and frames count as numbers") {
  const TemporaryFolder folder;
  for (const char* video : {"v10", "v2", "v1"})
    for (const char* frame : {"1.png", "10.PNG", "12.jpg", "2.JPEG"}) {
      make_folder(folder.path() / video);
      write_file_atomic(folder.path() / video / frame, "");
    }
  const auto videos = find_videos(folder.path(), Split::train);
  CHECK(names(videos) == std::vector<std::string>{"v1", "v2", "v10"});
  std::vector<std::string> frames;
  for (const auto& frame : videos[0].frames) frames.push_back(frame.filename().string());
  CHECK(frames == std::vector<std::string>{"1.png", "2.JPEG", "10.PNG", "12.jpg"});
}

TEST_CASE("folders without videos are errors that name them") {
  const TemporaryFolder folder;
  const auto refuses = [&](const fs::path& path, const std::string& named, const std::string& why) {
    CHECK_THROWS_MATCHES(find_videos(path, Split::validation), Error,
                         MessageMatches(ContainsSubstring(named) && ContainsSubstring(why)));
  };
  refuses(folder.path() / "nowhere", "nowhere", "no such folder");
  refuses(folder.path(), folder.path().string(), "no video of the split 'validation'");
  write_file_atomic(folder.path() / "file", "");
  refuses(folder.path() / "file", "file", "no such folder");
  make_folder(folder.path() / "dog");
  refuses(folder.path(), "dog", "no PNG or JPEG");
}

TEST_CASE("fewer videos than are shown are refused with what to write") {
  const TemporaryFolder folder;
  const auto make = [&](Config background) {
    const Config distraction = Config::Map{{"videos", folder.path().string()}, {"background", std::move(background)}};
    return make_env(Config::Map{{"name", "cheetah-run"}, {"pixels", Config::List{8, 8}}, {"distraction", distraction}});
  };
  const auto refuses = [&](Config background, const std::string& why) {
    CHECK_THROWS_MATCHES(make(std::move(background)), Error, MessageMatches(ContainsSubstring("distraction.background: " + why)));
  };
  write_video(folder.path() / "bear", 3);
  refuses(true, "there is 1 video, and 4 are shown where nothing else is said; set background = { count = 1 }");
  refuses(Config::Map{{"count", 2}}, "count = 2 but there is 1 video;");
  write_video(folder.path() / "tree", 3);
  refuses(true, "there are 2 videos, and 4 are shown where nothing else is said; set background = { count = 2 }");
  refuses(Config::Map{{"count", 3}}, "count = 3 but there are 2 videos;");
  for (const int count : {0, 1, 2}) CHECK_NOTHROW(make(Config::Map{{"count", count}}));
  const FilesLog log;
  make(Config::Map{{"count", 1}});
  CHECK(log.files.at(folder.path().string()).starts_with("3 files, "));
}

TEST_CASE("the painted videos of the two splits differ") {
  const auto train = find_videos({}, Split::train), validation = find_videos({}, Split::validation);
  CHECK(train.size() == 60);
  CHECK(validation.size() == 30);
  std::set<std::uint64_t> seeds;
  for (const auto& videos : {train, validation})
    for (const auto& video : videos) {
      CHECK(seeds.insert(video.seed).second);
      CHECK(video.length() == PaintedVideo::frames);
    }
}

TEST_CASE("a frame becomes a sky by bilinear stretching") {
  const TemporaryFolder folder;
  const int height = 30, width = 50, size = 80;
  const Image image = picture(height, width, 1);
  write_png(folder.path() / "0.png", image.view());
  const Video video{"v", {folder.path() / "0.png"}};
  const auto sky = sky_texture(video, 0, {.size = size});
  REQUIRE(sky->width() == size);
  CHECK(sky->levels()[0].face_size == 0);
  CHECK(sky == sky_texture(video, 0, {.size = size}));
  const auto at = [&](int y, int x, int c) { return static_cast<double>(image.bytes()[(y * width + x) * 3 + c]); };
  const auto stretched = [&](int y, int x, int c) {
    const double sy = std::clamp((y + 0.5) * height / size - 0.5, 0.0, height - 1.0),
                 sx = std::clamp((x + 0.5) * width / size - 0.5, 0.0, width - 1.0);
    const int y0 = static_cast<int>(sy), x0 = static_cast<int>(sx), y1 = std::min(y0 + 1, height - 1),
              x1 = std::min(x0 + 1, width - 1);
    return (1 - (sy - y0)) * ((1 - (sx - x0)) * at(y0, x0, c) + (sx - x0) * at(y0, x1, c)) +
           (sy - y0) * ((1 - (sx - x0)) * at(y1, x0, c) + (sx - x0) * at(y1, x1, c));
  };
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      for (int c = 0; c < 3; ++c) {
        const int texel = sky->texels()[y * size + x] >> (8 * c) & 255;
        const double truth = stretched(y, x, c);
        REQUIRE(texel <= truth + 1e-3);
        REQUIRE(texel > truth - 1.001);
      }

  // Without its two finest levels, the rest is the same.
  const auto coarse = sky_texture(video, 0, {.size = size, .detail = 2.5});
  REQUIRE(coarse->width() == size / 4);
  const auto level = sky->levels()[2];
  CHECK(std::ranges::equal(coarse->texels().first(400), sky->texels().subspan(level.offset, 400)));

  const std::vector<std::uint8_t> own(std::size_t{3} * size * size, 200);
  const auto blended = sky_texture(video, 0, {.size = size, .alpha = 0.25, .own = own});
  for (int i = 0; i < size * size; ++i) {
    const double truth = 0.25 * (sky->texels()[i] & 255) + 150;
    REQUIRE(std::abs((blended->texels()[i] & 255) - truth) <= 1);
  }
  const auto stronger = sky_texture(video, 0, {.size = size, .alpha = 0.75, .own = own});
  for (int i = 0; i < size * size; ++i) {
    const double truth = 0.75 * (sky->texels()[i] & 255) + 50;
    REQUIRE(std::abs((stronger->texels()[i] & 255) - truth) <= 1);
  }
}

TEST_CASE("frames that others have taken the place of are no longer shown") {
  const TemporaryFolder folder;
  constexpr int edge = 16;
  const auto file = folder.path() / "bear/0.png";
  make_folder(folder.path() / "bear");
  const auto write = [](const fs::path& path, int value) {
    Image frame({edge, edge, 3, PixelType::uint8});
    std::ranges::fill(frame.bytes(), static_cast<std::uint8_t>(value));
    write_png(path, frame.view());
  };
  write(file, 20);
  const Config distraction = Config::Map{
      {"videos", folder.path().string()}, {"background", Config::Map{{"count", 1}}}, {"colour", false}, {"camera", false}};
  const Config world = Config::Map{{"name", "cheetah-run"}, {"pixels", Config::List{16, 16}}, {"distraction", distraction}};
  const auto before = make_env(world);
  const auto seen = [](Env& env) {
    env.reset(1);
    return static_cast<int>(env.observe().images[0].bytes()[0]);
  };
  const int dark = seen(*before);
  write(file, 220);
  CHECK(seen(*before) > dark + 100);
  CHECK(seen(*make_env(world)) == seen(*before));

  const auto written = fs::last_write_time(file);
  const Video video{"bear", {file}};
  const auto sky = sky_texture(video, 0, {.size = edge});
  CHECK(sky == sky_texture(video, 0, {.size = edge}));
  // In the same place, of the same size and, as copies may, of the same time.
  write(folder.path() / "other.png", 221);
  const std::string other = read_file(folder.path() / "other.png");
  REQUIRE(other.size() == fs::file_size(file));
  std::ofstream(file, std::ios::binary) << other;
  fs::last_write_time(file, written);
  CHECK((sky_texture(video, 0, {.size = edge})->texels()[0] & 255) == 221);
}

TEST_CASE("opacities that differ in the seventh digit give two skies, whichever comes first") {
  const TemporaryFolder folder;
  constexpr int edge = 8;
  Image frame({edge, edge, 3, PixelType::uint8});
  std::ranges::fill(frame.bytes(), std::uint8_t{210});
  write_png(folder.path() / "0.png", frame.view());
  const std::vector<std::uint8_t> own(std::size_t{3} * edge * edge, 200);
  const auto shade = [&](double alpha) {
    const Video video{"v", {folder.path() / "0.png"}};
    return sky_texture(video, 0, {.size = edge, .alpha = alpha, .own = own})->texels()[0] & 255;
  };
  CHECK(shade(0.5) == 205);
  CHECK(shade(0.4999999) == 204);
}

TEST_CASE("a background's picture is the one of all the frame's details, however wide it is") {
  const TemporaryFolder folder;
  constexpr int edge = 800, height = 64, width = 160;
  Image frame({edge, edge, 3, PixelType::uint8});
  Random random(5);
  for (std::uint8_t& byte : frame.bytes()) byte = static_cast<std::uint8_t>(random.below(256));
  make_folder(folder.path() / "bear");
  write_png(folder.path() / "bear/0.png", frame.view());
  MujocoWorld world(dm_control_files("walker"));
  const Config config = Config::Map{{"videos", folder.path().string()}, {"background", Config::Map{{"count", 1}}}};
  Distraction distraction(config, "test", "walker", world, 0, height, width);
  world.forward();
  distraction.reset(world, 1);
  MujocoCamera view;
  distraction.apply(world, view);
  std::vector<std::uint8_t> shown(std::size_t{height} * width * 3), detailed(shown.size());
  view.draw(world, 0, {}, height, width, shown);
  constexpr double sky_type = 2;
  const auto types = world.array("tex_type");
  const auto sky = static_cast<int>(std::ranges::find(types, sky_type) - types.begin());
  view.replace_texture(sky, sky_texture({"bear", {folder.path() / "bear/0.png"}}, 0, {.size = edge}));
  view.draw(world, 0, {}, height, width, detailed);
  CHECK(shown == detailed);
}

TEST_CASE("threads share one sky for a frame") {
  const auto videos = find_videos({}, Split::validation);
  std::vector<std::shared_ptr<const Texture>> skies(12);
  parallel_for(skies.size(), 4, [&](std::size_t i, int) { skies[i] = sky_texture(videos[0], static_cast<int>(i % 3), {}); });
  for (int i = 0; i < 12; ++i) {
    CHECK(skies[i]->width() == PaintedVideo::edge);
    CHECK(std::ranges::equal(skies[i]->texels(), skies[i % 3]->texels()));
    CHECK(sky_texture(videos[0], i % 3, {}) == sky_texture(videos[0], i % 3, {}));
  }
  CHECK_FALSE(std::ranges::equal(skies[0]->texels(), skies[1]->texels()));
}
