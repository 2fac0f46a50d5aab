#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.env;
import iap.envs;
#include "core/files_read.hpp"
#include "trot.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {

std::unique_ptr<Env> make(Config::Map options) {
  options["name"] = "a1-indoor";
  return make_env(options);
}

// Rooms so narrow that nothing is left to chance: side walls at y = -.6 and .6, a door from -.5 to .5 all the way ahead.
Config::Map corridor(const char* view) {
  Config::Map options{{"view", view}, {"jitter", 0.}, {"rooms", 2}, {"gates", 0.}, {"door_shift", 0.}};
  for (const char* bound : {"least_", "most_"}) {
    options[std::string(bound) + "length"] = 1.5;
    options[std::string(bound) + "width"] = 1.;
    options[std::string(bound) + "door"] = 1.;
  }
  return options;
}

using Point = std::array<double, 3>;

// How far along a ray a box begins; nothing where it passes by.
double enters(const Point& from, const Point& direction, const Point& low, const Point& high) {
  double first = 0, last = 1e9;
  for (int axis = 0; axis < 3; ++axis) {
    const double a = (low[axis] - from[axis]) / direction[axis], b = (high[axis] - from[axis]) / direction[axis];
    first = std::max(first, std::min(a, b));
    last = std::min(last, std::max(a, b));
  }
  return first < last ? first : 1e9;
}

// The camera of a robot that has just been put down: its height is the leg's, .02 m of toe, .02 of drop and .03 of mount.
constexpr double far = 10;
const Point eye{.27, 0, .4 * std::numbers::sqrt2 / 2 + .02 + .02 + .03};
Point ray(double row, double column, int height, int width) {
  const double reach = std::tan(std::numbers::pi / 6);
  return {1, (1 - 2 * column / width) * reach * width / height, (1 - 2 * row / height) * reach};
}

double seen(double row, double column, int height, int width) {
  const Point d = ray(row, column, height, width);
  double nearest = d[2] < 0 ? eye[2] / -d[2] : (2.5 - eye[2]) / d[2];
  const auto box = [&](const Point& low, const Point& high) { nearest = std::min(nearest, enters(eye, d, low, high)); };
  // The second room begins behind the first wall, 1.5 to 1.65; the last wall is 3.15 to 3.3.
  for (const double side : {-.75, .6}) {
    box({-1, side, 0}, {1.5, side + .15, 2.5});
    box({1.65, side, 0}, {3.15, side + .15, 2.5});
  }
  for (const double x : {1.5, 3.15}) {
    box({x, -.75, 0}, {x + .15, -.5, 2.5});
    box({x, .5, 0}, {x + .15, .75, 2.5});
    box({x, -.5, 2}, {x + .15, .5, 2.5});
  }
  return std::min(nearest, far);
}

void write(const std::filesystem::path& file, const std::string& content) { std::ofstream(file) << content; }

// A scanned room of 4 x 3 m around (2, 1.5), whose floor lies at z = 1 and whose ceiling is at 3.2, with a pillar at its far end.
std::string room_obj() {
  std::string obj;
  int count = 0;
  const auto quad = [&](Point a, Point b, Point c, Point d) {
    for (const Point& p : {a, b, c, d})
      obj += "v " + std::to_string(p[0]) + " " + std::to_string(p[1]) + " " + std::to_string(p[2]) + "\n";
    obj += "f " + std::to_string(count + 1) + "/1 " + std::to_string(count + 2) + "/1 " + std::to_string(count + 3) + "/1 " +
           std::to_string(count + 4) + "/1\n";
    count += 4;
  };
  for (const double z : {1., 3.2}) quad({0, 0, z}, {4, 0, z}, {4, 3, z}, {0, 3, z});
  for (const double x : {0., 4., 3.5}) quad({x, 0, 1}, {x, 3, 1}, {x, 3, 3.2}, {x, 0, 3.2});
  for (const double y : {0., 3.}) quad({0, y, 1}, {4, y, 1}, {4, y, 3.2}, {0, y, 3.2});
  return obj;
}

}  // namespace

