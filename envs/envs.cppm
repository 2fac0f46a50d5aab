module;
#include <memory>
#include <span>
#include <string>
#include <string_view>
export module iap.envs;
import iap.core;
import iap.env;

export namespace iap {

/// Builds an environment from its options, `name` among them. @throws Error that begins with options.owner().
using EnvMaker = std::unique_ptr<Env> (*)(Options& options);

struct EnvEntry {
  std::string name;
  std::string summary;
  std::string example;  ///< JSON: the options that the contract tests try, beside none at all and the common ones
  EnvMaker make;
  /// JSON: the options with which it draws, instead of what a robot's own camera sees, the robot from outside, in colour. Empty:
  /// its pictures are from outside anyway, or there is no such view.
  std::string outside = {};
  /// JSON: what a person's keys do, as the option `keys` takes it. Empty: arrows move the first two actions.
  std::string keys = {};
};

/// Every environment this build knows.
std::span<const EnvEntry> env_catalog();

/// Builds the environment that `config` describes: {name = "cheetah-run", pixels = {100, 100}, action_repeat = 4, ...}.
/// A name that ends in ".lua" is an environment written in Lua, for which the script layer must be registered (iap::register_lua;
/// `import iap;` does). The common wrapper options apply to all.
/// The spec has `config` as it was `given` and as it became (`config`), with every default. @throws Error naming the option;
/// unknown names get the nearest one.
std::unique_ptr<Env> make_env(const Config& config);

/// Whether an environment's `option` is what iap itself writes beside the name of a file: its text, what that needs, where it came
/// from.
bool is_file_record(std::string_view option);
/// Takes out of `env` what belongs to the file that `option`, which was set just now, named before.
void forget_file(Config& env, std::string_view option);

/// Says who builds environments written in Lua: the script layer, which lies above this module. Thread-safe.
void register_script_envs(EnvMaker make) noexcept;

/// What somebody may change of an environment that a file holds as `completed`: the options that it was given. These are
/// `recorded`, if the file has them and they still become `completed`; otherwise (an older file, a default that changed since) what
/// is left of `completed` when everything goes that the rest of it implies, such as the numbers of a difficulty.
Config given_env(const Config& completed, const Config* recorded);

/// Of the libraries behind the worlds' doors.
LibraryVersions envs_versions();

/// What a policy's metadata hold about its environment: "env", completed, and "env_given"; nothing of one that `make_env` did not
/// make.
Config env_record(const EnvSpec& spec);

/// The completed environment that a policy's metadata name; null if they name none, as older files say with the value null.
const Config* recorded_env(const Config& metadata);

}  // namespace iap
