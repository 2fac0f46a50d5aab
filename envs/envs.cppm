module;
#include <memory>
#include <span>
#include <string>
#include <string_view>
export module iap.envs;
import iap.core;
import iap.env;

export namespace iap {

struct EnvEntry {
  std::string name;
  std::string summary;
  std::string example;  ///< JSON: the options that the contract tests try, beside none at all and the common ones
  std::unique_ptr<Env> (*make)(Options& options);
};

/// Every environment this build knows.
std::span<const EnvEntry> env_catalog();

/// Builds the environment that `config` describes: {name = "cheetah-run", pixels = {100, 100}, action_repeat = 4, ...}.
/// A name that ends in ".lua" is an environment written in Lua (envs/script). The common wrapper options apply to all.
/// The spec's `config` is `config` completed with every default. @throws Error naming the option; unknown names get the nearest
/// one.
std::unique_ptr<Env> make_env(const Config& config);

/// Sets one option of an environment's `config`, complete or not; `path` and `value` as for `set_path`. The numbers that the option
/// stands for (those of `distraction.difficulty`) are taken out, for the new value to imply: a complete config does not say which
/// of them were somebody's own.
void set_env_option(Config& config, std::string_view path, std::string_view value);

}  // namespace iap
