module;
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
module iap.envs;
import iap.core;
import iap.env;
import iap.envs.distraction;

namespace iap {

std::unique_ptr<Env> make_script_env(Options& options);

namespace {

constexpr const char* script_suffix = ".lua";

std::unique_ptr<Env> make_named(const std::string& name, Options& options) {
  if (name.ends_with(script_suffix)) return make_script_env(options);
  std::vector<std::string> known;
  for (const auto& entry : env_catalog()) {
    if (entry.name == name) return entry.make(options);
    known.push_back(entry.name);
  }
  throw Error(text("there is no environment '", name, "'", did_you_mean(name, known)));
}

}  // namespace

std::unique_ptr<Env> make_env(const Config& config) {
  const auto* name = config.find("name");
  const bool named = name && name->string();
  Options options(named ? text("environment '", *name->string(), "'") : "environment", config);
  auto env = make_named(options.string("name"), options);
  env = with_common_wrappers(std::move(env), options);
  options.finish();
  return env;
}

void set_env_option(Config& config, std::string_view path, std::string_view value) {
  constexpr std::string_view distraction = "distraction.";
  if (path.starts_with(distraction) && config.find("distraction"))
    forget_derived_distractions(config["distraction"], path.substr(distraction.size()));
  set_path(config, path, value);
}

}  // namespace iap
