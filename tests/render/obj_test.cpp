#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>
import iap.core;
import iap.render;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const std::string room = R"(# a floor and a wall
mtllib room.mtl
o room
v 0 0 0
v 4 0 0
v +4.0 3e0 0 1.0
v 0 3 0
vt 0 0
vn 0 0 1
usemtl white
f 1/1/1 2//1 3/1 4
v 0 3 2.5
v 4 3 2.5
f -3 -2 -1
f 4 5 6
l 1 2
)";

}  // namespace

TEST_CASE("an OBJ text gives its vertices and its faces as triangles") {
  const Triangles found = parse_obj(room, "room.obj");
  CHECK(found.vertices == std::vector<float>{0, 0, 0, 4, 0, 0, 4, 3, 0, 0, 3, 0, 0, 3, 2.5f, 4, 3, 2.5f});
  CHECK(found.indices == std::vector<std::uint32_t>{0, 1, 2, 0, 2, 3, 3, 4, 5, 3, 4, 5});
  CHECK(found.colours.empty());
  const Triangles coloured = parse_obj("v 0 0 0 1 0 0\r\nv 1 0 0 0 1 0\r\nv 0 1 1e-60 0 0 2\r\nf 1 2 3", "x");
  CHECK(coloured.colours == std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(coloured.vertices[8] == 0);
}

TEST_CASE("what is wrong in an OBJ text is said with its line") {
  const auto refuses = [](const std::string& obj, const char* why) {
    CAPTURE(obj);
    CHECK_THROWS_MATCHES(parse_obj(obj, "room.obj"), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuses("", "room.obj: there is no face");
  refuses("v 1 2 3\nv 1 2\n", "room.obj, line 2: 'v' needs three numbers, not 2");
  refuses("v 1 2 x3\n", "line 1: 'x3' is not a number");
  refuses("v nan 2 3\n", "line 1: 'nan' is not a number");
  refuses("v 1e999 2 3\n", "'1e999'");
  refuses("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "line 4: a face names vertex 4, but 3 have come before");
  refuses("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "vertex 0");
  refuses("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "vertex -4");
  refuses("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n", "'99999999999999999999' does not begin");
  refuses("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "line 4: 'f' needs three corners, not 2");
  refuses("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 /3\n", "'/3' does not begin");
}

TEST_CASE("a number counts however it is spelled: too small for a float is 0, too large is refused") {
  const auto read = [](const std::string& number) {
    CAPTURE(number);
    return parse_obj("v " + number + " 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "x.obj").vertices[0];
  };
  const std::string zeros(400, '0'), nines(400, '9');
  const std::vector<std::string> tiny{"1e-60",
                                      "1E-60",
                                      "-1e-60",
                                      "1e-400",
                                      "-1E-400",
                                      "0." + zeros + "1",
                                      "." + std::string(50, '0') + "1",
                                      nines + "e-800",
                                      "0e99999",
                                      "-0E+400",
                                      "1e-99999999999999999999"};
  for (const auto& number : tiny) CHECK(read(number) == 0);
  const std::vector<std::string> large{"1e39",
                                       "1E39",
                                       "-1e39",
                                       "1e400",
                                       "1E+400",
                                       nines,
                                       "-" + nines,
                                       nines + "e-1",
                                       nines + ".5E-1",
                                       "0." + zeros + "1e900",
                                       "1e99999999999999999999"};
  for (const auto& number : large) {
    CAPTURE(number);
    CHECK_THROWS_MATCHES(read(number), Error,
                         MessageMatches(ContainsSubstring("x.obj, line 1: '" + number.substr(0, 40) + "' is not a number that")));
  }
  CHECK(read(nines + "e-390") == 1e10f);
  CHECK(read("0." + zeros + "1e400") == 0.1f);
  CHECK(read("3.4e38") == 3.4e38f);
  CHECK(read("+1.5") == 1.5f);
  for (const std::string wrong : {"+", "+-1", "++1", "1.5x", "0x10", "inf", "-nan", "e5", "1,5"}) {
    CAPTURE(wrong);
    CHECK_THROWS_MATCHES(read(wrong), Error, MessageMatches(ContainsSubstring("'" + wrong + "' is not a number that a vertex")));
  }
}

TEST_CASE("files that cannot be read, or are too large, are errors with their names") {
  const auto folder = std::filesystem::temp_directory_path() / "iap_obj_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "folder.obj");
  CHECK_THROWS_MATCHES(read_obj(folder / "none.obj"), Error, MessageMatches(ContainsSubstring("none.obj")));
  CHECK_THROWS_MATCHES(read_obj(folder / "folder.obj"), Error, MessageMatches(ContainsSubstring("folder.obj")));
  std::ofstream(folder / "large.obj") << "v 0 0 0\n";
  std::filesystem::resize_file(folder / "large.obj", std::uintmax_t{3} << 30);  // a hole
  CHECK_THROWS_MATCHES(read_obj(folder / "large.obj"), Error, MessageMatches(ContainsSubstring("3072 MiB; meshes are read")));
  std::ofstream(folder / "room.obj") << room;
  CHECK(read_obj(folder / "room.obj").indices.size() == 12);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a face of any length is weighed by the triangles that it becomes, and hears an interrupt") {
  constexpr int triangles = 300'000;
  std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3";
  for (int i = 1; i < triangles; ++i) obj += i % 2 ? " 1" : " 2";
  CHECK(parse_obj(obj, "x.obj").indices.size() == std::size_t{3} * triangles);
  request_interrupt();
  CHECK_THROWS_AS(parse_obj(obj, "x.obj"), Interrupted);
  CHECK_THROWS_AS(parse_obj(std::string(100'000, '\n'), "x.obj"), Interrupted);
  CHECK(parse_obj(room, "room.obj").indices.size() == 12);
  clear_interrupt();
  limit_usable_memory(1e8);
  CHECK_THROWS_MATCHES(parse_obj(obj, "x.obj"), Error, MessageMatches(ContainsSubstring("x.obj: its mesh needs ")));
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("whatever happens to an OBJ text, it is one clear error or a mesh that rays can meet") {
  const std::vector<std::string> parts{
      "-1", "0",  "4294967297", "-9223372036854775808", "nan",  "inf",          "1e38",     "1e-320", "/", "f 1 2 3\n", "v",
      "f",  "\n", " ",          std::string(1, '\0'),   "\xff", "v 1e30 0 0\n", "f 1 1 1\n"};
  Random random(11);
  int errors = 0, meshes = 0;
  for (int round = 0; round < 400; ++round) {
    std::string obj = room;
    for (int change = random.below(3) + 1; change > 0 && !obj.empty(); --change) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(obj.size()));
      switch (random.below(5)) {
        case 0: obj[at] = static_cast<char>(random.below(256)); break;
        case 1: obj.resize(at); break;
        case 2: obj.erase(at, random.below(9)); break;
        case 3: obj.replace(at, random.below(3), parts[random.below(static_cast<std::uint32_t>(parts.size()))]); break;
        default: obj.insert(at, obj.substr(random.below(static_cast<std::uint32_t>(obj.size())), random.below(40)));
      }
    }
    CAPTURE(round, obj);
    try {
      const Mesh mesh(parse_obj(obj, "room.obj"));
      mesh.hit({1, 1, 2}, {.1f, .2f, -1}, 0, 100);
      ++meshes;
    } catch (const Error& error) {
      const std::string message = error.what();
      ++errors;
      REQUIRE((message.starts_with("room.obj") || message.starts_with("a mesh")));
      REQUIRE(message.size() < 250);
    }
  }
  CHECK(errors > 50);
  CHECK(meshes > 50);
}
