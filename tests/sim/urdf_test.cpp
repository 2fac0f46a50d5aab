#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>
import iap.core;
import iap.envs.legged;
import iap.render;
import iap.sim;

#include "../comma_locale.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const std::string mass = R"(<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>)";

std::string mass_of(const std::string& izz) {
  return R"(<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz=")" + izz + R"("/></inertial>)";
}
std::string robot(const std::string& inside) { return "<robot name=\"test\">" + inside + "</robot>"; }
std::string link(const std::string& name, const std::string& inside = mass) {
  return "<link name=\"" + name + "\">" + inside + "</link>";
}
std::string joint(const std::string& name, const std::string& parent, const std::string& child,
                  const std::string& type = "continuous", const std::string& inside = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent + "\"/><child link=\"" + child + "\"/>" +
         inside + "</joint>";
}

void refused(const std::string& urdf, const std::string& why) {
  CAPTURE(urdf);
  CHECK_THROWS_MATCHES(parse_urdf(urdf, "robot.urdf"), Error,
                       MessageMatches(ContainsSubstring("robot.urdf: ") && ContainsSubstring(why)));
}

}  // namespace

TEST_CASE("a text that describes no robot is one clear error") {
  refused("", "cannot be read as URDF");
  refused("hello", "cannot be read as URDF");
  refused("<mujoco/>", "cannot be read as URDF");
  refused(robot(""), "No link elements found");
  refused(robot(link("a") + link("b")), "Two root links found");
  refused(robot(link("a") + link("a")), "not unique");
  refused(robot(link("a") + joint("j", "a", "b")), "[b]");
  refused(robot(link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a")), "No root link found");
  refused(robot(link("a") + link("b") + link("c") + joint("j", "b", "c") + joint("k", "c", "b")), "loop of joints");
  refused(robot(link("a") + link("b") + joint("j", "a", "b") + joint("k", "a", "b")), "hangs on two joints");
  refused(robot(link("a") + link("b") + joint("j", "a", "b", "floating")), "joint 'j' is neither fixed");
  refused(robot(link("a") + link("b") + joint("j", "a", "b", "revolute")), "limits");
  refused(
      robot(link("a") + link("b") + joint("j", "a", "b", "revolute", R"(<limit lower="1" upper="-1" effort="1" velocity="1"/>)")),
      "joint 'j' has the limits 1 to -1");
  for (const std::string none : {R"(lower=".5" upper=".5")", ""})
    refused(robot(link("a") + link("b") + joint("j", "a", "b", "revolute", "<limit " + none + R"( effort="1" velocity="1"/>)")),
            "joint 'j' cannot move: lower and upper limit are both 0");
  refused(robot(link("a") + link("b") + joint("j", "a", "b", "continuous", R"(<axis xyz="0 0 0"/>)")), "joint 'j' has no axis");
  refused(
      robot(link("a") + link("b") + joint("j", "a", "b") + link("c") + joint("k", "a", "c", "continuous", R"(<mimic joint="j"/>)")),
      "joint 'k' mimics");
  refused(std::string("<robot name=\"a\">\0</robot>", 24), "NUL at byte 16");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  refused(deep, "nested more than 64 deep");
}

TEST_CASE("comments, values and declarations neither hide depth nor count as depth") {
  const auto times = [](int count, const std::string& what) {
    std::string all;
    for (int i = 0; i < count; ++i) all += what;
    return all;
  };
  const std::string deep = times(100, "<a>"), begin = "<robot name=\"x\">";
  const std::string too_deep = "nested more than 64 deep";
  refused(begin + "<!-- " + times(200, "/>") + " -->" + deep, too_deep);
  refused(begin + "<!-- " + times(200, "</a>") + " -->" + deep, too_deep);
  refused(begin + "<![CDATA[" + times(200, "</a>") + "]]>" + deep, too_deep);
  refused(begin + "<b c=\"" + times(200, "/>") + "\"/>" + deep, too_deep);
  refused(begin + "<b c='" + times(200, "</a>\"") + "'/>" + deep, too_deep);
  refused(begin + "<!-->" + times(200, "</a>") + " -->" + deep, too_deep);
  refused(times(200, "</a>") + begin + deep, "an element ends that did not begin");
  // What TinyXML reads otherwise than it stands: half a character takes what follows along, and a known word in a declaration
  // begins a value.
  refused(begin + times(100, "<a>\xe2</a>"), "line 1: holds bytes that are no UTF-8");
  refused(begin + "<b c=\"\xe2\"/>", "no UTF-8");
  refused("<?xml version=\"?>" + times(30, "</a>") + "\"?>" + begin, "plain words");
  refused("<?xml foo=\"a version='b\"?>" + begin, "plain words");
  refused(begin + "\n<b c=1/>", "line 2: is no XML: the value of an attribute needs quotes");
  refused(begin + "<!-- no end", "<!-- lacks its -->");
  refused(begin + "<! no end", "<! lacks its >");
  refused("<?xml version=\"1.0\"?>\n<!DOCTYPE robot [<!ENTITY m \"1\">]>" + begin + "</robot>",
          "line 2: has a document type that declares something; write plain XML");

  const std::string harmless = "<?xml version=\"1.0\" encoding='utf-8' ?><!DOCTYPE robot>" +
                               robot("<!-- " + times(65, "<a>") + " <b c='-->" +
                                     link("stra\xc3\x9f"
                                          "e",
                                          "<!--/>-->" + mass) +
                                     "<note text=\"" + times(65, "<a>") + "\">5 > 4<![CDATA[" + times(65, "<a>") + "]]></note >");
  CHECK(parse_urdf(harmless, "robot.urdf").links.size() == 1);
}

TEST_CASE("chains on which an engine would run out of stack, and more links than fit, are refused") {
  const auto chain = [](int length, bool star) {
    std::string inside = link("l0");
    for (int i = 1; i <= length; ++i)
      inside += link("l" + std::to_string(i)) +
                joint("j" + std::to_string(i), "l" + std::to_string(star ? 0 : i - 1), "l" + std::to_string(i));
    return robot(inside);
  };
  CHECK(parse_urdf(chain(100, false), "robot.urdf").links.size() == 101);
  refused(chain(101, false), "hangs on a chain of more than 100 joints");
  refused(chain(2500, true), "has 2501 links; at most 2000 can be simulated");
  refused(std::string((16 << 20) + 1, ' '), "a URDF may have 16 MiB");
}

TEST_CASE("links and joints are counted before urdfdom sees them, which frees a chain by recursion") {
  // The library would meet a second root behind the chain, and let the chain go, one link after another.
  std::string inside = link("zzz", "") + link("l100000", "");
  for (int i = 100001; i <= 140000; ++i) {
    const std::string number = std::to_string(i);
    inside += link("l" + number, "") + joint("j" + number, "l" + std::to_string(i - 1), "l" + number, "fixed");
  }
  CHECK_THROWS_MATCHES(
      parse_urdf(robot(inside), "robot.urdf"), Error,
      MessageMatches(ContainsSubstring("robot.urdf: has 40002 links; at most 2000 can be simulated, so leave some out")));
  std::string joints, transmissions;
  for (int i = 0; i < 2001; ++i) {
    joints += joint("j" + std::to_string(i), "a", "b");
    transmissions += "<joint name=\"j\"/><link name=\"a\"/>";
  }
  refused(robot(link("a") + link("b") + joints), "has 2001 joints; at most 2000 can be simulated");
  // Of other elements they are no parts of the robot.
  CHECK(parse_urdf(robot(link("a") + "<transmission name=\"t\">" + transmissions + "</transmission>"), "robot.urdf").links.size() ==
        1);
}

TEST_CASE("shapes of all links are counted before urdfdom sees them, seen ones and those that collide") {
  const auto times = [](int count, const std::string& what) {
    std::string all;
    for (int i = 0; i < count; ++i) all += what;
    return all;
  };
  const std::string ball = R"(<geometry><sphere radius=".01"/></geometry>)";
  const std::string collision = "<collision>" + ball + "</collision>", visual = "<visual>" + ball + "</visual>";
  const auto two = [&](int collisions, int visuals) {
    return robot(link("a", mass + times(collisions, collision)) + link("b", mass + times(visuals, visual)) + joint("j", "a", "b"));
  };
  const RobotDescription most = parse_urdf(two(2000, 3000), "robot.urdf");
  CHECK(most.links[0].collisions.size() == 2000);
  CHECK(most.links[1].visuals.size() == 3000);
  refused(two(2000, 3001), "has 5001 <collision> and <visual>; at most 5000 can be simulated, so leave some out");
  refused(two(200'000, 0), "has 200000 <collision> and <visual>");
}

TEST_CASE("masses and shapes that cannot be are refused by the name of the link") {
  refused(robot(link("a", R"(<inertial><mass value="-1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>)")),
          "link 'a' has a mass of -1 kg");
  refused(robot(link("a", R"(<inertial><mass value="1"/><inertia ixx="1" ixy="3" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>)")),
          "link 'a' has an inertia that no solid has");
  refused(robot(link("a", mass + R"(<collision><geometry><box size="1 -1 1"/></geometry></collision>)")),
          "link 'a' has a shape of size");
  refused(robot(link("a", mass + R"(<collision><geometry><sphere radius="1e300"/></geometry></collision>)")),
          "link 'a' has a shape");
  for (const auto& mesh : std::vector<std::vector<std::string>>{
           {"package://robot/foot.stl", "no mesh file 'foot.stl', nor 'foot.stl' in a folder 'robot' above it"},
           {"model://robot/foot.stl", "is a name of Gazebo's, which looks for it in folders of its own; write package://robot/"},
           {"$(find robot)/foot.stl", "the mesh '$(find robot)/foot.stl' is for xacro or roslaunch"}})
    refused(robot(link("a", mass + "<collision><geometry><mesh filename=\"" + mesh[0] + "\"/></geometry></collision>")), mesh[1]);
  refused(robot(link("a") + link("b", "") + joint("j", "a", "b")), "link 'b' of the robot 'test' moves and has no mass");
  RobotDescription light = parse_urdf(robot(link("a") + link("b") + joint("j", "a", "b")), "robot.urdf");
  light.links[1].mass = 0;
  CHECK_THROWS_MATCHES(RobotWorld(light), Error,
                       MessageMatches(ContainsSubstring("link 'b' of the robot 'test' moves and has no mass")));
  // A mere frame is no body.
  CHECK_NOTHROW(RobotWorld(parse_urdf(robot(link("a") + link("b", "") + joint("j", "a", "b", "fixed")), "robot.urdf")));
  CHECK_NOTHROW(RobotWorld(parse_urdf(robot(link("a", "") + link("b") + joint("j", "a", "b", "fixed")), "robot.urdf")));
}

TEST_CASE("limits that cannot be are refused by the name of the joint, each in words of its own") {
  const auto limited = [](const std::string& limit) {
    return robot(link("a") + link("b") + joint("j", "a", "b", "revolute", "<limit " + limit + "/>"));
  };
  refused(limited(R"(lower="-1" upper="1" effort="1e9" velocity="0")"),
          "joint 'j' has the limit effort=\"1e+09\"; limits reach from -1e+06 to 1e+06, and effort=\"0\"");
  refused(limited(R"(lower="-1" upper="1" effort="0" velocity="1e7")"), "joint 'j' has the limit velocity=\"1e+07\"; limits reach");
  refused(limited(R"(lower="-1e9" upper="1" effort="0" velocity="0")"), "joint 'j' has the limit lower=\"-1e+09\"; limits reach");
  refused(limited(R"(lower="2" upper="1" effort="0" velocity="0")"),
          "joint 'j' has the limits 2 to 1; lower must not be above upper");
  CHECK_NOTHROW(parse_urdf(limited(R"(lower="-1" upper="1" effort="1e6" velocity="1e6")"), "robot.urdf"));
  for (const char* kind : {"revolute", "prismatic", "continuous"}) {
    CAPTURE(kind);
    const auto driven = [&](const std::string& motor) {
      return robot(link("a") + link("b") + joint("j", "a", "b", kind, R"(<limit lower="-1" upper="1" )" + motor + "/>"));
    };
    refused(driven(R"(effort="-55" velocity="0")"), "joint 'j' has a negative limit of effort or velocity");
    refused(driven(R"(effort="0" velocity="-52.4")"), "joint 'j' has a negative limit of effort or velocity");
    refused(driven(R"(effort="1e9" velocity="0")"), "joint 'j' has the limit effort=\"1e+09\"; limits reach");
  }
}

TEST_CASE("a part that cannot be read is an error, not a robot without it") {
  const auto refused_part = [](const std::string& part, const std::string& why) {
    const std::string urdf = robot(link("a") + link("foot", part) + joint("j", "a", "foot", "fixed"));
    refused(urdf, why);
    refused(urdf, "for Link [foot]");
  };
  const auto shape = [](const std::string& inside) { return "<collision><geometry>" + inside + "</geometry></collision>"; };
  refused_part(mass + shape(R"(<sphere radius="2cm"/>)"), "radius [2cm] is not a valid float");
  refused_part(mass + shape("<shpere/>"), "Unknown geometry type 'shpere'");
  refused_part(mass + shape(R"(<capsule radius=".02" length=".1"/>)"), "Unknown geometry type 'capsule'");
  refused_part(mass + shape(R"(<box size=".03 .03"/>)"), "[.03 .03]");
  refused_part(mass + shape(R"(<mesh filename="foot.stl" scale="0.001"/>)"), "Mesh scale was specified, but could not be parsed");
  refused_part(mass + shape("<mesh/>"), "Mesh must contain a filename attribute");
  refused_part(mass + "<collision/>", "collision element");
  refused_part(mass + R"(<visual><geometry><sphere/></geometry></visual>)", "radius attribute");
  for (const std::string value : {"5,0", "6kg", "nan", "1e400"})
    refused_part("<inertial><mass value=\"" + value + R"("/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>)",
                 "mass [" + value + "] is not a float");
  // One part is told of, whole.
  const std::string bad = mass + shape(R"(<sphere radius="2cm"/>)");
  CHECK_THROWS_MATCHES(parse_urdf(robot(link("a", bad) + link("b", bad) + joint("j", "a", "b")), "robot.urdf"), Error,
                       MessageMatches(ContainsSubstring("[2cm]") && ContainsSubstring("[a]") && !ContainsSubstring("[b]")));
  // So is a text that no model comes of, and loops of links let go of each other.
  refused(robot(link("a") + link("b", bad) + link("c") + joint("j", "b", "c") + joint("k", "c", "b")), "[2cm]");

  // Colours are no part of a robot.
  const std::string colours =
      R"(<material name="none"/><material name="bad"><color rgba="1 0"/></material>)" +
      link("a",
           mass +
               R"(<visual><geometry><sphere radius="1"/></geometry><material name="odd"><color rgba="red"/></material></visual>)" +
               R"(<visual><geometry><sphere radius="1"/></geometry><material name="unknown"/></visual>)" +
               shape(R"(<sphere radius="1"/>)"));
  CHECK(parse_urdf(robot(colours), "robot.urdf").links[0].collisions.size() == 1);
}

TEST_CASE("a xacro file is named as such") {
  refused(robot("\n" + link("a", R"(<inertial><mass value="${m}"/></inertial>)")),
          "line 2: value=\"${m}\" is for xacro, not URDF; expand");
  refused(R"(<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:leg name="FR"/></robot>)",
          "<xacro:leg> is for xacro");
  // What xacro wrote still has its name space.
  CHECK_NOTHROW(parse_urdf("<robot name=\"a\" xmlns:xacro=\"x\"><!-- <xacro:leg> ${m} -->" + link("a") + "</robot>", "robot.urdf"));
}

TEST_CASE("no text becomes a format for urdfdom's messages") {
  const std::string whole =
      R"(<robot name="r" version="1.0"><material name="m"><color rgba="1 1 1 1"/><texture filename="x"/></material>)"
      R"(<link name="a"><inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="1"/>)"
      R"(<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>)"
      R"(<visual name="v"><geometry><box size="1 1 1"/></geometry><material name="k"><color rgba="1 1 1 1"/></material></visual>)"
      R"(<visual><geometry><mesh filename="q" scale="1 1 1"/></geometry></visual>)"
      R"(<collision name="c"><geometry><cylinder radius="1" length="1"/></geometry></collision></link><link name="b"/>)"
      R"(<joint name="j" type="fixed"><origin xyz="0 0 0" rpy="0 0 0"/><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>)"
      R"(<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="j" multiplier="1" offset="0"/>)"
      R"(<safety_controller soft_lower_limit="0" soft_upper_limit="0" k_position="0" k_velocity="0"/>)"
      R"(<calibration rising="0" falling="0"/><dynamics damping="0" friction="0"/></joint></robot>)";
  int values = 0;
  for (auto at = whole.find("=\""); at != std::string::npos; at = whole.find("=\"", at + 2), ++values)
    for (const std::string format : {"%n%s%s%s%s", "&#37;n&#x25;s"}) {
      std::string urdf = whole;
      urdf.replace(at + 2, whole.find('"', at + 2) - at - 2, format);
      CAPTURE(urdf);
      try {
        (void)parse_urdf(urdf, "robot.urdf");
      } catch (const Error&) {
      }
    }
  CHECK(values > 40);
  refused(robot("<material name=\"50%\"/>" + link("a")), "line 1: name=\"50%\" of <material> may not have a %");
  refused(robot(link("a", mass + R"(<collision><geometry><sphere radius="&#37;n"/></geometry></collision>)")),
          "radius=\"&#37;n\" of <sphere> may not have a &#");
  CHECK(parse_urdf(robot(link("50%")), "robot.urdf").links[0].name == "50%");
}

TEST_CASE("an inertia that breaks the triangle inequality is refused, one that is rounded runs on both engines") {
  const auto with = [](const std::string& izz, const std::string& rpy) {
    return robot(link("a", "<inertial><origin rpy=\"" + rpy +
                               "\"/><mass value=\"1\"/><inertia ixx=\".03\" ixy=\"0\" ixz=\"0\" "
                               "iyy=\".09\" iyz=\"0\" izz=\"" +
                               izz + "\"/></inertial>"));
  };
  refused(with("10", "0 0 0"),
          "link 'a' of the robot 'test' has an inertia that no solid has: ixx 0.03, iyy 0.09, izz 10; no principal moment");
  refused(with(".125", ".3 .2 .1"), "link 'a' of the robot 'test' has an inertia that no solid has");
  refused(robot(link("a") + link("b", mass_of("5")) + joint("j", "a", "b") + link("c", "") + joint("k", "b", "c", "fixed")),
          "link 'b' of the robot 'test', with what is fixed to it, has an inertia");
  // What counts is what moves: a part may be odd where the whole is not.
  CHECK_NOTHROW(RobotWorld(parse_urdf(robot(link("a") + link("b", mass_of("2.2")) + joint("j", "a", "b", "fixed")), "robot.urdf"),
                           {.engine = "mujoco"}));
  for (const std::string izz : {".1", ".12", ".12000000000000002", ".1200001", ".1205"})
    for (const std::string rpy : {"0 0 0", ".3 .2 .1", "1 2 3"})
      for (const auto& engine : robot_engines()) {
        CAPTURE(izz, rpy, engine);
        const RobotWorld world(parse_urdf(with(izz, rpy), "robot.urdf"), {.engine = engine});
        const auto inertia = world.bodies()[0].inertia;
        const double trace = inertia[0] + inertia[4] + inertia[8], given = .12 + std::stod(izz);
        CHECK(trace >= given - 1e-9);
        CHECK(trace < given + .004);
      }
}

TEST_CASE("collision meshes are read as convex hulls") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_urdf_test";
  std::filesystem::remove_all(folder);
  make_folder(folder / "meshes");
  // A cube of 20 cm with a vertex in the middle, which no hull keeps.
  std::string obj = "# cube\nv 0 0 0\n";
  for (const char* corner : {"-1 -1 -1", "1 -1 -1", "-1 1 -1", "1 1 -1", "-1 -1 1", "1 -1 1", "-1 1 1", "1 1 1"})
    obj += text("v ", corner, "\n");
  obj += "f 1 2 3\n";
  write_file_atomic(folder / "meshes/cube.obj", obj);
  const auto with = [&](const std::string& mesh) {
    write_file_atomic(folder / "robot.urdf", robot(link("a", mass + "<collision><geometry><mesh filename=\"" + mesh +
                                                                 "\" scale=\".1 .1 .1\"/></geometry></collision>")));
    return RobotBundle::read(folder / "robot.urdf").robot;
  };
  for (const std::string name : {"meshes/cube.obj", "package://meshes/cube.obj", "package://cube_robot/meshes/cube.obj"})
    for (const auto& engine : robot_engines()) {
      CAPTURE(name, engine);
      RobotWorld world(with(name), {.engine = engine});
      world.reset({.position = {0, 0, .12}});
      world.step({}, 1000);
      CHECK(std::abs(world.state().position[2] - .1) < 3e-3);
    }
  // Flat ones, at whatever angle; a thin plate is a solid.
  const auto plate = [&](double thickness) {
    std::string points;
    for (const double z : {0., thickness})
      for (const char* corner : {"0 0 ", "1 0.5 ", "0.3 1 ", "1 1 "}) points += text("v ", corner, fixed_text(1 + z, 9), "\n");
    write_file_atomic(folder / "plate.obj", points);
    return with("plate.obj");
  };
  for (const auto& engine : robot_engines()) CHECK_NOTHROW(RobotWorld(plate(1e-4), {.engine = engine}));
  // A hull is shown as its box, which lies beside the link's origin.
  RobotWorld beside(plate(1));
  beside.reset({.position = {1, 2, 3}});
  const Scene scene = robot_scene(beside);
  const std::array<double, 3> centre{1.05, 2.05, 3.15};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(scene.primitives[0].position[i] - centre[i]) < 1e-6);
    CHECK(std::abs(scene.primitives[0].size[i] - .05) < 1e-6);
  }
  const auto flat = MessageMatches(ContainsSubstring("robot.urdf: link 'a': the mesh 'plate.obj' is flat"));
  CHECK_THROWS_MATCHES(plate(0), Error, flat);
  CHECK_THROWS_MATCHES(plate(1e-8), Error, flat);
  write_file_atomic(folder / "plate.obj", "v 0 0 0\nv 1 1 1\nv 2 2 2\nv 3 3 3\n");
  CHECK_THROWS_MATCHES(with("plate.obj"), Error, flat);
  write_file_atomic(folder / "plate.obj", "v 1 1 1\nv 1 1 1\nv 1 1 1\nv 1 1 1\n");
  CHECK_THROWS_MATCHES(with("plate.obj"), Error, flat);
  write_file_atomic(folder / "plate.obj", "v 0 0 0\nv 1 0 1\nv 0 1 1\nv .4 .3 .7\n");
  CHECK_THROWS_MATCHES(with("plate.obj"), Error, flat);
  for (const std::string scale : {"0 0 0", "1 0 1", "1 1 -0"})
    refused(
        robot(link("a", mass + "<collision><geometry><mesh filename=\"x.obj\" scale=\"" + scale + "\"/></geometry></collision>")),
        "link 'a': the mesh 'x.obj' has the scale " + scale);
  CHECK_THROWS_MATCHES(with("missing.obj"), Error, MessageMatches(ContainsSubstring((folder / "missing.obj").string())));
  write_file_atomic(folder / "bad.obj", "v 1 2\n");
  CHECK_THROWS_MATCHES(with("bad.obj"), Error, MessageMatches(ContainsSubstring("bad.obj, line 1: 'v' needs three numbers")));
  write_file_atomic(folder / "bad.stl", "too short");
  CHECK_THROWS_MATCHES(with("bad.stl"), Error, MessageMatches(ContainsSubstring("bad.stl: ends too early")));
  write_file_atomic(folder / "bad.dae", "");
  CHECK_THROWS_MATCHES(with("bad.dae"), Error, MessageMatches(ContainsSubstring("'.dae'; convert it")));
  CHECK_THROWS_MATCHES(RobotBundle::read(folder / "none.urdf"), Error, MessageMatches(ContainsSubstring("none.urdf")));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a mesh's numbers are read as a scene's, its lines word by word, and its vertices are weighed before they are kept") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_urdf_numbers";
  std::filesystem::remove_all(folder);
  make_folder(folder);
  const auto points = [&](const std::string& mesh, const std::string& name = "m.obj") {
    write_file_atomic(folder / name, mesh);
    write_file_atomic(folder / "robot.urdf",
                      robot(link("a", mass + "<collision><geometry><mesh filename=\"" + name + "\"/></geometry></collision>")));
    return RobotBundle::read(folder / "robot.urdf").robot.links[0].collisions[0].points;
  };
  const auto with = [&](const std::string& first) { return points("v " + first + "\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"); };
  const std::vector<double> corner{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  CHECK(with("0 0 0") == corner);
  CHECK(with("1e-400 -1E-400 0." + std::string(400, '0') + "1") == corner);
  CHECK(with("+0.5 -.25 1e-60\r")[0] == .5);
  const auto is_none = [](const std::string& number) {
    return MessageMatches(ContainsSubstring("m.obj, line 1: '" + number + "' is not a number that a vertex can have"));
  };
  for (const std::string wrong : {"1e400", "1E400", "nan", "+-1", "1x"})
    CHECK_THROWS_MATCHES(with(wrong + " 0 0"), Error, is_none(wrong));
  CHECK_THROWS_MATCHES(with(std::string(400, '9') + "e-1 0 0"), Error, is_none(std::string(40, '9')));
  CHECK_THROWS_MATCHES(with("1 2"), Error, MessageMatches(ContainsSubstring("m.obj, line 1: 'v' needs three numbers, not 2")));
  // What stands behind them, and lines of anything else, are passed over.
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += " a";
  CHECK(with("0 0 0" + many + "\n" + many) == corner);
  std::string stl = "solid x\n";
  for (const char* vertex : {"0 0 0", "1 0 0", "0 1 0", "0 0 1"}) stl += text(" \tvertex +", vertex, "\n");
  CHECK(points(stl, "m.stl") == corner);

  std::string large;
  for (int i = 0; i < 20'000; ++i) large += "v 0 0 0\n";
  limit_usable_memory(4 << 20);
  CHECK_THROWS_MATCHES(points(large), Error, MessageMatches(ContainsSubstring("m.obj: the mesh needs 11 MiB of memory")));
  limit_usable_memory(std::numeric_limits<double>::infinity());
  std::filesystem::remove_all(folder);
}

TEST_CASE("the files of a robot that would make every policy file huge are refused") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_urdf_large";
  std::filesystem::remove_all(folder);
  make_folder(folder);
  write_file_atomic(folder / "large.obj", "");
  std::filesystem::resize_file(folder / "large.obj", RobotBundle::most_bytes);
  write_file_atomic(folder / "robot.urdf",
                    robot(link("a", mass + "<collision><geometry><mesh filename=\"large.obj\"/></geometry></collision>")));
  CHECK_THROWS_MATCHES(RobotBundle::read(folder / "robot.urdf"), Error,
                       MessageMatches(ContainsSubstring("more than 64 MB (with 'large.obj')")));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a mesh of a ROS package is found in the package's folder above the URDF, and nowhere else") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_urdf_packages";
  std::filesystem::remove_all(folder);
  for (const char* part : {"dog/urdf/new", "dog/meshes", "cat/meshes"}) make_folder(folder / part);
  const std::string cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  for (const char* package : {"dog", "cat"}) write_file_atomic(folder / package / "meshes/cube.obj", cube);
  const auto with = [&](const std::string& package) {
    return parse_urdf(robot(link("a", mass + "<collision><geometry><mesh filename=\"package://" + package +
                                          "/meshes/cube.obj\"/></geometry></collision>")),
                      "r", folder / "dog/urdf/new/.");
  };
  CHECK(with("dog").links[0].collisions.size() == 1);
  for (const std::string other : {"cat", "..", ""})
    CHECK_THROWS_MATCHES(with(other), Error, MessageMatches(ContainsSubstring("no mesh file")));
}

TEST_CASE("a mesh file is read once, however many shapes name it, and all of them together have a limit") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_urdf_once";
  std::filesystem::remove_all(folder);
  make_folder(folder);
  write_file_atomic(folder / "m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
  std::filesystem::resize_file(folder / "m.obj", std::uintmax_t{60} << 20);
  const auto with = [&](int copies, bool other_names) {
    std::string shapes, name = "m.obj";
    for (int i = 0; i < copies; ++i) {
      shapes += "<collision><geometry><mesh filename=\"" + name + "\"/></geometry></collision>";
      if (other_names) name = "./" + name;
    }
    return parse_urdf(robot(link("a", mass + shapes)), "robot.urdf", folder);
  };
  const RobotDescription many = with(1000, false);  // it would take minutes to read it for each
  CHECK(many.links[0].collisions.size() == 1000);
  CHECK(many.links[0].collisions.back().points == std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(with(4, true).links[0].collisions.size() == 4);
  CHECK_THROWS_MATCHES(with(5, true), Error,
                       MessageMatches(ContainsSubstring("robot.urdf: its mesh files have more than 256 MiB (with '") &&
                                      ContainsSubstring("make them smaller")));
  request_interrupt();
  CHECK_THROWS_AS(with(1, false), Interrupted);
  clear_interrupt();
  std::filesystem::remove_all(folder);
}

TEST_CASE("numbers are read with a point, whatever the host's locale") {
  const auto expected = parse_urdf(legged_urdf("a1"), "a1.urdf").mass();
  const CommaLocale locale;
  CHECK(parse_urdf(legged_urdf("a1"), "a1.urdf").mass() == expected);
  CHECK(robot_mjcf(parse_urdf(legged_urdf("a1"), "a1.urdf"), .001).find("timestep=\"0.001\"") != std::string::npos);
}

TEST_CASE("robots that have no four legs are refused by name") {
  CHECK_THROWS_MATCHES(legged_robot("a2"), Error, MessageMatches(ContainsSubstring("did you mean 'a1'")));
  CHECK_THROWS_MATCHES(legged_robot(parse_urdf(robot(link("a")), "test")), Error,
                       MessageMatches(ContainsSubstring("its base carries 0 chains")));
  std::string urdf(legged_urdf("a1"));
  const auto at = urdf.find("<axis xyz=\"0 1 0\"/>");
  urdf.replace(at, 19, "<axis xyz=\"0 0 1\"/>");
  CHECK_THROWS_MATCHES(legged_robot(parse_urdf(urdf, "test")), Error,
                       MessageMatches(ContainsSubstring("'FR_hip' does not turn about y")));
  std::string folded(legged_urdf("a1"));
  const auto joint = folded.find("<joint name=\"FR_knee\"");
  folded.replace(folded.find("0 0 -0.2", joint), 8, "0 0 0");
  CHECK_THROWS_MATCHES(legged_robot(parse_urdf(folded, "test")), Error,
                       MessageMatches(ContainsSubstring("'FR_hip' and 'FR_knee' are at the same place")));
}
