// What meshes and skins of a model say of their corners: MuJoCo reads, and draws, wherever they point.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

std::string model_of(const std::string& mesh) {
  return "<mujoco><asset>" + mesh + "</asset><worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>";
}

/// Empty if the model is compiled, and moves.
std::string message_of(const std::string& model, const std::string& file = "", const std::string& content = "") {
  const TemporaryFolder folder;
  if (!file.empty()) write_file_atomic(folder.path() / file, content);
  try {
    MujocoWorld world(MujocoBundle::read(folder.path(), model));
    world.reset();
    world.forward();
    world.step(1);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string message_of_obj(const std::string& obj) { return message_of(model_of("<mesh name='m' file='a.obj'/>"), "a.obj", obj); }

template <typename Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

}  // namespace

TEST_CASE("faces of a mesh in an MJCF have vertices that are there") {
  const auto message = [](const std::string& vertex, const std::string& face) {
    return message_of(model_of("<mesh name='m' vertex='" + vertex + "' face='" + face + "'/>"));
  };
  const std::string four = "0 0 0  1 0 0  0 1 0  0 0 1", three_faces = "0 2 1  0 1 3  0 3 2 ";
  CHECK(message(four, three_faces + "1 2 3").empty());
  CHECK_THAT(message(four, three_faces + "1 2 4"), ContainsSubstring("mesh: 'face' has the vertex 4; there are 4, counted from 0"));
  for (const char* wrong : {"-1", "9000000000", "1e9", "0x1", "&#57;9"})
    CHECK_THAT(message(four, three_faces + "1 2 " + wrong), ContainsSubstring(text("mesh: 'face' has the vertex ", wrong)));
  // Behind what is no number MuJoCo reads none.
  for (const char* wrong : {"nan", "1e300", "inf", "x"})
    CHECK_THAT(message("0 0 0  " + std::string(wrong) + " 0 0  0 1 0  0 0 1", three_faces + "1 2 3"),
               ContainsSubstring(text("mesh: 'vertex' has '", wrong, "' in place of a number")));
  CHECK_THAT(message_of(model_of("<mesh name='m' face='0 1 2'/>")), ContainsSubstring("there are 0"));
  CHECK_THAT(message_of(model_of("<mesh name='m' file='a.obj' face='0 1 2'/>"), "a.obj", vertices + faces),
             ContainsSubstring("mesh: names a file and has vertices or faces of its own"));
}

TEST_CASE("corners of an OBJ are among its vertices and normals") {
  CHECK(message_of_obj(vertices + faces).empty());
  CHECK(message_of_obj("# grün\r\no a\rv 0 0 0\n\tv 1 0 0\nv 0 1 0\nv 0 0 1\nf -4 -2 -3\nf 1 2 4\nf 1 4 3\nf 2 3 4\nl 1 9\n")
            .empty());
  CHECK(message_of_obj(vertices + "vn 0 0 1\nvt 0 0\nf 1//1 3//1 2/1/1\nf 1//1 2//1 4//1\nf 1//1 4//1 3//1\nf 2//1 3//1 4//1\n")
            .empty());
  const auto refused = [](const std::string& obj, const std::string& why) { CHECK(message_of_obj(obj) == "a.obj:" + why); };
  refused(vertices + "f 1 3 5\n" + faces, "5: a corner has the vertex 5; there are 4");
  // To the reader within MuJoCo these begin no vertex.
  for (const char* none : {"v\b0 0 1\n", "v\n", "V 0 0 1\n", "x v 0 0 1\n"})
    refused("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + std::string(none) + faces, "6: a corner has the vertex 4; there are 3");
  refused(vertices + "f -5 3 2\n", "5: a corner has the vertex -5; there are 4 before it");
  refused(vertices + "vt 0 0\nf 1/2 2/1 3/1\n", "6: a corner has the texture coordinate 2; there are 1");
  refused(vertices + "vn 0 0 1\nf 1//1 2//1 3//2\n", "6: a corner has the normal 2; there are 1");
  refused(vertices + "vn 0 0 1\nf 1//1 2//1 3//1\n" + faces,
          "7: a corner has no normal, but others have; give one to all, or to none");
  for (const char* wrong : {"0", "1x", "+1", "1.5", "99999999999", "/1", "1/", "1//", "1/2/3/4", "--1", "-"})
    refused(vertices + "f 1 2 " + wrong + "\n",
            text("5: '", wrong, "' is no corner; write numbers of at most 9 digits, such as 1, 1/2, 1//3 or 1/2/3"));
  for (const std::string& none : {vertices, vertices + "g a\n", std::string("# nothing\n"), std::string()})
    CHECK(message_of_obj(none) == "a.obj: has no faces");
  refused(vertices + "f 1 2\n" + faces, "5: a face has 2 corners; it needs three, and at most 100 are taken");
  refused(vertices + "o a\nl 1 2\no b\n" + faces, "6: has a line or a point before its first face; leave it out");
  CHECK(message_of_obj(vertices + std::string(1, '\0') + faces) == "a.obj: holds a zero byte; an OBJ is a text");
}

TEST_CASE("faces of an OBJ have at most 100 corners") {
  // A drum with lids of so many corners.
  const auto drum = [](int corners) {
    std::string obj, lids[2] = {"f", "f"}, sides;
    for (const int z : {0, 1})
      for (int i = 0; i < corners; ++i)
        obj += text("v ", std::cos(6.2831853 * i / corners), " ", std::sin(6.2831853 * i / corners), " ", z, "\n");
    for (int i = 0; i < corners; ++i) {
      const int next = (i + 1) % corners;
      lids[0] += text(" ", corners - i);
      lids[1] += text(" ", corners + i + 1);
      sides += text("f ", i + 1, " ", next + 1, " ", corners + next + 1, " ", corners + i + 1, "\n");
    }
    return message_of_obj(obj + sides + lids[0] + "\n" + lids[1] + "\n");
  };
  CHECK(drum(5).empty());
  CHECK(drum(100).empty());
  CHECK(drum(101) == "a.obj:304: a face has 101 corners; it needs three, and at most 100 are taken");
}

TEST_CASE("meshes have coordinates of which MuJoCo can make a hull") {
  const std::string few = "; at most 1e+09 is taken, so make the mesh smaller";
  CHECK(message_of_obj("v 1e-400 0 0 1 1 1\nv 1 0 0\nv 0 1 0\nv 0 0 1e0\nvt .5 0\n" + faces).empty());
  for (const std::string far : {"2e9", "-3e38"}) {
    CHECK(message_of_obj(vertices + "v 0 0 " + far + "\n" + faces) ==
          text("a.obj:5: a vertex has the coordinate ", far == "2e9" ? "2e+09" : "-3e+38", few));
    CHECK(message_of_obj(vertices + "vn 0 " + far + " 0\n" + faces).starts_with("a.obj:5: a normal has the coordinate "));
  }
  for (const std::string none : {"nan", "inf", "1e400", "0x10", "x"}) {
    CHECK(message_of_obj("v " + none + " 0 0\n" + vertices + faces) == "a.obj:1: a vertex has '" + none + "' in place of a number");
    CHECK(message_of_obj(vertices + "vt 0 " + none + "\n" + faces) ==
          "a.obj:5: a texture coordinate has '" + none + "' in place of a number");
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 2e9F}) {
    const std::string file = bytes_of(std::vector<std::int32_t>{4, 0, 0, 4}) +
                             bytes_of(std::vector<float>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, odd}) +
                             bytes_of(std::vector<std::int32_t>{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3});
    CHECK_THAT(message_of(model_of("<mesh name='m' file='a.msh'/>"), "a.msh", file),
               ContainsSubstring("a.msh: has the coordinate ") && ContainsSubstring(few));
  }
}

