// Room for contacts and rows of constraints: how much, and what becomes of a world that has more of them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>
import iap.core;
import iap.envs.dm_control;
import iap.sim;

using namespace iap;

namespace {

// So many boxes of a side of 0.2 m beside each other above the floor; `size` stands in the model.
MujocoWorld boxes(int count, const std::string& size = "", const std::string& geom = "type='box' size='.1 .1 .1'") {
  std::string bodies;
  for (int i = 0; i < count; ++i)
    bodies += text("<body pos='", 0.25 * (i % 6), " ", 0.25 * (i / 6), " .11'><freejoint/><geom ", geom, "/></body>");
  const std::string xml = "<mujoco>" + size + "<worldbody><geom type='plane' size='4 4 .1'/>" + bodies + "</worldbody></mujoco>";
  const std::vector<MujocoFile> files{{"boxes.xml", xml}};
  return MujocoWorld(files);
}

void begin(MujocoWorld& world) {
  world.reset();
  world.forward();
}

double lowest(const MujocoWorld& world) {
  double z = 1;
  for (std::size_t i = 2; i < world.qpos().size(); i += 7) z = std::min(z, world.qpos()[i]);
  return z;
}

int number(const MujocoWorld& world, const std::string& name) { return static_cast<int>(world.array(name).at(0)); }

std::vector<double> positions(const MujocoWorld& world) { return {world.qpos().begin(), world.qpos().end()}; }

}  // namespace

TEST_CASE("there is room for what moves where the model does not say how much") {
  const auto few = boxes(4);
  CHECK((number(few, "nconmax") == 100 && number(few, "njmax") == 500));
  // Four contacts a ball, each of four rows, and eight a box.
  const auto balls = boxes(40, "", "size='.1'");
  CHECK((number(balls, "nconmax") == 160 && number(balls, "njmax") == 640));
  const auto many = boxes(30);
  CHECK((number(many, "nconmax") == 240 && number(many, "njmax") == 960));
  const auto elliptic = boxes(30, "<option cone='elliptic'/>");
  CHECK((number(elliptic, "nconmax") == 240 && number(elliptic, "njmax") == 720));
  const auto most = boxes(400);
  CHECK((number(most, "nconmax") == 500 && number(most, "njmax") == 2000));
  const auto own = boxes(30, "<size nconmax='130' njmax='600' nstack='500000'/>");
  CHECK((number(own, "nconmax") == 130 && number(own, "njmax") == 600 && number(own, "nstack") == 500000));
  // What touches nothing, or does not move, takes no room.
  CHECK(number(boxes(30, "", "type='box' size='.1 .1 .1' contype='0' conaffinity='0'"), "nconmax") == 100);
}

TEST_CASE("where there cannot be many rows there is room for those alone, which changes no bit") {
  const auto chain = [](const std::string& size, const std::string& contact, const std::string& touching) {
    const std::string joint = "<joint type='hinge' axis='0 1 0' limited='true' range='-10 10' frictionloss='.1'/>";
    const std::string geom = "<geom type='capsule' size='.02 .1' " + touching + "/>";
    const std::string xml = "<mujoco>" + size + "<option><flag " + contact +
                            "/></option><worldbody><geom type='plane' size='4 4 .1'/><body name='a' pos='0 0 .3'>" + joint + geom +
                            "<body name='b' pos='0 0 .2'>" + joint + geom +
                            "</body></body><body name='c' pos='.3 0 .5'><freejoint/>" + geom +
                            "</body></worldbody><equality><weld body1='b' body2='c'/></equality></mujoco>";
    const std::vector<MujocoFile> files{{"chain.xml", xml}};
    return MujocoWorld(files);
  };
  const std::string untouched = "contype='0' conaffinity='0'", roomy = "<size njmax='499'/>";
  // A weld has six rows, a limit two, friction one; and some more.
  constexpr int others = 6 + 2 * 2 + 2 + 16, rows_a_contact = 4;
  // Three capsules, which touch each other and the floor at two places each, if at all.
  const auto touching = chain("", "contact='enable'", "");
  CHECK(number(touching, "njmax") == others + rows_a_contact * 6 * 2);
  CHECK(number(chain(roomy, "contact='enable'", ""), "njmax") == 499);
  CHECK(number(chain("", "contact='disable'", ""), "njmax") == others);
  CHECK(number(chain("", "contact='enable'", untouched), "njmax") == others);
  for (const auto& [contact, shape] :
       {std::pair<std::string, std::string>{"contact='enable'", ""}, {"contact='disable'", ""}, {"contact='enable'", untouched}}) {
    auto tight = chain("", contact, shape), wide = chain(roomy, contact, shape);
    begin(tight);
    begin(wide);
    for (int i = 0; i < 500; ++i) {
      tight.step(1);
      wide.step(1);
    }
    CHECK_FALSE(tight.unstable());
    CHECK(positions(tight) == positions(wide));
  }
}

TEST_CASE("thirty boxes stay on the floor") {
  auto world = boxes(30);
  begin(world);
  for (int i = 0; i < 100; ++i) world.step(5);
  CHECK_FALSE(world.unstable());
  CHECK(world.contacts() == 120);
  CHECK(std::abs(lowest(world) - 0.1) < 0.001);
}

