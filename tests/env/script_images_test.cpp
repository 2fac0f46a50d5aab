#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>
import iap.core;
import iap.env;
import iap.envs;
import iap.script;

using namespace iap;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// A machine of 4 GiB, as long as it lives.
struct SmallMachine {
  SmallMachine() { limit_usable_memory(4.0 * (1 << 30)); }
  ~SmallMachine() { limit_usable_memory(std::numeric_limits<double>::infinity()); }
};

/// The most that the process ever held, MiB.
long most_held() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// An environment out of a file that shows so many images of so many rows and columns.
Config environment(int images, int side) {
  const std::string image = text("{ height = ", side, ", width = ", side, ", channels = 4 }");
  const std::string source = text("return function()\n  local images = {}\n  for i = 1, ", images, " do images['i' .. i] = ", image,
                                  " end\n  local function nothing() end\n  return { spec = { action_size = 1, images = images }, ",
                                  "reset = nothing, step = nothing, observe = nothing }\nend");
  return Config::Map{{"name", "env.lua"}, {"loaded_from", "x.iap"}, {"source", source}};
}

}  // namespace

TEST_CASE("the images of an environment in Lua are weighed together") {
  register_lua();
  const SmallMachine small;
  CHECK(make_env(environment(1, 1024))->spec().observation.images.size() == 1);
  const long before = most_held();
  CHECK_THROWS_MATCHES(make_env(environment(64, 4096)), Error,
                       MessageMatches(ContainsSubstring("env.lua: what its 64 images hold needs 16 GiB of memory")));
  CHECK_THROWS_MATCHES(make_env(environment(1, 16384)), Error,
                       MessageMatches(ContainsSubstring("env.lua: image 'i1' needs 4 GiB of memory")));
  CHECK(most_held() - before < 64);
}