TEST_CASE("faces of a mesh in MuJoCo's own format have vertices that are there") {
  const auto message = [](const std::vector<std::int32_t>& head, std::int32_t last, std::size_t missing = 0) {
    const std::vector<float> four{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const std::string file =
        bytes_of(head) + bytes_of(four) + bytes_of(std::vector<std::int32_t>{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, last});
    return message_of(model_of("<mesh name='m' file='a.MSH'/>"), "a.MSH", file.substr(missing));
  };
  CHECK(message({4, 0, 0, 4}, 3).empty());
  CHECK(message({4, 0, 0, 4}, 4) == "a.MSH: face 4 has the vertex 4; there are 4, counted from 0");
  CHECK(message({4, 0, 0, 4}, -1) == "a.MSH: face 4 has the vertex -1; there are 4, counted from 0");
  CHECK(message({4, 0, 0, 5}, 3) == "a.MSH: has 112 bytes, but says of itself that it has 124");
  CHECK(message({2147483647, 2147483647, 2147483647, 2147483647}, 3) ==
        "a.MSH: has 112 bytes, but says of itself that it has 94489280484");
  CHECK(message({-4, 4, 4, 4}, 3) == "a.MSH: says that it has fewer than no vertices or faces; the file is damaged");
  CHECK(message({4, 0, 0, 4}, 3, 100) == "a.MSH: ends too early for an MSH file");
}

TEST_CASE("bones of a skin in a file move vertices that the file has") {
  const auto message = [](const std::vector<std::int32_t>& head, std::int32_t moved) {
    std::string name = "b";
    name.resize(40);
    const std::string file = bytes_of(head) + bytes_of(std::vector<float>{0, 0, 0, 1, 0, 0, 0, 1, 0}) +
                             bytes_of(std::vector<std::int32_t>{0, 1, 2}) + name +
                             bytes_of(std::vector<float>{0, 0, 0, 1, 0, 0, 0}) +
                             bytes_of(std::vector<std::int32_t>{moved, 0, 1, 2}) + bytes_of(std::vector<float>{1, 1, 1});
    return message_of(
        "<mujoco><asset><skin name='s' file='a.skn'/></asset><worldbody><body name='b'><freejoint/><geom size='1'/></body>"
        "</worldbody></mujoco>",
        "a.skn", file);
  };
  CHECK(message({3, 0, 1, 1}, 3).empty());
  for (const std::int32_t wrong : {4, 0x70000000, 0x20000003, -1})
    CHECK(message({3, 0, 1, 1}, wrong) ==
          text("a.skn: bone 1 says that it moves ", wrong, " vertices, which the file does not have"));
  CHECK(message({3, 0, 1, 9}, 3) == "a.skn: ends before its bone 2 of 9");
  for (const std::int32_t bones : {0, 1})
    CHECK(message({3, 0x15000000, 1, bones}, 3) == "a.skn: has 160 bytes, but says of itself that it has more than 2818572352");
  CHECK(message({3, 0, -1, 1}, 3) == "a.skn: says that it has fewer than no vertices or bones; the file is damaged");
}

TEST_CASE("faces of a skin have vertices that are there") {
  const auto message = [](const std::string& face) {
    return message_of("<mujoco><asset><skin name='s' vertex='0 0 0 1 0 0 0 1 0' face='" + face +
                      "'><bone body='b' bindpos='0 0 0' bindquat='1 0 0 0' vertid='0 1 2' vertweight='1 1 1'/></skin></asset>"
                      "<worldbody><body name='b'><freejoint/><geom size='1'/></body></worldbody></mujoco>");
  };
  CHECK(message("0 1 2").empty());
  for (const char* wrong : {"3", "-1", "90000000"})
    CHECK_THAT(message(text("0 1 ", wrong)), ContainsSubstring(text("a face of skin 1 has the vertex ", wrong, "; there are 3")));
}