TEST_CASE("more room changes no bit") {
  for (const std::string option : {"", "<option solver='PGS' cone='elliptic' noslip_iterations='3'/>"}) {
    auto usual = boxes(20, option), tight = boxes(20, option + "<size nconmax='81' njmax='321'/>");
    begin(usual);
    begin(tight);
    for (int i = 0; i < 200; ++i) {
      usual.step(1);
      tight.step(1);
    }
    CHECK_FALSE(tight.unstable());
    CHECK((number(usual, "njmax") > 321 && usual.contacts() > 0));
    CHECK(positions(usual) == positions(tight));
  }
}

TEST_CASE("a world is unstable from a step on with more contacts or constraints than there is room for") {
  for (const std::string size : {"<size nconmax='10'/>", "<size njmax='3'/>"}) {
    CAPTURE(size);
    auto world = boxes(30, size);
    begin(world);
    CHECK_FALSE(world.unstable());  // 1 cm above the floor
    int steps = 0;
    for (; !world.unstable() && steps < 1000; ++steps) world.step(1);
    CHECK((steps > 10 && steps < 100));
    // It stays so when all of them fly, until it begins anew.
    for (std::size_t i = 2; i < world.qpos().size(); i += 7) world.qpos()[i] = 3;
    world.forward();
    world.step(1);
    CHECK(world.contacts() == 0);
    CHECK(world.unstable());
    begin(world);
    CHECK_FALSE(world.unstable());
  }
}

TEST_CASE("a place that was only tried spoils nothing, one to begin at does") {
  auto world = boxes(30, "<size nconmax='10'/>");
  const auto move = [&world](double z) {
    for (std::size_t i = 2; i < world.qpos().size(); i += 7) world.qpos()[i] = z;
    world.forward();
  };
  begin(world);
  move(0.05);
  CHECK(world.unstable());
  move(3);
  world.step(1);
  CHECK_FALSE(world.unstable());
  move(0.05);
  world.step(1);
  CHECK(world.unstable());
}

TEST_CASE("DM Control's models have all the room that they can need, and move as in what MuJoCo gives them") {
  for (const auto& model : dm_control_models()) {
    CAPTURE(model);
    auto files = dm_control_files(model);
    MujocoWorld world(files);
    CHECK((number(world, "nconmax") == 100 && number(world, "njmax") <= 500));
    std::string roomy(files.front().content);
    roomy.insert(roomy.find('>', roomy.find("<mujoco")) + 1, "<size njmax='501'/>");
    files.front().content = roomy;
    MujocoWorld wide(files);
    REQUIRE(number(wide, "njmax") == 501);
    Random random(3);
    for (int episode = 0; episode < 8; ++episode) {
      // As they stand, then tangled up.
      for (auto* each : {&world, &wide}) each->reset();
      for (std::size_t i = 0; episode > 1 && i < world.qpos().size(); ++i)
        wide.qpos()[i] = world.qpos()[i] += random.uniform(-episode, episode) / 2;
      for (auto* each : {&world, &wide}) each->forward();
      for (int i = 0; i < 200; ++i) {
        for (std::size_t k = 0; k < world.ctrl().size(); ++k) wide.ctrl()[k] = world.ctrl()[k] = random.uniform(-1, 1);
        for (auto* each : {&world, &wide}) each->step(1);
      }
      CHECK(world.unstable() == wide.unstable());
      CHECK(positions(world) == positions(wide));
    }
  }
}

TEST_CASE("a robot's room follows its shapes") {
  const auto chain = [](int count) {
    std::string urdf = "<robot name='snake'>";
    for (int i = 0; i < count; ++i) {
      urdf += text("<link name='l", i,
                   "'><inertial><mass value='1'/><inertia ixx='.01' ixy='0' ixz='0' iyy='.01' iyz='0' izz='.01'/>"
                   "</inertial><collision><geometry><box size='.2 .2 .1'/></geometry></collision></link>");
      if (i > 0)
        urdf += text("<joint name='j", i, "' type='continuous'><parent link='l", i - 1, "'/><child link='l", i,
                     "'/><origin xyz='.25 0 0'/><axis xyz='0 1 0'/></joint>");
    }
    return parse_urdf(urdf + "</robot>", "snake.urdf");
  };
  const auto says = [](const std::string& mjcf, const std::string& size) { return mjcf.find(size) != std::string::npos; };
  CHECK(says(robot_mjcf(chain(4), .001), "<size njmax=\"600\" nconmax=\"150\"/>"));
  CHECK(says(robot_mjcf(chain(40), .001), "<size njmax=\"1040\" nconmax=\"320\"/>"));
  constexpr int links = 60;
  RobotWorld world(chain(links), {.engine = "mujoco"});
  world.set_terrain({});
  RobotState start;
  start.position = {0, 0, 0.051};
  start.angles.assign(links - 1, 0.);
  world.reset(start);
  world.step(std::vector<double>(links - 1, 0.), 500);
  CHECK_FALSE(world.unstable());
  double force = 0;
  for (const auto& contact : world.contacts()) force += contact.force;
  CHECK(std::abs(force - links * 9.81) < 0.01 * links * 9.81);
  for (int i = 0; i < links; ++i) CHECK(std::abs(world.link_placement(i).position[2] - 0.05) < 0.003);
}
