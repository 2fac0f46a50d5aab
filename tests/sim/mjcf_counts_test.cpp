// What elements of an MJCF cost beyond their text: counted over all texts, and weighed before it is there.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string many(int count, const std::string& what) {
  std::string all;
  for (int i = 0; i < count; ++i) all += what;
  return all;
}

std::string world(const std::string& inside) { return "<worldbody>" + inside + "</worldbody>"; }

template <typename Make>
std::string error_of(const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Empty if the text is read.
std::string message_of(const std::string& inside) {
  return error_of([&] { MujocoBundle::read("", "<mujoco>" + inside + "</mujoco>"); });
}
std::string message_of(const Config::Map& files) {
  return error_of([&] { (void)MujocoBundle::unpack("a.xml", files, "p.iap"); });
}
// Empty if it is compiled, too.
std::string message_of_world(const std::string& inside) {
  return error_of([&] { MujocoWorld(MujocoBundle::read("", "<mujoco>" + inside + "</mujoco>")); });
}

const std::string body = "<body><geom size='1'/></body>";

}  // namespace

TEST_CASE("elements, defaults and keyframes are counted over all texts") {
  CHECK(message_of(world(many(49'998, "<site/>"))).empty());
  const std::string few = "with it the model has 50001 elements; at most 50000 are taken, so leave some out";
  CHECK(message_of(world(many(49'999, "<site/>"))) == "model.xml:1: " + few);
  CHECK(message_of(Config::Map{{"a.xml", "<mujoco>" + world("<include file='b.xml'/>" + many(20'000, "<site/>")) + "</mujoco>"},
                               {"b.xml", "<mujocoinclude>\n" + many(29'997, "<site/>") + "</mujocoinclude>"}}) ==
        "b.xml:2: " + few);
  CHECK(message_of(many(1000, "<default/>")).empty());
  CHECK(message_of(many(1001, "<default/>")) ==
        "model.xml:1: with it the model has 1001 elements 'default'; at most 1000 are taken, so join classes");
  CHECK(message_of("<keyframe>" + many(1001, "<key/>") + "</keyframe>") ==
        "model.xml:1: with it the model has 1001 keyframes; at most 1000 are taken, so leave some out");
}

TEST_CASE("bodies and geoms are counted with those of composites, over all texts") {
  const std::string particles = "<composite type='particle' count='10 10 30' spacing='.1'><geom size='.02'/></composite>";
  const std::string boxes = "<composite type='box' count='10 10 35' spacing='.1'/>";
  CHECK(message_of(world(many(10'000, "<body/>"))).empty());
  const std::string bodies = "with it the model has 10001 bodies, those of composites among them; at most 10000 are taken, so ";
  CHECK(message_of(world(many(10'001, "<body/>"))) == "model.xml:1: " + bodies + "leave some out");
  CHECK(message_of(world(many(6501, "<body/>") + boxes)) == "model.xml:1: composite: " + bodies + "make the composite smaller");
  CHECK(message_of(world(particles + many(7001, "<body/>"))) == "model.xml:1: " + bodies + "leave some out");
  CHECK(message_of(Config::Map{{"a.xml", "<mujoco>" + world("<include file='b.xml'/>" + many(6501, "<body/>")) + "</mujoco>"},
                               {"b.xml", "<mujocoinclude>\n" + boxes + "</mujocoinclude>"}}) ==
        "b.xml:2: composite: " + bodies + "make the composite smaller");

  CHECK(message_of(world("<body>" + many(10'000, "<geom/>") + "</body>")).empty());
  const std::string geoms = "with it the model has 10001 geoms, those of composites among them; at most 10000 are taken, so ";
  CHECK(message_of(world("<body>" + many(10'001, "<geom/>") + "</body>")) == "model.xml:1: " + geoms + "join some to meshes");
  CHECK(message_of(world(many(6500, "<geom/>") + boxes)) == "model.xml:1: composite: " + geoms + "make the composite smaller");
  // What defaults and tendons say of geoms is none.
  CHECK(message_of("<tendon><spatial>" + many(10'001, "<geom geom='a'/>") + "</spatial></tendon><default>" + many(999, "<geom/>") +
                   "</default>")
            .empty());
}

TEST_CASE("degrees of freedom are limited, also where a default says what joints are") {
  const auto freedom = [](int degrees, int untyped) {
    return text("with it the model may have ", degrees, " degrees of freedom; at most 10000 are taken (", untyped,
                " of a joint whose type is not written), so leave joints out");
  };
  CHECK(message_of(world(many(1666, "<body><freejoint/></body>"))).empty());
  CHECK(message_of(world(many(1667, "<body><freejoint/></body>"))) == "model.xml:1: " + freedom(10'002, 1));
  CHECK(message_of(world(many(3334, "<body><joint type='ball'/></body>"))) == "model.xml:1: " + freedom(10'002, 1));
  // Hinges, unless a default says otherwise, wherever it stands.
  const std::string joints = world(many(5000, "<body><joint/></body>")), balls = "<default><joint type='ball'/></default>";
  CHECK(message_of(joints).empty());
  CHECK(message_of(balls + joints) == "model.xml:1: " + freedom(10'002, 3));
  CHECK(message_of(joints + "\n" + balls) == "model.xml:2: " + freedom(15'000, 3));
  CHECK(message_of(Config::Map{{"a.xml", "<mujoco>" + joints + "<default><include file='b.xml'/></default></mujoco>"},
                               {"b.xml", "<mujocoinclude>\n<joint type='ball'/></mujocoinclude>"}}) ==
        "b.xml:2: " + freedom(15'000, 3));
  CHECK(message_of(joints + "<default><default class='a'><joint/></default></default>").empty());
  // What MuJoCo reads as "free".
  CHECK(message_of(world(many(1667, "<body><joint type='&#102;ree'/></body>"))) == "model.xml:1: " + freedom(10'002, 1));
  CHECK(message_of(world("<composite type='particle' count='58 58 1'/>")) == "model.xml:1: composite: " + freedom(10'092, 1));
  CHECK(message_of(world("<composite type='grid' count='50 50'/><composite type='cloth' count='20 20'/>")).empty());
  // Elements of this name that are no joints of bodies.
  CHECK(message_of("<tendon><fixed>" + many(11'000, "<joint joint='a' coef='1'/>") + "</fixed></tendon><equality>" +
                   many(11'000, "<joint joint1='a'/>") + "</equality>")
            .empty());
  // MuJoCo takes none of theirs for a joint.
  for (const std::string other : {"joint='a'", "joint1='a'", "kind='main'"})
    CHECK_FALSE(message_of_world(world("<body><joint type='free' " + other + "/><geom size='1'/></body>")).empty());
}

TEST_CASE("ropes and cloths are limited by what hangs in a chain") {
  const auto message = [](const std::string& composite) { return message_of(world("<composite " + composite + "/>")); };
  CHECK(message("type='rope' count='500 1 1'").empty());
  CHECK(message("type='rope' count='501 1 1'") ==
        "model.xml:1: composite: a chain of 501 bodies; at most 500 are taken, so make the composite shorter");
  CHECK_THAT(message("type='&#114;ope' count='501 1 1'"), ContainsSubstring("a chain of 501 bodies"));
  CHECK_THAT(message("type='cloth' count='2 499'"), ContainsSubstring("a chain of 501 bodies"));
  CHECK(message("type='cloth' count='50 50'").empty());
  CHECK(message("type='grid' count='501'").empty());
  // Of which a skin could stand there that nobody compares with it.
  CHECK(message_of(Config::Map{
            {"a.xml", "<mujoco>" + world("\n<composite type='grid' count='9 9'><include file='b.xml'/></composite>") + "</mujoco>"},
            {"b.xml", "<mujocoinclude><skin subgrid='9000'/></mujocoinclude>"}}) ==
        "a.xml:2: a composite has an include, which could make it larger than its text says; write the parts themselves");
}

TEST_CASE("whole numbers are plain digits") {
  for (const std::string number : {"65536e-3", "65536000e-4", "2.0", "+2", "1e1", "0x10"}) {
    CAPTURE(number);
    const auto message = [&](const std::string& before, const std::string& after) {
      return message_of(before + "'" + number + "'" + after);
    };
    const std::string why = "' has '" + number + "' in place of a whole number; write plain digits with blanks between them";
    CHECK_THAT(message("<asset><hfield ncol='2' nrow=", "/></asset>"), ContainsSubstring("'nrow" + why));
    CHECK_THAT(message("<asset><texture width='2' height=", "/></asset>"), ContainsSubstring("'height" + why));
    CHECK_THAT(message("<asset><texture gridsize=", "/></asset>"), ContainsSubstring("'gridsize" + why));
    CHECK_THAT(message("<worldbody><composite type='grid' count=", "/></worldbody>"), ContainsSubstring("'count" + why));
    CHECK_THAT(message("<worldbody><composite type='grid' count='3 3'><skin subgrid=", "/></composite></worldbody>"),
               ContainsSubstring("'subgrid" + why));
    for (const std::string size : {"njmax", "nconmax", "nstack", "nuserdata", "nkey", "nuser_body"})
      CHECK_THAT(message("<size " + size + "=", "/>"), ContainsSubstring("'" + size + why));
    for (const std::string iterations : {"iterations", "noslip_iterations", "mpr_iterations"})
      CHECK_THAT(message("<option " + iterations + "=", "/>"), ContainsSubstring("'" + iterations + why));
    CHECK_THAT(message("<visual><quality offsamples=", "/></visual>"), ContainsSubstring("'offsamples" + why));
    CHECK_THAT(message("<visual><global offwidth=", "/></visual>"), ContainsSubstring("'offwidth" + why));
    CHECK_THAT(message("<custom><numeric name='n' data='1' size=", "/></custom>"), ContainsSubstring("'size" + why));
    CHECK_THAT(message("<sensor><user dim=", "/></sensor>"), ContainsSubstring("'dim" + why));
  }
  // Other numbers are written as one likes.
  CHECK(message_of_world(
            "<option timestep='2e-3' tolerance='1e-8' iterations='50'/><asset><texture builtin='flat' type='2d' name='t' "
            "width='0008' height='8' random='1e-2'/></asset>" +
            world(body))
            .empty());
}

TEST_CASE("what one step or the compiler repeats is limited") {
  for (const std::string iterations : {"iterations", "noslip_iterations", "mpr_iterations"}) {
    CHECK(message_of("<option " + iterations + "='1000'/>").empty());
    CHECK(message_of("<option " + iterations + "='1001'/>") ==
          "model.xml:1: option: '" + iterations + "' is 1001; at most 1000 is taken");
  }
  CHECK(message_of("<size nkey='1001'/>") == "model.xml:1: size: 'nkey' is 1001; at most 1000 is taken");
  CHECK(message_of("<size njmax='46341'/>") == "model.xml:1: size: 'njmax' is 46341; at most 46340 is taken");
  CHECK(message_of("<sensor><user dim='10001'/></sensor>") == "model.xml:1: user: 'dim' is 10001; at most 10000 is taken");

  const auto range = [](const std::string& range) { return message_of("<compiler><lengthrange " + range + "/></compiler>"); };
  CHECK(range("inttotal='100' timestep='1e-3' mode='all'").empty());
  CHECK(range("timestep='1e-6'") == "model.xml:1: lengthrange: 'timestep' is 1e-06; at least 0.0001 is taken");
  for (const std::string step : {"0", "-1", "nan"})
    CHECK_THAT(range("timestep='" + step + "'"), ContainsSubstring("at least 0.0001"));
  CHECK(range("inttotal='1001'") ==
        "model.xml:1: lengthrange: 'inttotal' of 1001 s in steps of 0.01 s; at most 100000 steps are taken, so make it shorter");
  for (const std::string total : {"inf", "1e300"})
    CHECK_THAT(range("inttotal='" + total + "'"), ContainsSubstring("at most 100000"));
  CHECK_THAT(range("inttotal='nan'"), ContainsSubstring("'inttotal' is nan"));
  CHECK_THAT(range("inttotal='1&#48;'"), ContainsSubstring("'inttotal' has '1&#48;' in place of a number"));
  // Of two elements the later ones count, in parts.
  CHECK_THAT(range("inttotal='1000'/><lengthrange timestep='.001'"), ContainsSubstring("'inttotal' of 1000 s in steps of 0.001 s"));

  const auto actuators = [](const std::string& before, int count, const std::string& actuator) {
    return message_of(before + "<actuator>" + many(count, actuator) + "</actuator>");
  };
  const std::string none = "<compiler><lengthrange mode='none'/></compiler>",
                    all = "<compiler><lengthrange mode='all'/></compiler>";
  CHECK(actuators("", 1000, "<muscle/>").empty());
  CHECK(
      actuators("", 1001, "<muscle/>") ==
      "model.xml: to find the length ranges of 1001 actuators MuJoCo simulates 2002000 steps; at most 2000000 are taken, so write "
      "them and give <lengthrange mode=\"none\"/>, or make its 'inttotal' shorter");
  CHECK(actuators(none, 1001, "<muscle/>").empty());
  CHECK(actuators("", 1001, "<motor/>").empty());
  CHECK(actuators(all, 1000, "<motor/>").empty());
  CHECK_FALSE(actuators(all, 1001, "<motor/>").empty());
  CHECK(actuators("", 1001, "<general gaintype='fixed' biastype='affine'/>").empty());
  CHECK_FALSE(actuators("", 1001, "<general gaintype='m&#117;scle'/>").empty());
  CHECK_FALSE(actuators("<default><muscle/></default>", 1001, "<general/>").empty());
}

TEST_CASE("numbers of the user, and of models, are as many as MuJoCo has room for") {
  const auto numeric = [](const std::string& attributes) {
    return message_of_world("<custom><numeric name='n' " + attributes + "/></custom>");
  };
  CHECK(numeric("size='500' data='" + many(499, "1 ") + "1'").empty());
  CHECK(numeric("data='" + many(499, "1 ") + "1'").empty());
  CHECK(numeric("data='" + many(499, "1 ") + "'").empty());
  CHECK(numeric("size='501' data='1'") == "model.xml:1: numeric: 'size' is 501; at most 500 is taken");
  for (const std::string& data : {many(500, "1 ") + "1", many(500, "1 "), many(251, "1\f1\v")})
    CHECK(numeric("data='" + data + "'") == "model.xml:1: numeric: 'data' has more than 500 numbers; MuJoCo takes fewer");
  CHECK(numeric("data='1&#32;1'") == "model.xml:1: numeric: 'data' has a '&'; write plain numbers");

  // A share of 32 MiB; each of 10 000 bodies would take 8000 bytes, and as many to be compiled.
  limit_usable_memory(64 << 20);
  CHECK_THAT(message_of("<size nuser_body='1000'/>" + world(many(9'000, "<body/>"))),
             ContainsSubstring("model.xml: the model, with the 'nuser_' of <size>, needs 2"));
  CHECK_THAT(message_of(world("<body user='" + many(1000, "1 ") + "'/>" + many(9'000, "<body/>"))),
             ContainsSubstring("'nuser_' of <size>, needs 2"));
  CHECK(message_of(world("<body user='1 2 3'/>" + many(9'000, "<body/>"))).empty());
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("height fields have rows and columns, and at most a million heights") {
  const auto message = [](const std::string& sides) {
    return message_of("<asset><hfield name='h' size='1 1 1 1' " + sides + "/></asset>");
  };
  CHECK(message("nrow='2' ncol='2'").empty());
  CHECK(message("nrow='1025' ncol='1025'").empty());
  CHECK(message("nrow='1025' ncol='1026'") ==
        "model.xml:1: hfield: 1025 x 1026 heights; at most 1050625 are taken, so make it coarser");
  for (const std::string sides : {"nrow='1' ncol='16'", "nrow='16' ncol='1'", "nrow='16'", ""})
    CHECK_THAT(message(sides), ContainsSubstring(" heights; it needs at least 2 rows and 2 columns"));

  const TemporaryFolder folder;
  const auto file = [&](std::int32_t rows, std::int32_t columns, const std::vector<float>& heights) {
    const auto bytes = [](const auto* values, std::size_t count) {
      return std::string(reinterpret_cast<const char*>(values), count * sizeof *values);
    };
    write_file_atomic(folder.path() / "h.bin", bytes(&rows, 1) + bytes(&columns, 1) + bytes(heights.data(), heights.size()));
    return error_of([&] {
      MujocoWorld(
          MujocoBundle::read(folder.path(), "<mujoco><asset><hfield name='h' size='1 1 1 1' file='h.bin'/></asset></mujoco>"));
    });
  };
  CHECK(file(2, 2, {0, 1, 2, 3}).empty());
  CHECK(file(1, 4, {0, 1, 2, 3}).starts_with("h.bin: a height field of 1 x 4 heights; it needs at least 2 rows"));
  CHECK_THAT(file(4096, 4096, {}), ContainsSubstring("h.bin: a height field of 4096 x 4096 heights; at most 1050625"));
  CHECK(file(2, 2, {0, 1, 2, std::numeric_limits<float>::quiet_NaN()}) ==
        "h.bin: a height is nan; at most 1e+10 up or down is taken");
  CHECK(file(2, 2, {0, 1, 2, 3e38F}) == "h.bin: a height is 3e+38; at most 1e+10 up or down is taken");
}

TEST_CASE("meshes and skins in files are counted as often as they are named") {
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "a.stl", std::string(std::size_t{1} << 20, ' '));
  write_file_atomic(folder.path() / "a.obj",
                    "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" + std::string((std::size_t{1} << 20) - 32, '\n'));
  constexpr std::int32_t vertices = 87'380;
  std::string msh(std::size_t{1} << 20, '\0');
  std::memcpy(msh.data(), &vertices, sizeof vertices);
  write_file_atomic(folder.path() / "a.msh", msh);
  const auto named = [&](int times, const std::string& element) {
    return error_of([&] { MujocoBundle::read(folder.path(), "<mujoco><asset>" + many(times, element) + "</asset></mujoco>"); });
  };
  limit_usable_memory(2.0 * (1 << 30));
  CHECK(named(9, "<mesh file='a.stl'/>").empty());
  CHECK_THAT(named(57, "<mesh file='a.stl'/>"), ContainsSubstring("a.stl: the model, with it, needs 1"));
  CHECK_THAT(named(24, "<mesh file='a.msh'/>"), ContainsSubstring("a.msh: the model, with it, needs 1"));
  CHECK_THAT(named(20, "<mesh file='a.obj'/>"), ContainsSubstring("a.obj: the model, with it, needs 1"));
  limit_usable_memory(std::numeric_limits<double>::infinity());
  const std::string often = named(257, "<mesh file='a.stl'/>");
  CHECK((often.starts_with("a.stl: with it the model names meshes and skins of 257 MiB") ||
         often.starts_with("a.stl: the model, with it, needs ")));
}

TEST_CASE("a simulation is weighed before MuJoCo makes and tries it") {
  limit_usable_memory(2.0 * (1 << 30));
  const auto message = [](int bodies, const std::string& size) {
    return message_of_world(size + world(many(bodies, "<body><freejoint/><geom size='1' contype='0' conaffinity='0'/></body>")));
  };
  // The stack is 40 bytes of the square of rows, equalities and degrees of freedom, the matrix of constraints 8 of that of rows.
  CHECK_THAT(message(1000, ""), ContainsSubstring("model.xml: the simulation needs ") &&
                                    ContainsSubstring(" GiB of memory, more than half of the 2 GiB"));
  CHECK_THAT(message(1, "<size njmax='12000' nstack='1000'/>"), ContainsSubstring("model.xml: the simulation needs "));
  CHECK(message(100, "").empty());
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("places and sizes of a model are finite and not far away") {
  const std::string far = "; at most 1e+10 in any direction is taken, so make the model smaller";
  for (const std::string odd : {"1e11", "-1e300", "nan", "inf"}) {
    CAPTURE(odd);
    CHECK_THAT(message_of_world(world("<geom name='g' size='1' pos='0 " + odd + " 0'/>")),
               ContainsSubstring("model.xml: geom 'g' has ") && ContainsSubstring(" in its position" + far));
    CHECK_THAT(message_of_world(world("<geom size='1'/><site pos='0 0 " + odd + "'/>")), ContainsSubstring("site 0 has "));
    CHECK_THAT(message_of_world(world("<camera name='c' pos='0 0 " + odd + "'/>")), ContainsSubstring("camera 'c' has "));
    CHECK_THAT(message_of_world(world("<light name='l' pos='0 0 " + odd + "'/>")), ContainsSubstring("light 'l' has "));
    CHECK_THAT(message_of_world(world("<body name='b' pos='0 0 " + odd + "'/>")), ContainsSubstring("body 'b' has "));
  }
  CHECK_THAT(message_of_world(world("<geom size='1e11'/>")), ContainsSubstring("geom 0 has 1e+11 in its size"));
  CHECK_THAT(message_of_world(world("<site size='1e11'/>")), ContainsSubstring("site 0 has 1e+11 in its size"));
  CHECK_THAT(message_of_world(world("<geom type='plane' size='1e11 1 1'/>")), ContainsSubstring("in its size"));
  CHECK(message_of_world(
            world("<geom type='plane' size='0 0 1'/><geom type='plane' size='inf inf 1'/><geom size='1e9' pos='-1e9 0 0'/>"))
            .empty());
}
