// What an MJCF may ask for: refused before MuJoCo sees it, without much memory or time.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>
import iap.core;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string times(int count, const std::string& what) {
  std::string all;
  for (int i = 0; i < count; ++i) all += what;
  return all;
}

std::string bodies(int count, const std::string& inside) { return times(count, "<body>") + inside + times(count, "</body>"); }

std::string included(const std::string& inside) { return "<mujocoinclude>" + inside + "</mujocoinclude>"; }

std::string assets(const std::string& inside) { return "<mujoco><asset>" + inside + "</asset></mujoco>"; }

// Empty if the model is read.
std::string message_of(const std::string& model, const Config::Map& files) {
  try {
    (void)MujocoBundle::unpack(model, files, "p.iap");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string message_of(const std::string& model) { return message_of(model, Config::Map()); }

}  // namespace

TEST_CASE("elements around an include count for what it includes") {
  const auto chain = [](int inside) {
    return message_of(
        "a.xml", Config::Map{{"a.xml", "<mujoco><worldbody>" + bodies(90, "<include file='b.xml'/>") + "</worldbody></mujoco>"},
                             {"b.xml", included(bodies(90, "<include file='c.xml'/>"))},
                             {"c.xml", included("\n" + bodies(inside, "<geom size='1'/>"))}});
  };
  CHECK(chain(16).empty());
  CHECK(chain(17) == "c.xml:2: elements are nested more than 200 deep, with those around the includes that lead here; nest fewer");
  CHECK(message_of("<mujoco><worldbody>" + times(199, "<body>")) ==
        "model.xml:1: elements are nested more than 200 deep; nest fewer");
  // Ends without a beginning do not make room for more.
  CHECK(message_of("<mujoco></mujoco>" + times(9, "</body>")) == "model.xml:1: is no XML: an element ends that did not begin");
  CHECK(message_of("a.xml", Config::Map{{"a.xml", "<mujoco><worldbody><include file='b.xml'/></worldbody></mujoco>"},
                                        {"b.xml", included("") + "\n</body>"}}) ==
        "b.xml:2: is no XML: an element ends that did not begin");
}

TEST_CASE("a text is included once, however its path is spelled") {
  const auto refusal = [](const std::string& a, const std::string& b) {
    return message_of("a.xml", Config::Map{{"a.xml", "<mujoco>" + a + "</mujoco>"}, {"b.xml", included(b)}});
  };
  const std::string b = "<include file='b.xml'/>", why = " once more; MuJoCo takes each text once, so copy it under another name";
  CHECK(refusal(b, "<worldbody/>").empty());
  CHECK(refusal(b + "\n<include file='./b.xml'/>", "") == "a.xml:2: includes 'b.xml'" + why);
  CHECK(refusal(b, "<include file='x/../b.xml'/>") == "b.xml:1: includes 'b.xml'" + why);
  CHECK(refusal(b, "<include file='././a.xml'/>") == "b.xml:1: includes 'a.xml'" + why);
}

TEST_CASE("an include in capital letters, which MuJoCo follows, is one") {
  const auto files = [](const std::string& inside) {
    return Config::Map{{"a.xml", "<mujoco><compiler meshdir='elsewhere'/><INCLUDE file='b.xml'/></mujoco>"},
                       {"b.xml", included(inside)}};
  };
  const MujocoWorld world(MujocoBundle::unpack("a.xml", files("<worldbody><body name='x'/></worldbody>"), "p.iap"));
  CHECK(world.id("body", "x") == 1);
  CHECK(message_of("a.xml", files("<size nkey='1000000'/>")) == "b.xml:1: size: 'nkey' is 1000000; at most 1000 is taken");
}

TEST_CASE("attributes, numbers and files that a model names are limited") {
  CHECK(message_of("<mujoco><size" + times(257, " a='1'") + "/></mujoco>") ==
        "model.xml:1: element 'size' has more than 256 attributes; MuJoCo knows fewer");
  // Each of two of the same name is looked at.
  CHECK(message_of("<mujoco><size nkey='1' nkey='1000000'/></mujoco>") ==
        "model.xml:1: size: 'nkey' is 1000000; at most 1000 is taken");
  const std::string numbers = "<hfield name='h' size='1 1 1 1' ncol='2' nrow='";
  CHECK(message_of(assets(numbers + times(17, "2 ") + "'/>")) ==
        "model.xml:1: 'nrow' has more than 16 numbers; MuJoCo takes fewer");
  CHECK(message_of(assets(numbers + times(16, "2 ") + "'/>")).empty());
  CHECK(message_of(assets("<mesh file='" + times(4097, "a") + "'/>")) ==
        "model.xml:1: attribute 'file' names a file with 4097 characters; at most 4096 are taken, so shorten its path");
  // What has a long name is not shown whole.
  CHECK(message_of("<mujoco " + times(100'000, "a") + "/>") ==
        "model.xml:1: is no XML: attribute '" + times(40, "a") + "' has no value");
  CHECK(message_of("<" + times(100'000, "a") + "/>").size() < 200);

  const Config::Map file{{"a.stl", "a"}};
  const std::string mesh = "<mesh file='a.stl'/>\n";
  CHECK(MujocoBundle::unpack(assets(times(20'000, mesh)), file, "p.iap").files().size() == 2);
  CHECK(message_of(assets(times(20'001, mesh)), file) ==
        "model.xml:20001: with it the model names files more than 20000 times; join meshes, or leave some out");
}

TEST_CASE("height fields together are compared with the memory") {
  // 280 MiB each, as MuJoCo and the pictures have them.
  const int most = static_cast<int>(memory_share() / (280.0 * 1024 * 1024));
  const std::string field = "<hfield name='h' size='1 1 1 1' nrow='1024' ncol='1024'/>\n";
  CHECK_THAT(message_of(assets(times(most + 1, field))),
             ContainsSubstring(": the model, with this hfield, needs ") && ContainsSubstring(" of memory"));
  limit_usable_memory(500.0 * 1024 * 1024);
  CHECK_THAT(message_of(assets(field)), ContainsSubstring("model.xml:1: the model, with this hfield, needs 280 MiB of memory"));
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("a long text is read in one go, its lines counted, and hears interrupts") {
  const std::string texture = "<texture builtin='flat' type='2d' width='1' height='1'/>\n";
  constexpr int lines = 40'000;
  const std::string all = times(lines, texture);
  CHECK(message_of(assets(all)).empty());
  CHECK(message_of(assets(all + "<texture width='99999'/>")) ==
        "model.xml:40001: texture: 'width' is 99999; at most 16384 is taken");
  // The line of what came before the last one asked for.
  CHECK(message_of(assets("\n<texture\nwidth='1'\nfile=''/>")) == "model.xml:4: attribute 'file' names no file");
  CHECK(message_of(assets("\n<texture\nwidth='1'\nfile='x\\'/>")).starts_with("model.xml:4: "));

  request_interrupt();
  CHECK(message_of(assets(texture)).empty());
  CHECK_THROWS_AS(MujocoBundle::unpack(assets(all), Config::Map(), "p.iap"), Interrupted);
  clear_interrupt();
}

TEST_CASE("files of one name are told apart wherever they are named") {
  const Config::Map files{{"l/foot.stl", "l"}, {"r/foot.stl", "r"}};
  const std::string model = assets(
      "<mesh file='l/foot.stl'/><mesh file='r/foot.stl'/>\n<mesh name='n' file='r/foot.stl'/><mesh file='r/../r/foot.stl'/>");
  const auto bundle = MujocoBundle::unpack(model, files, "p.iap");
  REQUIRE(bundle.files().size() == 3);
  CHECK_THAT(
      std::string(bundle.files()[0].content),
      ContainsSubstring("<mesh file='l/foot.stl'/><mesh name=\"foot\" file='2~foot.stl'/>\n<mesh name='n' file='2~foot.stl'/>"
                        "<mesh name=\"foot\" file='2~foot.stl'/></asset>"));
  CHECK(bundle.files()[2].name == "2~foot.stl");
  CHECK(bundle.files()[2].content == "r");
}
