#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../envs/wad_files.hpp"
#include "targets.hpp"
import iap.core;
import iap.envs.take_cover;
import iap.render;
import iap.sim;

namespace fuzz {
namespace {

using namespace iap;

constexpr const char* source = "input";
/// Robots of more links are well read, but take longer than there is to learn from them.
constexpr std::size_t most_links = 64;

/// A model and the files that it names, a line "%% NAME" before each of them.
struct Files {
  explicit Files(std::string_view input) {
    constexpr std::string_view mark = "\n%% ";
    const auto next = [&input, mark] {
      const auto part = input.substr(0, input.find(mark));
      input.remove_prefix(std::min(part.size() + mark.size(), input.size()));
      return part;
    };
    model = next();
    while (!input.empty()) {
      const auto part = next();
      const auto name = part.substr(0, part.find('\n'));
      others[std::string(name)] = std::string(part.substr(std::min(name.size() + 1, part.size())));
    }
  }

  std::string_view model;
  Config others = Config::Map{};
};

template <typename Read>
void attempt(Read read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void step_once(const MujocoBundle& bundle) {
  MujocoWorld world(bundle);
  world.reset();
  world.forward();
  world.step(1);
}

void step_once(const RobotDescription& robot, const std::string& engine) {
  if (robot.links.size() > most_links) return;
  RobotWorld world(robot, {.engine = engine, .timestep = .002});
  RobotState start{.position = {0, 0, 1}};
  start.angles.resize(world.joints().size());
  world.reset(start);
  world.step(std::vector<double>(world.joints().size()), 2);
}

/// All that Take Cover shows, in pictures of a few texels, of which only the status bar has the size that it should.
std::string whole_wad() {
  using namespace wad_files;
  Lumps lumps = sample("BRICK12");
  lumps.emplace_back("PLAYPAL", std::string(768, '\x20'));
  lumps.emplace_back("COLORMAP", std::string(std::size_t{256} * take_cover::colormaps, '\x10'));
  for (const char* name : {"CRATOP1", "CRATOP2"}) lumps.emplace_back(name, std::string(4096, '\3'));
  std::vector<std::string> pictures{"STTPRCNT", "STARMS"};
  for (int i = 0; i < 10; ++i)
    for (const char* digits : {"STTNUM", "STYSNUM", "STGNUM"}) pictures.push_back(text(digits, i));
  for (std::size_t level = 0; level < take_cover::face_levels; ++level) {
    pictures.push_back(text("STFOUCH", level));
    for (std::size_t glance = 0; glance < take_cover::glances; ++glance) pictures.push_back(text("STFST", level, glance));
  }
  for (int i = 0; i < take_cover::fireball_frames; ++i) pictures.push_back(text("BAL1", static_cast<char>('A' + i), "0"));
  for (int i = 0; i < take_cover::imp_frames; ++i) pictures.push_back(text("TROO", static_cast<char>('A' + i), "0"));
  for (const auto& name : pictures) lumps.emplace_back(name, picture());
  lumps.emplace_back("STBAR", blank_picture(take_cover::bar_width, take_cover::bar_height));
  return wad_file(lumps);
}

}  // namespace

/// A WAD as it is, or a whole one with changes (`edited`).
void play_wad(std::string_view input) {
  static const std::string whole = whole_wad();
  const bool own = input.starts_with("IWAD") || input.starts_with("PWAD");
  const std::string file = own ? std::string(input) : edited(whole, input);
  attempt([&] { (void)take_cover::wad_art(scratch_file("input.wad", file)); });
  attempt([&] {
    const take_cover::Wad wad(file, source);
    int left = 64;
    for (const auto& name : wad.names()) {
      if (--left < 0) break;
      attempt([&] { (void)wad.sprite(name); });
      attempt([&] { (void)wad.flat(name); });
      attempt([&] { (void)wad.wall(name); });
    }
  });
}

void play_mjcf(std::string_view input) {
  const Files files(input);
  const std::string text = "<" + std::string(files.model);
  attempt([&] {
    if (files.others.map()->empty()) return step_once(MujocoBundle::read(scratch_file("empty", "").parent_path(), text));
    Config all = files.others;
    all["input.xml"] = text;
    const auto bundle = MujocoBundle::unpack("input.xml", all, source);
    // What travels is what arrives.
    const Config packed = bundle.config();
    if (!(MujocoBundle::unpack("input.xml", packed, source).config() == packed)) std::abort();
    step_once(bundle);
  });
}

void play_urdf(std::string_view input) {
  const Files files(input);
  for (const auto& engine : robot_engines())
    attempt([&] {
      if (files.others.map()->empty()) return step_once(parse_urdf(files.model, source), engine);
      Config all = files.others;
      all["input.urdf"] = std::string(files.model);
      step_once(RobotBundle::unpack("input.urdf", all).robot, engine);
    });
}

void play_obj(std::string_view input) {
  attempt([&] { (void)Mesh(parse_obj(input, source)); });
}

}  // namespace fuzz
