#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lua/lua.hpp"
import iap.attention;
import iap.core;
import iap.env;
import iap.optim;
import iap.policy;

namespace iap {

/// The objects that scripts hold. One struct per class: what Lua owns, how it prints, and what it means in an option table.

struct EnvObject {
  static constexpr const char* class_name = "env";
  std::unique_ptr<Env> env;
  std::string describe() const;
  /// What it was given, for options that are set later to take along what follows from them.
  Config config() const { return env->spec().given; }
};

struct ImageObject {
  static constexpr const char* class_name = "image";
  Image image;
  std::string describe() const;
};

/// A description of blocks, not yet built on an environment.
struct BlockBlueprint {
  static constexpr const char* class_name = "blueprint";
  Config architecture;
  std::string describe() const;
  Config config() const { return architecture; }
};

struct PolicyObject {
  static constexpr const char* class_name = "policy";
  Policy policy;
  Config metadata;
  std::string describe() const;
};

struct OptimizerBlueprint {
  static constexpr const char* class_name = "optimizer";
  Config options;
  std::string describe() const;
  Config config() const { return options; }
};

/// An optimizer at work, and the population it asked for.
struct OptimizerObject {
  static constexpr const char* class_name = "search";
  std::unique_ptr<Optimizer> optimizer;
  std::vector<float> population;
  std::string describe() const;
};

struct KeyDatabaseObject {
  static constexpr const char* class_name = "key_database";
  KeyDatabase database;
  std::string describe() const;
};

/// What an argument says about an environment: an env object, a name, or a table. @throws Error naming the argument.
Config env_config(const lua::Call& call, int argument, const char* what);

/// Option `trust`: whether Lua text inside a policy file may do what a script may.
Trust read_trust(Options& options);
/// Of a policy that is loaded already. @throws Error for trust, which would change nothing any more.
void refuse_trust(const lua::Call& call, Trust trust);

/// Pushes an image that Lua owns; of what is borrowed, a copy.
int give_image(lua::Call& call, Image image);
int give_image(lua::Call& call, const ImageView& image);

/// Pushes {vector = {...}, images = {name = image}} with copies of the observation.
int give_observation(lua::Call& call, const ObservationSpec& spec, const Observation& observation);

/// An observation read back from such a table; the images stay in Lua.
struct ObservationReader {
  ObservationReader(const lua::Call& call, int argument, const ObservationSpec& spec);
  std::vector<float> vector;
  std::vector<ImageView> images;
  Observation view() const { return {images, vector}; }
};

/// Checks what can be checked of a block without an environment: names and types of options. Gives its completed config where it
/// could be built. @throws Error naming block and option.
Config check_block(const Config& block);

}  // namespace iap
