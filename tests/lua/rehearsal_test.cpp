// What a script that is rehearsed may not change any more once it has trained.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
import iap.core;
import iap.script;
#include "../core/temporary_folder.hpp"

using namespace iap;

namespace {

constexpr const char* training = R"lua(
local result = iap.train {
  env = "cartpole-balance", policy = iap.policy.linear { activation = "tanh" }, optimizer = iap.optim.es { population = 2 }, iterations = 1,
  quiet = true,
}
)lua";

/// A folder with a file `kept`, in which scripts are rehearsed.
struct Fixture {
  TemporaryFolder folder;
  std::filesystem::path kept = folder.path() / "kept";

  Fixture() { write_file_atomic(kept, "precious"); }

  /// Of a script that knows the file as `kept`, before and after its training.
  Rehearsal rehearse(const std::string& before, const std::string& after) const {
    const auto path = folder.path() / "script.lua";
    write_file_atomic(path,
                      text("local iap = require 'iap'\nlocal kept = [[", kept.string(), "]]\n", before, training, after, "\n"));
    return Script().rehearse(path);
  }
  std::string error_of(const std::string& before) const {
    try {
      rehearse(before, "");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a rehearsal ends, and changes no file, where the script writes what became of its training") {
  const std::string weights = text("local agent = iap.policy.import_attention_agent('", IAP_TEST_DATA,
                                   "/attention_agent/car_racing.npz')\n"),
                    pixels =
                        "local env = iap.env.make('cartpole-balance', { pixels = { 8, 8 } }) env:reset(1)\n"
                        "local image = env:observe().images.pixels\n";
  for (const auto& [before, write] : {std::pair<std::string, std::string>{"", "result.policy:save(kept)"},
                                      {"", "coroutine.wrap(function() result.policy:save(kept) end)()"},
                                      {weights, "agent:export_attention_agent(kept)"},
                                      {pixels, "image:save_png(kept)"},
                                      {"local file = io.open(kept, 'a')\n", "file:write('zeros') file:close()"},
                                      {"io.output(io.open(kept, 'a'))\n", "io.write('zeros') io.output():close()"},
                                      {"", "io.open(kept, 'w'):close()"}}) {
    INFO(write);
    // Neither a pcall nor a finalizer goes on.
    const auto rehearsal = rehearse(before, "pcall(function() " + write + " end)\niap.train {}");
    CHECK(rehearsal.trainings == 1);
    CHECK(read_file(kept) == "precious");
    rehearse(before, "setmetatable({}, { __gc = function() " + write + " end })");
    CHECK(read_file(kept) == "precious");
  }
}

TEST_CASE_METHOD(Fixture, "what a rehearsed script prints after its training is not printed, and it goes on") {
  CHECK(rehearse("", "print('a') io.write('b') io.stdout:write('c')\niap.train {}").trainings == 2);
}

TEST_CASE_METHOD(Fixture, "until its training a rehearsed script writes as it always does: the training may need it") {
  const std::string begin =
      "iap.policy.build(iap.policy.linear { activation = 'tanh' }, 'cartpole-balance'):save(kept .. '.iap')\n"
      "assert(iap.policy.load(kept .. '.iap'):size() > 0)\n";
  CHECK(rehearse(begin, "").trainings == 1);
}

TEST_CASE_METHOD(Fixture, "a rehearsed script that ends itself before it trains says so") {
  const std::string message = "script.lua:3: the script ends itself (os.exit) before it trains";
  CHECK(error_of("os.exit(2)").ends_with(message));
  CHECK(error_of("pcall(os.exit)").ends_with("the script ends itself (os.exit) before it trains"));
  CHECK(rehearse("", "os.exit(2)").trainings == 1);
}