TEST_CASE("the depth camera measures what rays from the robot meet in the rooms") {
  auto options = corridor("depth");
  options["pixels"] = Config::List{48, 64};
  const auto env = make(options);
  env->reset(1);
  const auto& image = env->observe().images[0];
  REQUIRE((image.shape == ImageShape{48, 64, 1, PixelType::float32}));
  int compared = 0, open = 0;
  for (int row = 0; row < 48; ++row)
    for (int column = 0; column < 64; ++column) {
      const double truth = seen(row + .5, column + .5, 48, 64);
      // Where rays a little aside meet something else, rounding decides.
      bool edge = false;
      for (const double dy : {-.1, .1})
        for (const double dx : {-.1, .1}) edge |= std::abs(seen(row + .5 + dy, column + .5 + dx, 48, 64) - truth) > .05 * truth;
      if (edge) continue;
      CAPTURE(row, column);
      ++compared;
      open += truth > 4;
      REQUIRE_THAT(image.floats()[row * 64 + column], WithinAbs(truth, 1e-3 * truth));
    }
  CHECK(compared > 2500);
  CHECK(open > 50);
  // The papers' camera is the default.
  const auto standard = make({});
  CHECK((standard->spec().observation.images[0].shape == ImageShape{16, 16, 1, PixelType::float32}));
}

TEST_CASE("walking ahead through doors pays the way, or each door, until the flat is crossed") {
  auto options = corridor("none");
  options["cap"] = 1.;
  options["least_door"] = options["most_door"] = 3.;  // the generator alone does not quite keep its heading
  const auto way = walk(*make(options), 4000);
  CHECK(way.over);
  CHECK_THAT(way.total, WithinAbs(3.3 + .5, .02));
  options["reward"] = "doors";
  const auto crossing = make(options);
  const auto doors = walk(*crossing, 4000);
  CHECK(doors.over);
  CHECK(doors.total == 2);
  CHECK(doors.steps == way.steps);
  CHECK(walk(*crossing, doors.steps / 2 + 1).total == 1);  // another episode pays anew
  options["rooms"] = 1;
  options["least_door"] = options["most_door"] = .3;  // feet are .26 m apart, and more is the body
  options["reward"] = "way";
  const auto stuck = walk(*make(options), 2000);
  CHECK(stuck.furthest < 1.5);
}

TEST_CASE("flats follow from the seed, or from a number among those that are named, and keep their openings clear") {
  const auto frame = [](Config::Map options, std::uint64_t seed) {
    options["jitter"] = 0.;
    const auto env = make(options);
    env->reset(seed);
    const auto& image = env->observe().images[0];
    return std::vector<float>(image.floats(), image.floats() + image.shape.count());
  };
  const auto only = [](int number) { return Config::Map{{"flats", Config::List{number, number}}}; };
  CHECK(frame({}, 1) != frame({}, 2));
  CHECK(frame(only(7), 1) == frame(only(7), 2));
  CHECK(frame(only(7), 1) == frame({}, 7));
  CHECK(frame(only(7), 1) != frame(only(8), 1));
  // Gates come with the probability that is asked for, and the next opening always lies ahead, within the walls.
  double gates = 0;
  for (int seed = 0; seed < 300; ++seed) {
    const auto env = make({{"view", "none"}, {"place", true}, {"rooms", 1}, {"gates", .4}, {"jitter", 0.}});
    env->reset(seed);
    const auto state = env->observe().vector;
    const auto& names = env->spec().state_names;
    REQUIRE(names.back() == "opening aside");
    const double ahead = state[state.size() - 2], aside = state[state.size() - 1];
    // Doors are at the end of rooms of 2.5 to 4 m, gates around their middle.
    gates += ahead < 2.6 && ahead < .75 * 4;
    CHECK(ahead > .8);
    CHECK(ahead < 4.2);
    CHECK(std::abs(aside) < 1);
  }
  CHECK(gates > 70);
  CHECK(gates < 170);
}

TEST_CASE("the compass and the place tell where the robot is and looks") {
  const auto env = make({{"view", "none"}, {"place", true}, {"compass", true}, {"leg_phases", true}, {"jitter", 0.}, {"cap", 1.}});
  const auto& names = env->spec().state_names;
  const auto at = [&](const char* name) {
    const auto found = std::ranges::find(names, name);
    REQUIRE(found != names.end());
    return env->observe().vector[found - names.begin()];
  };
  env->reset(2);
  CHECK_THAT(at("ahead"), WithinAbs(0, 1e-6));
  CHECK_THAT(at("heading cosine"), WithinAbs(1, 1e-6));
  CHECK_THAT(at("heading sine"), WithinAbs(0, 1e-6));
  const double opening = at("opening ahead");
  double way = 0;
  for (int step = 0; step < 300; ++step) way += env->step(trot).reward;
  CHECK_THAT(at("ahead"), WithinAbs(way, 1e-5));
  CHECK_THAT(at("opening ahead"), WithinAbs(opening - way, 1e-5));
  CHECK_THAT(std::atan2(at("heading sine"), at("heading cosine")), WithinAbs(at("heading"), 1e-5));
}

