#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
#include "objects.hpp"
import iap.core;
import iap.env;
import iap.render;

// Hosts that leave the folder in which they made an object.

namespace {

namespace fs = std::filesystem;

constexpr const char* world = R"({"name": "car-racing", "modification": "video", "frames": "frames", "time_limit": 30})";
constexpr const char* eye =
    R"({"kind": "sequence", "blocks": [{"kind": "rank", "patch": 8, "top": 3, "values": "content"}, {"kind": "linear"}]})";

/// Two folders that call other pictures the same, and the process in the first of them.
class TwoFolders {
 public:
  TwoFolders() {
    for (const char* name : {"red", "blue"}) {
      iap::Image frame({96, 96, 3, iap::PixelType::uint8});
      for (std::size_t i = name == std::string("red") ? 0 : 2; i < frame.bytes().size(); i += 3) frame.bytes()[i] = 255;
      for (const char* frames : {"frames", "videos/one"}) {
        fs::create_directories(folder_.path() / name / frames);
        iap::write_png(folder_.path() / name / frames / "1.png", frame.view());
      }
    }
    enter("red");
  }
  ~TwoFolders() { fs::current_path(before_); }
  TwoFolders(const TwoFolders&) = delete;
  TwoFolders& operator=(const TwoFolders&) = delete;
  void enter(const char* name) const { fs::current_path(folder_.path() / name); }

 private:
  fs::path before_ = fs::current_path();
  TemporaryFolder folder_;
};

std::vector<double> run(iap_rollouts* rollouts) {
  const std::size_t size = iap_rollouts_parameter_count(rollouts), members = 4;
  std::vector<float> population(members * size);
  for (std::size_t i = 0; i < members; ++i)
    REQUIRE(iap_rollouts_initial(rollouts, i, population.data() + i * size, size) == IAP_OK);
  for (float& value : population) value *= 30;
  const iap_rollout_options options{.size = sizeof options, .seed = 1, .iteration = 0, .episodes = 1, .seeds = IAP_SEEDS_COMMON};
  std::vector<double> returns(members);
  const auto status = iap_rollouts_run(rollouts, population.data(), members, size, &options, returns.data(), nullptr);
  INFO(iap_rollouts_error(rollouts));
  REQUIRE(status == IAP_OK);
  return returns;
}

}  // namespace

TEST_CASE("rollouts play what their folder called so when they were made, wherever the process is") {
  const TwoFolders folders;
  const auto expected = run(make_rollouts(world, eye, 1).get());
  const auto one = make_rollouts(world, eye, 1), more = make_rollouts(world, eye, 2);
  folders.enter("blue");
  CHECK(run(one.get()) == expected);
  CHECK(run(more.get()) == expected);
  CHECK(run(make_rollouts(world, eye, 1).get()) != expected);
}

TEST_CASE("a drawing shows what the environment's folder called so when it was made") {
  const TwoFolders folders;
  const auto env = make_env(world), drawn_here = make_env(world);
  std::vector<std::uint8_t> here(96 * 96 * 3), elsewhere(here.size());
  for (iap_env* each : {env.get(), drawn_here.get()}) REQUIRE(iap_env_reset(each, 1) == IAP_OK);
  REQUIRE(iap_env_draw(drawn_here.get(), 96, 96, here.data(), 0) == IAP_OK);
  folders.enter("blue");
  REQUIRE(iap_env_draw(env.get(), 96, 96, elsewhere.data(), 0) == IAP_OK);
  CHECK((elsewhere == here));
  CHECK(std::string(spec_of(env.get()).config).find(R"("frames":"frames")") != std::string::npos);
}

TEST_CASE("a distracted environment shows its folder's videos, though it reads them later") {
  constexpr const char* distracted =
      R"({"name": "cartpole-balance", "pixels": [32, 32], "distraction": {"background": {"count": 1}, "videos": "videos"}})";
  const TwoFolders folders;
  const auto picture = [&](iap_env* env) {
    std::vector<std::uint8_t> pixels(96 * 96 * 3);
    REQUIRE(iap_env_reset(env, 1) == IAP_OK);
    REQUIRE(iap_env_draw(env, 96, 96, pixels.data(), 0) == IAP_OK);
    return pixels;
  };
  const auto red = picture(make_env(distracted).get());
  const auto left = make_env(distracted);
  folders.enter("blue");
  CHECK((picture(left.get()) == red));
  CHECK((picture(make_env(distracted).get()) != red));
}

TEST_CASE("a world whose files are rewritten after it was made is not drawn as another") {
  const TwoFolders folders;
  const auto env = make_env(world), drawn_before = make_env(world);
  std::vector<std::uint8_t> rgb(96 * 96 * 3);
  for (iap_env* each : {env.get(), drawn_before.get()}) REQUIRE(iap_env_reset(each, 1) == IAP_OK);
  REQUIRE(iap_env_draw(drawn_before.get(), 96, 96, rgb.data(), 0) == IAP_OK);
  fs::copy_file("../blue/frames/1.png", "frames/1.png", fs::copy_options::overwrite_existing);
  CHECK(iap_env_draw(env.get(), 96, 96, rgb.data(), 0) == IAP_FAILED);
  CHECK_THAT(iap_env_error(env.get()), Catch::Matchers::ContainsSubstring("frames' holds something else (1 file, "));
  const std::vector<float> still(3);
  iap_step step{.size = sizeof step};
  CHECK(iap_env_step(env.get(), still.data(), still.size(), &step) == IAP_OK);
  CHECK(iap_env_draw(drawn_before.get(), 96, 96, rgb.data(), 0) == IAP_OK);
}
