#include <sys/time.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>
import iap.core;
import iap.script;
#include "../core/temporary_folder.hpp"

using namespace iap;

namespace {

Script* target = nullptr;

/// Interrupts from a signal handler, as Ctrl-C does, in a tenth of a second.
void interrupt_soon(Script& script) {
  target = &script;
  std::signal(SIGALRM, [](int) { target->interrupt(); });
  const itimerval delay = {{0, 0}, {0, 100000}};
  setitimer(ITIMER_REAL, &delay, nullptr);
}

std::string error_of(Script& script, const std::string& input) {
  try {
    script.evaluate(input);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the prompt takes expressions, statements and inputs of several lines") {
  Script script;
  CHECK(script.evaluate("1 + 1").text == "2");
  CHECK(script.evaluate("= 'a', nil, 2.5").text == "a\tnil\t2.5");
  CHECK(script.evaluate("x = 5").text.empty());
  CHECK(script.evaluate("x").text == "5");
  CHECK(script.evaluate("  ").text.empty());
  CHECK(script.evaluate("for i = 1, 2 do").incomplete);
  CHECK(script.evaluate("for i = 1, 2 do\nx = x + i\nend").text.empty());
  CHECK(script.evaluate("x").text == "8");
  CHECK(script.evaluate("y = [[").incomplete);
  CHECK(error_of(script, "x = = 1") == "input:1: unexpected symbol near '='");
  CHECK(error_of(script, "\n\nerror('late')") == "input:3: late");
  CHECK(script.evaluate("x").text == "8");
}

TEST_CASE("the prompt shows tables by their content, within bounds") {
  Script script;
  CHECK(script.evaluate("{3, 1, name = 'x', [true] = {}, nested = {1, {2, {3, {4}}}}}").text ==
        R"({ 3, 1, [true] = {}, name = "x", nested = { 1, { 2, {...} } } })");
  const auto text = script.evaluate("(function() local t = {} for i = 1, 1000 do t[i] = i end return t end)()").text;
  CHECK(text == "{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... (1000 values) }");
  CHECK(script.evaluate("(function() local t = {} t.self = t return t end)()").text.find("...") != std::string::npos);
  CHECK(script.evaluate("setmetatable({}, {__tostring = function() return 'custom' end})").text == "custom");
}

TEST_CASE("a value that cannot be shown spoils no other input") {
  Script script;
  script.evaluate("bad = setmetatable({}, {__tostring = function() error('boom') end})");
  script.evaluate("nameless = setmetatable({}, {__tostring = function() return {} end})");
  for (const char* input : {"bad", "1, bad, 2", "{bad}"}) {
    CHECK(error_of(script, input) == "input:1: boom");
    CHECK(script.evaluate("1 + 1").text == "2");
  }
  CHECK(error_of(script, "nameless") == "'__tostring' must return a string");
  CHECK(script.evaluate("rawequal(_, nameless)").text == "true");
  CHECK(script.evaluate("'a', 'b'").text == "a\tb");
}

TEST_CASE("names complete through tables and objects, without running anything") {
  Script script;
  script.run_text("iap = require 'iap'; blueprint = iap.optim.es {}; trap = setmetatable({}, {__index = error})", "=test");
  CHECK(script.complete("iap.env.ma") == std::vector<std::string>{"iap.env.make"});
  CHECK(script.complete("iap.env.") == std::vector<std::string>{"iap.env.check", "iap.env.list", "iap.env.make"});
  CHECK(script.complete("blueprint:st") == std::vector<std::string>{"blueprint:start"});
  CHECK(script.complete("trap.x").empty());
  CHECK(script.complete("nothing.at.all").empty());
  const auto all = script.complete("");
  CHECK(std::ranges::find(all, "iap") != all.end());
  CHECK(script.evaluate("1").text == "1");
}

TEST_CASE("a failure keeps its traceback apart from its message") {
  Script script;
  try {
    script.run_text("local function f() error('deep') end\nf()", "=test");
    FAIL("no error");
  } catch (const ScriptError& error) {
    CHECK(std::string(error.what()) == "test:1: deep");
    CHECK(error.traceback().find("test:2:") != std::string::npos);
  }
}

TEST_CASE("an interrupt from a signal handler stops a loop, and the state lives on") {
#if __has_feature(thread_sanitizer)
  SKIP("its runtime holds signals back until the program enters the C library, which a loop in Lua never does");
#endif
  Script script;
  for (const char* loop : {"while true do end", "while true do pcall(function() while true do end end) end",
                           "while true do local ok = pcall(error) end"}) {
    interrupt_soon(script);
    CHECK_THROWS_AS(script.evaluate(loop), Interrupted);
    CHECK_FALSE(interrupt_requested());
    CHECK(script.evaluate("1 + 1").text == "2");
  }
}

TEST_CASE("an interrupt stops a value that is shown without end") {
#if __has_feature(thread_sanitizer)
  SKIP("its runtime holds signals back until the program enters the C library, which a loop in Lua never does");
#endif
  Script script;
  script.evaluate("endless = setmetatable({}, {__tostring = function() while true do end end})");
  interrupt_soon(script);
  CHECK_THROWS_AS(script.evaluate("endless"), Interrupted);
  CHECK_FALSE(interrupt_requested());
  CHECK(script.evaluate("1 + 1").text == "2");
}

TEST_CASE("an interrupt before a script's first line ends it as one") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "script.lua";
  write_file_atomic(path, "x = 1");
  Script script;
  script.interrupt();
  CHECK_THROWS_AS(script.run_file(path), Interrupted);
  script.interrupt();
  CHECK_THROWS_AS(script.rehearse(path, false), Interrupted);
  CHECK_FALSE(interrupt_requested());
  CHECK(script.evaluate("x").text == "nil");
}

TEST_CASE("settings reach the script and must be used") {
  RunSettings settings;
  settings.overrides = {"size=7", "typo=1"};
  settings.arguments = {"one"};
  Script script(settings);
  const auto run = [&](const char* chunk) {
    try {
      script.run_text(chunk, "=test");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  // Before anything else runs.
  const std::string message = run("require 'iap'.options{size = 1} ran = true");
  CHECK(message.find("--set typo=1: train: unknown option 'typo'; known: env, policy, optimizer,") != std::string::npos);
  CHECK(message.ends_with("; the script's own: size"));
  CHECK(script.evaluate("ran").text == "nil");
  CHECK(run("require 'iap'.options({size = 1}, {training = false})").ends_with("the script has no option 'typo'; known: size"));
  CHECK(run("assert(require 'iap'.options{size = 1, typo = 2}.size == 7)").empty());
  CHECK_THROWS_AS(Script(RunSettings{.overrides = {"=3"}}), Error);
}

TEST_CASE("states are independent and close cleanly") {
  Script first, second;
  first.evaluate("shared = 1");
  CHECK(second.evaluate("shared").text == "nil");
  Script moved = std::move(first);
  CHECK(moved.evaluate("shared").text == "1");
  CHECK(version().size() >= 5);
}