TEST_CASE("the ranges of actions are options") {
  // Nothing moves where the frequency is 0 whatever the action.
  Config::Map options{{"view", "none"}, {"frequency", Config::List{0., 0.}}, {"cap", 1.}};
  const auto still = walk(*make(options), 300);
  CHECK(std::abs(still.total) < .1);
  options["frequency"] = Config::List{3., 3.};
  options["intensity"] = Config::List{.5, .5};
  options["height"] = Config::List{0., 0.};
  options["ratio"] = Config::List{2.6, 2.6};
  const auto env = make(options);
  env->reset(3);
  double way = 0;
  for (int step = 0; step < 500; ++step) way += env->step(std::vector<float>(16)).reward;
  CHECK_THAT(way, WithinAbs(walk(*make({{"view", "none"}, {"cap", 1.}}), 500).total, 1e-4));
}

TEST_CASE("a folder of the Gibson layout is seen and felt") {
  const TemporaryFolder folder;
  write(folder.path() / "mesh_z_up.obj", room_obj());
  write(folder.path() / "floors.txt", "1.0\n4.5\n");
  Config::Map options{
      {"scene", folder.path().string()}, {"jitter", 0.}, {"lift", 0.}, {"start", Config::List{1., 1.5, 0.}}, {"cap", 1.}};
  const auto env = make(options);
  const FilesLog log;
  make(options);
  CHECK(log.files.at(folder.path().string()).starts_with("2 files, "));
  env->reset(1);
  const auto& image = env->observe().images[0];
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      const Point d = ray(row + .5, column + .5, 16, 16);
      // The wall at x = 3.5, floor and ceiling, side walls 1.5 m to both sides.
      double truth = std::min(2.5 - .27, d[2] < 0 ? eye[2] / -d[2] : (2.2 - eye[2]) / d[2]);
      truth = std::min(truth, 1.5 / std::abs(d[1]));
      CAPTURE(row, column);
      REQUIRE_THAT(image.floats()[row * 16 + column], WithinAbs(truth, 1e-3 * truth));
    }
  const auto stopped = walk(*env, 2000);
  CHECK(stopped.furthest > 1.2);
  CHECK(stopped.furthest < 2.4);
  // Along the other way of the room, where it began: the far wall is nearer.
  options["start"] = Config::List{1.3, 1.5, std::numbers::pi};
  CHECK(walk(*make(options), 1500).furthest < 1.2);
  // On a floor that is lifted beyond the pictures' floor, what is below is not there.
  options["lift"] = .1;
  const auto lifted = make(options);
  lifted->reset(1);
  CHECK(lifted->observe().images[0].floats()[15 * 16 + 8] > 0);
}

TEST_CASE("a building that another has taken the place of is no longer seen, though somebody still walks in it") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "mesh_z_up.obj";
  const std::string close = room_obj();
  std::string distant = close;
  const std::string here = "v " + std::to_string(3.5) + " ", there = "v " + std::to_string(3.9) + " ";
  for (auto at = distant.find(here); at != distant.npos; at = distant.find(here)) distant.replace(at, here.size(), there);
  const auto look = [&] {
    auto env = make({{"scene", folder.path().string()}, {"start", Config::List{1., 1.5, 0.}}});
    env->reset(1);
    return std::pair(env->observe().images[0].floats()[7 * 16 + 8], std::move(env));
  };
  write(file, close);
  const auto [before, first] = look();
  CHECK(look().first == before);
  REQUIRE(distant.size() == close.size());
  write(file, distant);
  CHECK(look().first > before + .2);
}

