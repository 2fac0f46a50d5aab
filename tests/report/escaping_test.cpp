#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
import iap.core;
import iap.policy;
import iap.report;
import iap.script;
import iap.train;
#include "pages.hpp"
#include "small_runs.hpp"

using namespace iap;
using Catch::Matchers::ContainsSubstring;

// Whatever stands in a run's files is text on a page, never a part of it: no name begins a script there.

namespace {

const std::string name = "<script>x</script>'\"&", escaped_name = "&lt;script&gt;x&lt;/script&gt;&#39;&quot;&amp;";
const std::string file_name = "<script>x'\"&", state_name = "<script>x</script>'&";

std::size_t count(const std::string& html, const std::string& part) { return between(html, part, part).size(); }

/// A world in Lua that shows a picture and a state of two values.
Config named_env(const std::filesystem::path& folder) {
  const auto file = folder / (file_name + "world.lua");
  write_file_atomic(file, "local named = [==[" + state_name + R"(]==]
return function()
  local self = { spec = { action_size = 1, vector = 2, max_steps = 6, state_names = { named .. 1, named .. 2 },
    images = { eye = { height = 8, width = 8, channels = 1 } } } }
  local x, eye = 0, {}
  for i = 1, 64 do eye[i] = i end
  function self:reset() x = math.random() end
  function self:step(action) x = x + action[1] + math.random() return x, false, false end
  function self:observe() return { x, x * math.random() }, { eye = eye } end
  return self
end
)");
  return Config::Map{{"name", file.string()}};
}

Config named_policy(const std::filesystem::path& folder) {
  const auto file = folder / (file_name + "block.lua");
  write_file_atomic(file, R"(return function(_, shapes)
  return { parameters = 1, outputs = 1, forward = function(_, input) return { input[1] } end }
end
)");
  Config policy = parse_json(R"({"kind": "sequence", "blocks": [
      {"kind": "rank", "patch": 2, "stride": 2, "d": 2, "top": 2, "values": "position"},
      {"kind": "linear", "units": 2}, {"kind": "script"}, {"kind": "linear", "activation": "tanh"}]})",
                             "test");
  set_path(policy, "blocks.3.file", file.string());
  return policy;
}

/// A run of three iterations all of whose names are `name`, which was asked for more of them and has failures to tell of.
std::filesystem::path named_run(const std::filesystem::path& folder, std::int64_t seed) {
  register_lua();
  const auto run = folder / (file_name + std::to_string(seed));
  make_run(run, seed, named_policy(folder), named_env(folder));
  Config config = parse_json(read_file(run / "config.json"), "config.json");
  config.map()->erase("given");
  config["env"]["name"] = name;
  config["optimizer"]["kind"] = name;
  config[name + std::to_string(seed)] = name;
  config["iterations"] = 9;
  config["failed_return"] = -1;
  write_file_atomic(run / "config.json", to_json(config));
  write_file_atomic(run / "metrics.csv",
                    "iteration,return_mean,eval_mean,eval_std,seconds,steps,unstable,failed\n0,,100,1,1,0,0,0\n1,10,,,2,10,4,2\n"
                    "2,nan,50,0,3,20,0,0\n3,30,nan,0,4,30,0,0\n");
  Config result = parse_json(read_file(run / "result.json"), "result.json");
  result["stop_reason"] = name;
  write_file_atomic(run / "result.json", to_json(result));
  return run;
}

}  // namespace

TEST_CASE("names that hold HTML are text on the page of one run, with pictures and without") {
  const TemporaryFolder folder;
  const auto run = named_run(folder.path(), 1);
  const std::string html = report({run}, {.episodes = 3});
  CHECK(count(html, "<script") == 0);
  CHECK_THAT(html, ContainsSubstring("<h1>" + escaped_name) && ContainsSubstring("trained by " + escaped_name) &&
                       ContainsSubstring("<td class=\"name\">&lt;script&gt;x&lt;/script&gt;&#39;&amp;1</td>") &&
                       ContainsSubstring("</code></td><td>" + escaped_name) && ContainsSubstring("(" + escaped_name + ")"));
  PolicyFile file = open_policy(run);
  file.metadata["env"] = Config::Map{{"name", name + ".lua"}};
  write_policy_file(run / "best.iap", file.policy, file.metadata);
  const std::string blind = report({run});
  CHECK(count(blind, "<script") == 0);
  CHECK_THAT(blind, ContainsSubstring("There are none: ") && ContainsSubstring(escaped_name + ".lua"));
  CHECK(count(report({run}, {.pictures = false}), "<script") == 0);
}

TEST_CASE("names that hold HTML are text on the page of several groups") {
  const TemporaryFolder folder;
  const std::string html = report({named_run(folder.path(), 1), named_run(folder.path(), 2)}, {.episodes = 3});
  CHECK(count(html, "<script") == 0);
  CHECK_THAT(html, ContainsSubstring("2 runs of 2 kinds"));
  // Their labels hold the name of what they differ in.
  CHECK_THAT(between(html, "<h2>Parameters: ", "</h2>").at(0), ContainsSubstring("&lt;script&gt;x&lt;/script&gt;&#39;"));
}

TEST_CASE("names that hold HTML are text on a page that waits for a run") {
  const TemporaryFolder folder;
  const auto run = folder.path() / file_name, out = folder.path() / "report.html";
  std::filesystem::create_directories(run);
  write_waiting_page(run, out, 5);
  CHECK(count(read_file(out), "<script") == 0);
  CHECK_THAT(read_file(out), ContainsSubstring("<h1>&lt;script&gt;x&#39;&quot;&amp;</h1>"));
}
