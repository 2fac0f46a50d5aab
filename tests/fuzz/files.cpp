#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "targets.hpp"
import iap.core;
import iap.env;
import iap.envs.take_cover;
import iap.npz;
import iap.policy;
import iap.render;
import iap.report;
import iap.rollout;
import iap.sim;
import iap.train;

#include "../train/fake_env.hpp"

namespace fuzz {
namespace {

using namespace iap;

constexpr const char* source = "input";
/// Larger pictures are well read, but take longer than there is to learn from them.
constexpr std::size_t most_bytes = std::size_t{1} << 20;
/// So are robots.
constexpr std::size_t most_links = 64;

/// Whatever it sees, all zeros, once.
void act_once(Policy& policy) {
  const ObservationSpec& spec = policy.observation();
  std::size_t bytes = 0;
  for (const auto& image : spec.images) bytes += image.shape.bytes();
  if (bytes > most_bytes) return;
  std::vector<Image> images;
  std::vector<ImageView> views;
  for (const auto& image : spec.images) images.emplace_back(image.shape);
  for (const auto& image : images) views.push_back(image.view());
  const std::vector<float> vector(static_cast<std::size_t>(spec.vector));
  policy.reset(1);
  policy.act({views, vector});
}

}  // namespace

void play_policy(std::string_view input) {
  try {
    load_policy(input, source);
  } catch (const Error&) {
  }
  try {
    PolicyFile file = load_policy(resealed(input), source);
    act_once(file.policy);
    // What was read can be written, and read again.
    load_policy(save_policy(file.policy, file.metadata), "written");
  } catch (const Error&) {
  }
}

void play_checkpoint(std::string_view input) {
  const auto path = scratch_file("checkpoint.iap", resealed(input));
  TrainOptions options;
  options.make_env = fake_envs();
  options.policy = fake_policy();
  options.optimizer = Config::Map{{"population", 4}, {"learning_rate", 0.1}};
  options.iterations = 1;
  options.eval_episodes = 1;
  options.confirm_episodes = 0;
  options.threads = 1;
  options.seed = 9;
  options.resume = true;
  options.quiet = true;
  options.out = path.parent_path();
  try {
    train(options);
  } catch (const Error&) {
  }
  for (const auto& file : std::filesystem::directory_iterator(path.parent_path())) std::filesystem::remove(file.path());
}

/// The texts of a run's folder, a zero byte between them: config.json, metrics.csv, result.json, experiment.lua.
void play_run(std::string_view input) {
  const auto folder = scratch_file("empty", "").parent_path() / "run";
  std::filesystem::create_directories(folder);
  ObservationSpec seen{.vector = 2};
  write_policy_file(folder / "best.iap", Policy(fake_policy(), seen, 2), {});
  for (const char* name : {"config.json", "metrics.csv", "result.json", "experiment.lua"}) {
    const auto end = std::min(input.find('\0'), input.size());
    std::ofstream(folder / name, std::ios::binary) << input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  const std::vector<std::filesystem::path> runs{folder};
  try {
    write_report(runs, folder / "report.html", {.pictures = false});
  } catch (const Error&) {
  }
  try {
    (void)run_state(folder);
  } catch (const Error&) {
  }
  std::filesystem::remove_all(folder);
}

void play_npz(std::string_view input) {
  try {
    const auto arrays = parse_npz(input, source);
    const auto written = format_npz(arrays);
    parse_npz(written, "written");
    for (const auto& array : arrays) (void)find_npz(written, array.name, "written");
  } catch (const Error&) {
  }
  try {
    parse_npy(format_npy(parse_npy(input, source)), "written");
  } catch (const Error&) {
  }
}

void play_wad(std::string_view input) {
  try {
    const take_cover::Wad wad(std::string(input), source);
    int left = 64;
    for (const auto& name : wad.names()) {
      if (--left < 0) break;
      const auto attempt = [](auto read) {
        try {
          read();
        } catch (const Error&) {
        }
      };
      attempt([&] { (void)wad.sprite(name); });
      attempt([&] { (void)wad.flat(name); });
      attempt([&] { (void)wad.wall(name); });
    }
  } catch (const Error&) {
  }
}

void play_metrics(std::string_view input) {
  try {
    const Table table = read_table(scratch_file("metrics.csv", input));
    for (const auto& column : table.columns) table.column(column);
  } catch (const Error&) {
  }
}

void play_mjcf(std::string_view input) {
  try {
    MujocoWorld world(MujocoBundle::read(scratch_file("empty", "").parent_path(), "<" + std::string(input)));
    world.reset();
    world.forward();
    world.step(1);
  } catch (const Error&) {
  }
}

void play_urdf(std::string_view input) {
  for (const auto& engine : robot_engines()) try {
      const RobotDescription robot = parse_urdf(input, source);
      if (robot.links.size() > most_links) return;
      RobotWorld world(robot, {.engine = engine, .timestep = .002});
      RobotState start{.position = {0, 0, 1}};
      start.angles.resize(world.joints().size());
      world.reset(start);
      world.step(std::vector<double>(world.joints().size()), 2);
    } catch (const Error&) {
    }
}

void play_picture(std::string_view input) {
  for (const char* name : {"picture.png", "picture.jpg"}) try {
      (void)read_image(scratch_file(name, input));
    } catch (const Error&) {
    }
}

}  // namespace fuzz