TEST_CASE("starts in a building are drawn where there is room, and the same for all threads") {
  const TemporaryFolder folder;
  write(folder.path() / "mesh_z_up.obj", room_obj());
  const Config::Map options{{"scene", folder.path().string()}, {"clearance", .6}};
  const auto traces = [&](std::uint64_t seed) {
    const auto env = make(options);
    env->reset(seed);
    std::vector<float> all;
    for (int step = 0; step < 40; ++step) {
      env->step(trot);
      const auto seen = env->observe();
      all.insert(all.end(), seen.vector.begin(), seen.vector.end());
      all.insert(all.end(), seen.images[0].floats(), seen.images[0].floats() + 256);
    }
    return all;
  };
  std::vector<std::vector<float>> together(4);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { together[i] = traces(i); });
  }
  for (int i = 0; i < 4; ++i) CHECK(together[i] == traces(i));
  CHECK(together[0] != together[1]);
  const auto env = make(options);
  for (int seed = 0; seed < 20; ++seed) {
    env->reset(seed);
    const auto& image = env->observe().images[0];
    // The middle of the picture looks level, .27 m ahead of the place that has 1.8 m of room before it.
    CHECK(image.floats()[7 * 16 + 8] > 1.8 - .27 - .1);
  }
}

TEST_CASE("a scene of any name is a building or one clear error") {
  const TemporaryFolder folder;
  const auto loop = folder.path() / "loop";
  std::filesystem::create_symlink("loop", loop);
  const auto refused = [](const std::string& scene) {
    return Catch::Matchers::Message(
        text("there is no folder '", scene, "'; a scene is a folder with mesh_z_up.obj, as in the Gibson data set"));
  };
  for (const std::string& scene : {loop.string(), std::string(5000, 'x')})
    CHECK_THROWS_MATCHES(make({{"scene", scene}}), Error, refused(scene));
  CHECK_THROWS_MATCHES(make({{"scene", std::string("a\0b", 3)}}), Error,
                       Catch::Matchers::Message("cannot read 'a\\0b': names of files hold no NUL; take it out"));
  std::filesystem::create_symlink("mesh_z_up.obj", folder.path() / "mesh_z_up.obj");
  CHECK_THROWS_MATCHES(make({{"scene", folder.path().string()}}), Error,
                       MessageMatches(ContainsSubstring("holds no mesh_z_up.obj")));
}

TEST_CASE("a damaged building is one clear error, or one that can be walked in") {
  const TemporaryFolder folder;
  const std::string whole = room_obj();
  Random random(3);
  int errors = 0, walked = 0;
  for (int round = 0; round < 200; ++round) {
    std::string obj = whole;
    const std::size_t at = random.below(static_cast<std::uint32_t>(obj.size()));
    switch (random.below(4)) {
      case 0: obj[at] = static_cast<char>(random.below(256)); break;
      case 1: obj.resize(at); break;
      case 2: obj.erase(at, random.below(12)); break;
      default: obj.insert(at, std::array{"-", "9", "1e5", "e9", "\n", "f 1 2 3\n", "v 0 0 nan\n"}[random.below(7)]);
    }
    write(folder.path() / "mesh_z_up.obj", obj);
    CAPTURE(round, obj);
    try {
      const auto env = make({{"scene", folder.path().string()}, {"start", Config::List{1., 1.5, 0.}}});
      env->reset(round);
      for (int step = 0; step < 3; ++step) env->step(trot);
      ++walked;
      REQUIRE(std::ranges::all_of(env->observe().vector, [](float value) { return std::isfinite(value); }));
    } catch (const Error& error) {
      ++errors;
      REQUIRE_THAT(error.what(), ContainsSubstring("mesh_z_up.obj"));
    }
  }
  CHECK(errors > 40);
  CHECK(walked > 40);
}

