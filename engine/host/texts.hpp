#pragma once
// Descriptions that callers give as texts.
#include <memory>
#include <string>
#include <vector>

#include "host/guard.hpp"
import iap.core;
import iap.env;
#include "core/files_read.hpp"

namespace iap::host {

/// The table that `text` is, in JSON or Lua, which a host gave as `source`. @throws Error with the line; BadArgument for a NUL in
/// what may be a name, and for a list with a null.
Config host_table(const char* text, const std::string& source);

/// The environment that `text` describes: a table, or a name alone. @throws BadArgument naming function and argument, and the line.
Config env_text(const char* function, const char* argument, const char* text);

/// Whether `text` is a table rather than a name or a path.
bool is_table(const char* text);

/// Makes the environment of `config`, which came as `argument`. @throws BadArgument.
std::unique_ptr<Env> make_named_env(const char* function, const char* argument, const Config& config);

/// `env` for environments that are made of it later on, as more workers need one and drawings do: relative paths in it are those of
/// the folder that the process is in now, which the host may leave meanwhile.
Config placed(Config env);

/// `files` by the names that an environment of a placed table gives them, too.
FilesRead placed(const FilesRead& files);

/// What an environment promises, in the form of the C interface, and the memory behind it, which stays in place.
class Described {
 public:
  explicit Described(const EnvSpec& spec);
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  void describe(const char* function, iap_env_spec* out) const;

 private:
  EnvSpec spec_;
  std::string config_;
  std::vector<const char*> names_;
};

}  // namespace iap::host
