// What MuJoCo compiles where there are many processors, whichever this machine has.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>
import iap.core;
import iap.sim;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

thread_local int pretended = 0, asked = 0;

class Processors {
 public:
  explicit Processors(int count) { pretended = count; }
  ~Processors() { pretended = 0; }
  Processors(const Processors&) = delete;
  Processors& operator=(const Processors&) = delete;
};

std::string repeated(int count, auto make) {
  std::string all;
  for (int i = 0; i < count; ++i) all += make(std::to_string(i));
  return all;
}

// Hinges whose ranges are found by trying, as nothing says that they may be believed, and muscles that pull at `of_each` of them.
std::string model(const std::string& head, int hinges, const std::string& behind = "", const std::string& after = "") {
  return "<mujoco><compiler autolimits='true'><lengthrange uselimit='false' inttotal='2' inteval='1'/></compiler>" + head +
         "<worldbody>" +
         repeated(hinges,
                  [](const std::string& i) {
                    return "<body pos='0 " + i + " 0'><joint name='j" + i + "' axis='0 1 0' range='-5" + i + " 40' damping='1'/>" +
                           "<geom type='capsule' size='.05' fromto='0 0 0 .3 0 ." + i + "1'/></body>";
                  }) +
         "</worldbody><tendon><fixed name='all'>" +
         repeated(hinges, [](const std::string& i) { return "<joint joint='j" + i + "' coef='1." + i + "'/>"; }) +
         "</fixed></tendon><actuator><muscle tendon='all'/>" +
         repeated(hinges, [](const std::string& i) { return "<muscle joint='j" + i + "'/>"; }) + "</actuator>" + behind +
         "</mujoco>" + after;
}

constexpr int hinges = 6, processors = 32;
constexpr const char* threads = "<compiler usethread='true'/>";

}  // namespace

// In place of the C library's, for MuJoCo, too.
extern "C" [[gnu::visibility("default")]] int get_nprocs() noexcept {
  ++asked;
  return pretended > 0 ? pretended : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

TEST_CASE("an error in the search for length ranges is one on many processors, too") {
  const Processors many(processors);
  // Enough until joints come to their limits.
  const std::string starved = "<size nstack='165'/>";
  const auto check = [&](const MujocoBundle& bundle) {
    asked = 0;
    CHECK_THROWS_MATCHES(MujocoWorld(bundle), Error,
                         MessageMatches(ContainsSubstring(": MuJoCo cannot compile it: Error: engine error: Stack overflow")));
    CHECK(asked > 0);
  };
  check(MujocoBundle::read("", model(starved, hinges)));
  check(MujocoBundle::read("", model(threads + starved, hinges, threads)));
  check(MujocoBundle::read("", model(starved, hinges, "<!-- </mujoco> --><custom><text name='a' data='</mujoco>'/></custom>",
                                     "<!-- </mujoco> --><mujoco></mujoco>")));
  check(MujocoBundle::unpack("a.xml",
                             Config::Map{{"a.xml", model(starved, hinges, "<include file='b.xml'/>")},
                                         {"b.xml", std::string("<mujocoinclude>") + threads + "</mujocoinclude>"}},
                             "p.iap"));
}

TEST_CASE("length ranges are the same bits from one thread and from MuJoCo's own") {
  const auto ranges = [](const MujocoWorld& world) { return world.array("actuator_lengthrange"); };
  const Processors many(processors);
  const std::string text = model("", hinges);
  const auto found = ranges(MujocoWorld(MujocoBundle::read("", text)));
  CHECK(found.size() == 2 * (hinges + 1));
  for (std::size_t i = 0; i < found.size(); i += 2) CHECK(found[i] < found[i + 1]);
  // What a program hands over itself is compiled as it is.
  const std::vector<MujocoFile> files{{"threads.xml", text}};
  CHECK(ranges(MujocoWorld(files)) == found);
}