TEST_CASE("what is wrong with a scene or an option is one clear error") {
  const TemporaryFolder folder;
  const auto refuses = [&](Config::Map options, const char* why) {
    if (!options.contains("scene")) options["scene"] = folder.path().string();
    CAPTURE(why);
    CHECK_THROWS_MATCHES(make(options), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuses({{"scene", "no/such/folder"}}, "there is no folder 'no/such/folder'");
  refuses({}, "holds no mesh_z_up.obj");
  write(folder.path() / "mesh_z_up.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n");
  refuses({}, "mesh_z_up.obj, line 4: a face names vertex 7");
  write(folder.path() / "mesh_z_up.obj", "v 0 0 0\nv 1 0 0\nv 0 1e9 0\nf 1 2 3\n");
  refuses({}, "mesh_z_up.obj: a mesh has a vertex at 1e+09");
  write(folder.path() / "mesh_z_up.obj", room_obj());
  write(folder.path() / "floors.txt", "1.0 none");
  refuses({}, "floors.txt: 'none' is not the height of a storey");
  write(folder.path() / "floors.txt", "\n");
  refuses({}, "floors.txt: there is no height in it");
  write(folder.path() / "floors.txt", "1\n4\n");
  refuses({{"storey", 2}}, "has no storey 2; it has 2");
  refuses({{"engine", "mujoco"}}, "MuJoCo fills the hollows");
  refuses({{"reward", "doors"}}, "nobody knows where a scene has doors");
  refuses({{"start", Config::List{1., 2.}}}, "'start' must be {x, y, heading}");
  refuses({{"rooms", 3}}, "unknown option 'rooms'");
  const auto nowhere = make({{"scene", folder.path().string()}, {"clearance", 5.}});
  CHECK_THROWS_MATCHES(nowhere->reset(1), Error, MessageMatches(ContainsSubstring("give start = {x, y, heading}")));
  CHECK_THROWS_MATCHES(make({{"flats", Config::List{3, 1}}}), Error, MessageMatches(ContainsSubstring("first <= last")));
  CHECK_THROWS_MATCHES(make({{"frequency", Config::List{2., 4.}}}), Error,
                       MessageMatches(ContainsSubstring("0 <= low <= high <= 3")));
  CHECK_THROWS_MATCHES(make({{"storey", 0}}), Error, MessageMatches(ContainsSubstring("option 'storey' goes with scene")));
  CHECK_THROWS_MATCHES(make({{"view", "none"}, {"state", false}}), Error, MessageMatches(ContainsSubstring("show nothing")));
}

namespace {

// Who steers: front feet step aside one way while they stand, rear feet the other.
std::vector<float> steered(double turn, std::span<const float> phases) {
  std::vector<float> action(16);
  action[0] = 1;
  action[3] = .6f;
  for (int leg = 0; leg < 4; ++leg)
    action[4 + 3 * leg] = static_cast<float>(std::clamp(turn, -1., 1.) * (leg < 2 ? 1 : -1) * (2 * phases[2 * leg] - 1));
  return action;
}

struct Walked {
  int steps = 0, openings = 0;
};

// Walks through the flat of `seed`, heading for where the camera sees furthest at its own height; blindly ahead without `looking`.
Walked walk_by_sight(std::uint64_t seed, bool looking) {
  const auto range = [](double low, double high) { return Config::List{low, high}; };
  const auto env = make({{"compass", true},
                         {"leg_phases", true},
                         {"reward", "doors"},
                         {"frequency", range(1.5, 3)},
                         {"intensity", range(.3, .9)},
                         {"height", range(-.2, .2)},
                         {"ratio", range(1, 3)}});
  env->reset(seed);
  Walked walked;
  double wanted = 0, doors = 0;
  for (bool over = false; !over && walked.steps < 9000; ++walked.steps) {
    const auto seen = env->observe();
    const double heading = std::atan2(seen.vector[25], seen.vector[24]);
    if (looking && walked.steps % 12 == 0) {
      double sum = 0, bearing = 0;
      for (int column = 0; column < 16; ++column) {
        const float* pixel = seen.images[0].floats() + 7 * 16 + column;
        const double weight = std::pow(std::min(pixel[0], pixel[16]), 3);
        sum += weight;
        bearing += weight * std::atan((1 - (column + .5) / 8) * std::tan(std::numbers::pi / 6));
      }
      wanted = std::clamp(.94 * (heading + bearing / sum), -1.3, 1.3);
    }
    const auto result = env->step(steered(2 * (wanted - heading), seen.vector.subspan(16, 8)));
    over = result.terminated;
    doors += result.reward;
  }
  walked.openings = static_cast<int>(doors);
  return walked;
}

}  // namespace

TEST_CASE("who steers by what the depth camera shows crosses flats that stop who does not look") {
  int crossed = 0, blind = 0;
  for (const std::uint64_t seed : {1, 2, 4}) {
    crossed += walk_by_sight(seed, true).openings >= 5;
    blind += walk_by_sight(seed, false).openings >= 5;
  }
  CHECK(crossed == 3);
  CHECK(blind == 0);
}
