#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>
import iap.core;
import iap.envs;
import iap.envs.dm_control;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

MujocoWorld make_world(std::string_view xml) {
  const std::vector<MujocoFile> files{{"test.xml", xml}};
  return MujocoWorld(files);
}

// The stack of this model is too small for what a step needs.
constexpr std::string_view starved = R"(
<mujoco>
  <size nstack="8"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
</mujoco>)";

}  // namespace

TEST_CASE("a text that MuJoCo cannot compile is an error with its message") {
  CHECK_THROWS_MATCHES(make_world("<mujoco><worldbody><geom type='blob'/></worldbody></mujoco>"), Error,
                       MessageMatches(ContainsSubstring("test.xml") && ContainsSubstring("blob") && ContainsSubstring("line")));
  CHECK_THROWS_MATCHES(make_world("no XML at all"), Error, MessageMatches(ContainsSubstring("test.xml")));
  CHECK_THROWS_MATCHES(MujocoWorld({}), Error, MessageMatches(ContainsSubstring("at least one")));
}

TEST_CASE("models that would fill the memory are refused before they are compiled") {
  const auto refused = [](const std::string& inside, const std::string& why) {
    CAPTURE(inside);
    const std::string model = "<mujoco>" + inside + "<worldbody/></mujoco>";
    CHECK_THROWS_MATCHES(MujocoBundle::read("", model), Error,
                         MessageMatches(ContainsSubstring("model.xml:1: ") && ContainsSubstring(why)));
  };
  refused("<size nstack=\"2000000000\"/>", "size: 'nstack' is 2000000000; at most 10000000 is taken");
  refused("<size njmax='1' nconmax=' 99999999999'/>", "size: 'nconmax' is 99999999999");
  refused("<asset><texture builtin='flat' width='50000' height='50000'/></asset>",
          "texture: 'width' is 50000; at most 16384 is taken");
  refused("<asset><hfield name='a' nrow='70000' ncol='70000' size='1 1 1 1'/></asset>", "hfield: 'nrow' is 70000");
  refused("<worldbody><composite type='grid' count='1000 1000 1'/></worldbody>",
          "composite: with it the model has 1000000 bodies, those of composites among them; at most 10000 are taken");
  refused("<size nuser_body='1001'/>", "size: 'nuser_body' is 1001; at most 1000 is taken");
  refused("<size nkey='1000000'/>", "size: 'nkey' is 1000000; at most 1000 is taken");
  refused("<visual><quality numslices='100000'/></visual>", "quality: 'numslices' is 100000; at most 1000 is taken");
  refused("<visual><quality shadowsize='65536'/></visual>", "quality: 'shadowsize' is 65536; at most 16384 is taken");
  refused("<worldbody><composite type='grid' count='40 40 1'><skin subgrid='500'/></composite></worldbody>",
          "skin: 'subgrid' makes 3.81812e+08 vertices of the composite; at most 1000000 are taken");
  const std::string large = "<asset><texture builtin='flat' width='16384' height='16384'";
  refused(large + "/></asset>", "texture: with 6 faces of 16384 x 16384 it takes 4.5 GiB");
  refused(large + " type='skybox'/></asset>", "texture: with 6 faces of 16384 x 16384");
  refused(large + " type='&#50;d'/></asset>", "texture: with 6 faces of 16384 x 16384");
  CHECK_NOTHROW(
      MujocoBundle::read("", "<mujoco><asset><texture builtin='flat' type='2d' width='16384' height='16'/></asset></mujoco>"));
  std::string many;
  for (int i = 0; i < 8; ++i) many += "<texture builtin='flat' width='4000' height='4000'/>";
  CHECK_THROWS_MATCHES(
      MujocoBundle::read("", "<mujoco><asset>" + many + "</asset></mujoco>"), Error,
      MessageMatches(ContainsSubstring("model.xml: with it the model's textures take 2.1 GiB; MuJoCo has room for")));
  // 192 MiB of pixels each, with what MuJoCo and pictures make of them.
  limit_usable_memory(2400.0 * (1 << 20));
  const std::string flat = "<texture builtin='flat' type='2d' width='8192' height='8192'/>";
  refused("<asset><texture builtin='flat' type='2d' width='16384' height='8192'/></asset>", "texture needs 1.5 GiB of memory");
  CHECK_THROWS_MATCHES(MujocoBundle::read("", "<mujoco><asset>" + flat + flat + "</asset></mujoco>"), Error,
                       MessageMatches(ContainsSubstring("model.xml: the model with its textures needs 1.5 GiB of memory")));
  limit_usable_memory(std::numeric_limits<double>::infinity());
  // What MuJoCo reads as a number, or as a part of one, is one or nothing.
  for (const std::string value :
       {"65536e-3", "2.", "--2", "-", "+16385", "&#49;6385", "16385x", "\f16385", "0x4001", "16,385", "1 +16385", "", " "}) {
    const std::string shown = "in place of a whole number; write plain digits";
    refused("<asset><hfield name='h' nrow='" + value + "' ncol='2' size='1 1 1 1'/></asset>", shown);
    refused("<asset><texture builtin='flat' width='2' height='" + value + "'/></asset>", "'height' has '");
    refused("<size nconmax='" + value + "'/>", shown);
    refused("<worldbody><composite type='grid' count='" + value + "'/></worldbody>", shown);
  }
  refused("<asset><hfield name='h' nrow='2' ncol='+65536' size='1 1 1 1'/></asset>",
          "'ncol' has '+65536' in place of a whole number");
  refused("<asset><hfield name='h' nrow='-70000' ncol='-70000' size='1 1 1 1'/></asset>", "hfield: 'nrow' is -70000");
  CHECK_NOTHROW(MujocoBundle::read("", "<mujoco><size njmax='-1' nconmax=' 100\t'/></mujoco>"));
  // <!--> and <?> are open, so that what seems a value is none.
  refused("<!--> <a b=\" --> <size nconmax='99999999999'/> <!-- \"/> -->", "size: 'nconmax' is 99999999999");
  refused("<?> <a b=\" ?> <size nconmax='99999999999'/> <!-- \"/> -->", "size: 'nconmax' is 99999999999");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<body>";
  refused("<worldbody>" + deep, "elements are nested more than 200 deep");
  // What MuJoCo would multiply beyond its integers.
  CHECK_THROWS_MATCHES(make_world("<mujoco><size njmax='9000000' nstack='10'/><worldbody><body><freejoint/><geom size='1'/></body>"
                                  "</worldbody></mujoco>"),
                       Error, MessageMatches(ContainsSubstring("test.xml: the simulation needs ") || ContainsSubstring("MuJoCo")));
}

