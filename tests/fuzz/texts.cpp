#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "targets.hpp"
import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.policy;
import iap.script;
import iap.train;

namespace fuzz {
namespace {

using namespace iap;

constexpr const char* source = "input";

/// What is written of a value is read as that value.
void check_round_trip(const Config& value) {
  if (!(parse_json(to_json(value), "written") == value)) std::abort();
}

template <typename Build>
void attempt(Build build) {
  try {
    build();
  } catch (const Error&) {
  }
}

}  // namespace

void play_json(std::string_view input) {
  attempt([&] { check_round_trip(parse_json(input, source)); });
}

void play_table(std::string_view input) {
  attempt([&] { (void)parse_table(input, source); });
}

/// A table of options, given to everything that reads one.
void play_options(std::string_view input) {
  Config options;
  try {
    options = parse_json(input, source);
  } catch (const Error&) {
    return;
  }
  if (!options.map()) return;
  static const ObservationSpec seen{.images = {{"pixels", {12, 16, 3, PixelType::uint8}}}, .vector = 4};
  const std::vector<float> initial(8);
  attempt([&] { make_optimizer(options, initial, 1); });
  attempt([&] {
    Config architecture = options;
    confine_lua(architecture, source, ConfigKind::policy);
    Policy(architecture, seen, 2).initialise(1);
  });
  attempt([&] { read_train_options(options); });
  attempt([&] {
    Config env = options;
    confine_lua(env, source, ConfigKind::env);
    const Config* name = env.find("name");
    // Files of this machine are no input.
    if (name && name->string() && name->string()->find('.') == std::string::npos) make_env(env);
  });
}

void play_set(std::string_view input) {
  if (input.find('\0') != std::string_view::npos) return;  // the end of an argument
  attempt([&] {
    Script script({.overrides = {std::string(input)}});
    script.run_text(
        "require('iap').options({ a = 1, b = 'x', c = { 1, 2 }, d = { e = true, f = { g = 0.5 } } }, { training = false })",
        "=script");
  });
}

}  // namespace fuzz
