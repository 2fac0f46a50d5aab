#include <zlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../core/temporary_folder.hpp"
import iap.core;
import iap.render;
import iap.sim;
#include "../render/png_chunks.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

class Folder : public TemporaryFolder {
 public:
  void write(const std::string& name, std::string_view content) const {
    fs::create_directories((path() / name).parent_path());
    write_file_atomic(path() / name, content);
  }
};

// A tetrahedron with edges of `size` along the axes, as binary STL.
std::string tetrahedron(float size) {
  const std::array<std::array<float, 3>, 4> corners{{{0, 0, 0}, {size, 0, 0}, {0, size, 0}, {0, 0, size}}};
  const std::array<std::array<int, 3>, 4> faces{{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  std::string stl(80, ' ');
  const auto append = [&](const auto& value) { stl.append(reinterpret_cast<const char*>(&value), sizeof value); };
  append(std::uint32_t{4});
  for (const auto& face : faces) {
    for (int i = 0; i < 3; ++i) append(0.F);
    for (const int corner : face)
      for (const float value : corners[static_cast<std::size_t>(corner)]) append(value);
    append(std::uint16_t{0});
  }
  return stl;
}

std::string with(const std::string& assets, const std::string& geoms, const std::string& compiler = "") {
  return "<mujoco>\n<compiler " + compiler + "/>\n<asset>" + assets + "</asset>\n<worldbody>" + geoms + "</worldbody></mujoco>";
}

std::string message_of(const fs::path& folder, const std::string& model) {
  try {
    MujocoWorld world(MujocoBundle::read(folder, model));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a model's includes, meshes, textures and height fields are found where MuJoCo looks and travel without the disk") {
  const Folder folder;
  std::string png;
  const std::vector<std::uint8_t> rgb(4 * 4 * 3, 200);
  write_png(folder.path() / "grey.png", {{4, 4, 3, PixelType::uint8}, rgb.data()});
  png = read_file(folder.path() / "grey.png");
  folder.write(
      "model/main.xml",
      "<mujoco><!-- <mesh file='nowhere.stl'/> --><compiler meshdir='../shapes' texturedir='look'/><include file='parts/body.xml'/>"
      "<asset><mesh name='small' file='left/foot.stl'/><mesh file='right/Foot.stl' scale='1 1 1'/>"
      "<texture name='t' type='2d' file=\"grey.png\"/><hfield name='h' file='hills.png' size='1 1 .5 .1'/></asset></mujoco>");
  folder.write(
      "model/parts/body.xml",
      "<mujocoinclude><worldbody><geom type='mesh' mesh='small'/><geom type='mesh' mesh='Foot'/><geom type='hfield' hfield='h'/>"
      "</worldbody></mujocoinclude>");
  folder.write("shapes/left/foot.stl", tetrahedron(0.1F));
  folder.write("shapes/right/Foot.stl", tetrahedron(0.3F));
  folder.write("model/look/grey.png", png);
  folder.write("shapes/hills.png", png);
  const auto bundle = MujocoBundle::read(folder.path(), "model/main.xml");
  const Config packed = bundle.config();
  std::vector<std::string> names;
  for (const auto& [name, content] : *packed.map()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"model/look/grey.png", "model/main.xml", "model/parts/body.xml", "shapes/hills.png",
                                          "shapes/left/foot.stl", "shapes/right/Foot.stl"});
  fs::remove_all(folder.path());
  // As a policy file keeps it: through JSON.
  const Config read = parse_json(to_json(packed), "test");
  CHECK(read == packed);
  MujocoWorld world(MujocoBundle::unpack("model/main.xml", read, "test"));
  CHECK(world.names("mesh") == std::vector<std::string>{"small", "Foot"});
  // The two files of one name are told apart: the corners of one lie three times as far from their centre.
  double largest[2] = {0, 0};
  const auto vertices = world.array("mesh_vert"), first = world.array("mesh_vertadr"), count = world.array("mesh_vertnum");
  for (int mesh = 0; mesh < 2; ++mesh)
    for (int i = 0; i < static_cast<int>(count[mesh]); ++i) {
      const double* corner = vertices.data() + 3 * (static_cast<std::size_t>(first[mesh]) + i);
      largest[mesh] = std::max(largest[mesh], std::hypot(corner[0], corner[1], corner[2]));
    }
  CHECK(std::abs(largest[1] - 3 * largest[0]) < 1e-5);
  CHECK(world.array("hfield_nrow") == std::vector<double>{4});
}

TEST_CASE("strippath and meshdir are respected, a text may stand for a file") {
  const Folder folder;
  folder.write("assets/foot.stl", tetrahedron(0.1F));
  const auto bundle = MujocoBundle::read(
      folder.path(),
      with("<mesh file='somewhere/else/foot.stl'/>", "<geom type='mesh' mesh='foot'/>", "meshdir='assets' strippath='true'"));
  CHECK(MujocoWorld(bundle).names("mesh") == std::vector<std::string>{"foot"});
  CHECK(bundle.config().find("assets/foot.stl"));
  CHECK(bundle.files().size() == 2);
}

TEST_CASE("of several <compiler> in a model's texts the last one counts, where MuJoCo puts what is included") {
  const Folder folder;
  folder.write("a/m.stl", tetrahedron(0.1F));
  folder.write("b/m.stl", tetrahedron(0.2F));
  for (const std::string name : {"a", "b"})
    folder.write(name + ".xml", "<mujocoinclude><compiler meshdir='" + name + "'/></mujocoinclude>");
  folder.write("to_a.xml", "<mujocoinclude><compiler meshdir='b'/><include file='a.xml'/></mujocoinclude>");
  const auto found = [&](const std::string& head) {
    const auto bundle = MujocoBundle::read(folder.path(), "<mujoco>" + head +
                                                              "<asset><mesh file='m.stl'/></asset><worldbody><geom type='mesh' "
                                                              "mesh='m'/></worldbody></mujoco>");
    CHECK(MujocoWorld(bundle).names("mesh") == std::vector<std::string>{"m"});
    return std::string(bundle.config().find("a/m.stl") ? "a" : "") + (bundle.config().find("b/m.stl") ? "b" : "");
  };
  CHECK(found("<include file='a.xml'/><compiler meshdir='b'/>") == "b");
  CHECK(found("<compiler meshdir='b'/><include file='a.xml'/>") == "a");
  CHECK(found("<include file='to_a.xml'/><include file='b.xml'/>") == "b");
  CHECK(found("<include file='b.xml'/><include file='to_a.xml'/>") == "a");
}

TEST_CASE("what a bundle lacks is never read from the disk") {
  const Folder folder;
  folder.write("foot.stl", tetrahedron(0.1F));
  folder.write("main.xml", with("<mesh file='foot.stl'/>", "<geom type='mesh' mesh='foot'/>"));
  const fs::path here = fs::current_path();
  fs::current_path(folder.path());
  MujocoWorld(MujocoBundle::read(".", "main.xml"));
  const Config only_main = Config::Map{{"main.xml", read_file("main.xml")}};
  const auto refused = [&](const std::string& main, const std::string& part) {
    const Config files = Config::Map{{"main.xml", main}};
    CHECK_THROWS_MATCHES(MujocoBundle::unpack("main.xml", files, "p.iap"), Error, MessageMatches(ContainsSubstring(part)));
  };
  CHECK_THROWS_MATCHES(MujocoBundle::unpack("main.xml", only_main, "p.iap"), Error,
                       MessageMatches(ContainsSubstring("main.xml:3: p.iap: does not hold the model's file 'foot.stl'")));
  refused("<mujoco><include file = 'main2.xml' /></mujoco>", "'main2.xml'; did you mean 'main.xml'?");
  refused("<mujoco><asset><texture type='skybox' fileright='/etc/passwd'/></asset></mujoco>", "'/etc/passwd'");
  refused("<mujoco><asset><mesh\nfile\n=\n\"foot.stl\"/></asset></mujoco>", "main.xml:4: ");
  // Whatever MuJoCo's parser may read differently is refused.
  refused("<mujoco><asset><mesh file='&#102;oot.stl'/></asset></mujoco>", "may not have &");
  refused("<!DOCTYPE x [<!ENTITY e 'foot.stl'>]><mujoco/>", "document type");
  refused("<mujoco><![CDATA[<x/>]]></mujoco>", "document type or CDATA");
  refused("<mujoco><!-- no end </mujoco>", "a comment does not end");
  refused("<mujoco><mesh file=foot.stl/></mujoco>", "needs quotes");
  refused("<robot name='r'><link name='l'/></robot>", "begins with <robot>; give an MJCF");
  refused("", "is no XML");
  CHECK_THROWS_MATCHES(MujocoBundle::unpack("main.xml", Config(3), "p.iap"), Error,
                       MessageMatches(ContainsSubstring("must be a table by name")));
  Config damaged = MujocoBundle::read(".", "main.xml").config();
  damaged["foot.stl"]["base64"] = "AAA";
  CHECK_THROWS_MATCHES(MujocoBundle::unpack("main.xml", damaged, "p.iap"), Error,
                       MessageMatches(ContainsSubstring("'foot.stl' is damaged")));
  fs::current_path(here);
}

TEST_CASE("pictures in files that MuJoCo would count beyond its integers are refused") {
  const Folder folder;
  const auto head = [&](std::uint32_t width, std::uint32_t height) {
    return "\x89PNG\r\n\x1a\n" + std::string("\0\0\0\x0dIHDR", 8) + big_endian(width) + big_endian(height);
  };
  folder.write("large.png", head(11000, 11000));
  folder.write("cross.png", head(8192, 6144));
  for (int i = 0; i < 8; ++i) folder.write(text("sky", i, ".png"), head(4096, 4096));
  const auto refusal = [&](const std::string& assets) { return message_of(folder.path(), with(assets, "")); };
  const std::string why = "with it the model's textures take 2";
  CHECK_THAT(refusal("<texture fileright='large.png'/>"), ContainsSubstring("large.png: " + why));
  CHECK_THAT(refusal("<texture type='skybox' file='large.png' gridsize='1 1'/>"), ContainsSubstring("large.png: " + why));
  // The same file, as two things.
  CHECK_THAT(refusal("<texture name='a' type='2d' file='large.png'/><texture name='b' fileup='large.png'/>"),
             ContainsSubstring("large.png: with it the model's textures take 2.4 GiB"));
  std::string sides, skies;
  for (int i = 0; i < 8; ++i) skies += text("<texture fileright='sky", i, ".png'/>");
  for (const char* side : {"right", "left", "up", "down", "front", "back"})
    sides += text(" file", side, "='sky", sides.size() % 8, ".png'");
  CHECK_THAT(refusal(skies), ContainsSubstring("sky7.png: " + why));
  // What fits comes as far as MuJoCo, which misses the pixels.
  for (const std::string& assets :
       {std::string("<texture type='2d' file='large.png'/>"), std::string("<texture file='large.png'/>"),
        "<texture name='a'" + sides + "/><texture name='b'" + sides + "/>",
        std::string("<texture file='cross.png' gridsize='3 4'/>")}) {
    CAPTURE(assets);
    CHECK_THAT(refusal(assets), ContainsSubstring("MuJoCo cannot compile it"));
  }
  // In MuJoCo's own format the sides, whose product is 0 in 32 bits, stand in front.
  const std::string own = std::string("\0\0\1\0\0\0\1\0", 8);
  folder.write("own.bin", own);
  folder.write("o", own);
  CHECK(refusal("<texture type='2d' file='own.bin'/>") ==
        "own.bin: has 65536 x 65536 pixels; pictures of a model may have 16384 a side (not being called .png, it was read as "
        "MuJoCo's own format)");
  CHECK_THAT(refusal("<hfield name='h' size='1 1 1 1' file='own.bin'/>"), ContainsSubstring("own.bin: has 65536 x 65536"));
  CHECK_THAT(refusal("<hfield name='h' size='1 1 1 1' file='o'/>"), ContainsSubstring("o: MuJoCo looks at the last 4 characters"));
}

TEST_CASE("meshes whose names are too short for MuJoCo are refused before it sees them") {
  const Folder folder;
  for (const char* name : {"a", "ab", "a."}) {
    folder.write(name, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (const std::string element : {"mesh", "skin"})
      CHECK(message_of(folder.path(), with(text("<", element, " name='m' file='", name, "'/>"), "")) ==
            text(name, ": MuJoCo looks at the last 3 characters of a ", element, "'s name; give it a longer one"));
  }
}

TEST_CASE("pictures that MuJoCo does not read say what they are") {
  const Folder folder;
  const std::string jpeg("\xFF\xD8\xFF\xE0\0\x10JFIF\0", 11), png = png_of(2, 2, zlib_packed(std::string(2 * 7, '\0')));
  folder.write("photo.jpg", jpeg);
  folder.write("my photo.jpg", jpeg);
  folder.write("photo.png", jpeg);
  folder.write("photo.webp", "RIFF\x10\x10\0\0WEBPVP8 ");
  folder.write("real.jpg", png);
  folder.write("real.PNG", png);
  for (const std::string& asset : {"<texture name='t' type='2d' file='FILE'/>", "<hfield name='h' size='1 1 1 1' file='FILE'/>"}) {
    const auto refusal = [&](const std::string& file) {
      std::string element = asset;
      return message_of(folder.path(), with(element.replace(element.find("FILE"), 4, file), ""));
    };
    CHECK(refusal("photo.jpg") ==
          "photo.jpg: is a JPEG, and of pictures MuJoCo reads PNG alone, in files called .png; write it as one, such as by "
          "ImageMagick (convert photo.jpg photo.png), and name that in the model");
    CHECK(refusal("my photo.jpg").ends_with("ImageMagick (convert 'my photo.jpg' 'my photo.png'), and name that in the model"));
    CHECK(refusal("photo.png").starts_with("photo.png: is a JPEG, and of pictures MuJoCo reads PNG alone"));
    CHECK(refusal("photo.webp").starts_with("photo.webp: is a WebP, and of pictures MuJoCo reads PNG alone"));
    CHECK(refusal("real.jpg") == "real.jpg: is a PNG, which MuJoCo knows by its name alone; call it 'real.png', in the model, too");
    CHECK(refusal("real.PNG").empty());
  }
}

TEST_CASE("a PNG that holds more pixels than its header says is refused before MuJoCo unpacks it") {
  const Folder folder;
  const std::string pixels = zlib_packed(std::string(200 * (1 + 3 * 200), '\0'));
  const auto refusal = [&](const std::string& png) {
    folder.write("t.png", png);
    const std::string flat = message_of(folder.path(), with("<texture name='t' type='2d' file='t.png'/>", ""));
    CHECK(message_of(folder.path(), with("<hfield name='h' size='1 1 1 1' file='t.png'/>", "")) == flat);
    return flat;
  };
  CHECK(refusal(png_of(200, 200, pixels)).empty());
  const std::string why = "t.png: holds more pixels than its header says; the picture is damaged";
  CHECK(refusal(png_of(1, 1, pixels)) == why);
  CHECK(refusal(png_of(100, 100, pixels)) == why);
  // In pieces, wherever they stand.
  const auto half = pixels.size() / 2;
  CHECK(refusal(png_of(1, 1, pixels.substr(half), png_chunk("IDAT", pixels.substr(0, half)) + png_chunk("tEXt", "k"))) == why);
  const std::string profile = png_chunk("iCCP", std::string("p\0\0", 3) + zlib_packed(std::string(1000, 'a')));
  CHECK(refusal(png_of(200, 200, pixels, profile + profile)) == "t.png: has more than one colour profile; the picture is damaged");
  std::string damaged = pixels;
  damaged[2] = '\7';  // a kind of block that there is not
  CHECK(refusal(png_of(200, 200, damaged)) == "t.png: its pixels cannot be unpacked");
}

TEST_CASE("a PNG of a model is weighed by its rows, its pixels and what MuJoCo takes of them") {
  const Folder folder;
  constexpr std::uint32_t side = 4096;
  const auto needs = [&](char depth, char kind) {
    const std::string header = big_endian(side) + big_endian(side) + depth + kind + std::string(3, '\0');
    folder.write("t.png", "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header));
    return message_of(folder.path(), with("<texture name='t' type='2d' file='t.png'/>", ""));
  };
  limit_usable_memory(100.0 * (1 << 20));
  CHECK_THAT(needs(8, 0), ContainsSubstring("t.png needs 96 MiB of memory"));
  CHECK_THAT(needs(8, 2), ContainsSubstring("t.png needs 160 MiB of memory"));
  CHECK_THAT(needs(16, 6), ContainsSubstring("t.png needs 320 MiB of memory"));
  limit_usable_memory(std::numeric_limits<double>::infinity());
}

TEST_CASE("an interrupt ends the look at a large PNG of a model") {
  const Folder folder;
  constexpr int side = 2000;
  folder.write("t.png", png_of(side, side, zlib_packed(std::string(side * (1 + 3 * side), '\0'))));
  const auto read = [&] { MujocoBundle::read(folder.path(), with("<texture name='t' type='2d' file='t.png'/>", "")); };
  read();
  request_interrupt();
  CHECK_THROWS_AS(read(), Interrupted);
  clear_interrupt();
}

TEST_CASE("a model that cannot be read says who asks for what") {
  const Folder folder;
  folder.write("main.xml", with("\n\n<mesh file='none.stl'/>", ""));
  CHECK(message_of(folder.path(), "main.xml").starts_with("main.xml:5: cannot read '"));
  CHECK(message_of(folder.path(), "other.xml").starts_with("cannot read '"));
  folder.write("main.xml", with("<mesh file='x'/>", ""));
  fs::create_directory(folder.path() / "x");
  CHECK(message_of(folder.path(), "main.xml").ends_with("it is a folder"));
  fs::remove(folder.path() / "x");
  folder.write("x", "");
  fs::resize_file(folder.path() / "x", MujocoBundle::most_bytes + 1);
  CHECK_THAT(message_of(folder.path(), "main.xml"), ContainsSubstring("has 64 MB; a model's files may take 64 MB together"));
  fs::resize_file(folder.path() / "x", MujocoBundle::most_bytes - 10);
  CHECK_THAT(message_of(folder.path(), "main.xml"), ContainsSubstring("the model's files take more than 64 MB (with 'x')"));
}