TEST_CASE("unknown names are errors with the nearest name") {
  MujocoWorld world(dm_control_files("cheetah"));
  CHECK(world.id("joint", "bfoot") == 5);
  CHECK_THROWS_MATCHES(world.id("joint", "bfot"), Error, MessageMatches(ContainsSubstring("joint 'bfot'; did you mean 'bfoot'")));
  CHECK_THROWS_MATCHES(world.id("joint", std::string("bfoot\0x", 7)), Error,
                       MessageMatches(ContainsSubstring("joint 'bfoot?x'; did")));
  CHECK_THROWS_MATCHES(world.id("joind", "bfoot"), Error, MessageMatches(ContainsSubstring("did you mean 'joint'")));
  CHECK_THROWS_MATCHES(world.array("body_weight"), Error, MessageMatches(ContainsSubstring("body_weight")));
  CHECK_THROWS_MATCHES(dm_control_files("cheeta"), Error, MessageMatches(ContainsSubstring("did you mean 'cheetah'")));
}

TEST_CASE("a fatal error of MuJoCo is an exception and leaves no log") {
  const auto log = std::filesystem::current_path() / "MUJOCO_LOG.TXT";
  std::filesystem::remove(log);
  for (int attempt = 0; attempt < 3; ++attempt)
    CHECK_THROWS_MATCHES(make_world(starved), Error, MessageMatches(ContainsSubstring("tack overflow")));
  CHECK_FALSE(std::filesystem::exists(log));
}

TEST_CASE("bad numbers make a world unstable until its reset") {
  const auto log = std::filesystem::current_path() / "MUJOCO_LOG.TXT";
  std::filesystem::remove(log);
  MujocoWorld world(dm_control_files("cheetah"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, 1e12, -std::numeric_limits<double>::infinity()}) {
    for (const int array : {0, 1, 2}) {
      if (array == 2 && !std::isnan(bad)) continue;  // MuJoCo clips controls to their range
      CAPTURE(bad, array);
      world.reset();
      world.forward();
      world.step(3);
      CHECK_FALSE(world.unstable());
      (array == 0 ? world.qpos() : array == 1 ? world.qvel() : world.ctrl())[1] = bad;
      world.step(1);
      world.step(2);
      CHECK(world.unstable());
      world.reset();
      CHECK_FALSE(world.unstable());
    }
  }
  CHECK_FALSE(std::filesystem::exists(log));
}

TEST_CASE("options under which nothing moves, holds or is a number are refused by name, value and remedy") {
  const auto model = [](const std::string& option) {
    return "<mujoco><option " + option + "<worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>";
  };
  const auto refused = [&](const std::string& option, const std::string& why) {
    CAPTURE(option);
    CHECK_THROWS_MATCHES(make_world(model(option)), Error, MessageMatches(ContainsSubstring("test.xml: <option>: " + why)));
  };
  for (const std::string value : {"0", "-0.01", "1e-300", "nan", "inf"})
    refused("timestep='" + value + "'/>",
            "'timestep' is " + value + "; give the seconds of a step, such as 0.002; at least 1e-09 is taken");
  for (const std::string value : {"0", "-1", "nan"})
    refused("impratio='" + value + "'/>", "'impratio' is " + value + "; contacts hold");
  for (const std::string value : {"0", "-3"}) refused("iterations='" + value + "'/>", "'iterations' is " + value);
  refused("gravity='0 nan 0'/>", "'gravity' is nan; give a number");
  refused("wind='0 0 1e300'/>", "'wind' is 1e+300; give a number");
  refused("density='nan'/>", "'density' is nan");
  CHECK_NOTHROW(make_world(model("timestep='1e-9' gravity='0 0 0'/>")));
  const auto noisy = [&](const std::string& noise) {
    std::string text = model("><flag sensornoise='enable'/></option>");
    return text.insert(text.find("</mujoco>"), "<sensor><clock noise='" + noise + "'/></sensor>");
  };
  CHECK_THROWS_MATCHES(
      make_world(noisy("0.1")), Error,
      MessageMatches(ContainsSubstring("test.xml: <flag sensornoise=\"enable\"/>: MuJoCo draws this noise from rand()")));
  CHECK_NOTHROW(make_world(noisy("0")));
  CHECK_NOTHROW(make_world(model("iterations='0'><flag constraint='disable'/></option>")));
}
