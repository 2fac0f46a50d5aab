module;
#include <optional>
#include <string>
#include <vector>
module iap.render;
import iap.core;

namespace iap {

/// @lua options env.render
/// How pictures are drawn: the table `render` of an environment.
/// @option path "cpu"|"gl" = "cpu" - our ray caster, or OpenGL as DM Control draws; robots on four legs have the caster alone
/// @option shadows boolean = true - of lights that cast them
/// @option reflection boolean = true - of mirrors, such as floors
/// @option sky boolean = true - the texture of the sky; black without
/// @option samples integer 1..8 = 1 - rays per pixel: 1, 2, 4 or 8
/// @see pictures.md
DrawOptions read_draw_options(const Config& config, const std::string& owner) {
  Options options(owner, config);
  const DrawOptions standard;
  DrawOptions result;
  result.path = options.choice("path", {"cpu", "gl"}, "cpu") == "gl" ? DrawOptions::Path::gl : DrawOptions::Path::cpu;
  result.shadows = options.boolean("shadows", standard.shadows);
  result.reflection = options.boolean("reflection", standard.reflection);
  result.sky = options.boolean("sky", standard.sky);
  result.samples = static_cast<int>(options.integer_in("samples", 1, 8, standard.samples));
  if ((result.samples & (result.samples - 1)) != 0)
    options.fail(text("samples = ", result.samples, " is not possible; use 1, 2, 4 or 8"));
  options.finish();
  return result;
}

Config to_config(const DrawOptions& options) {
  Config config;
  config["path"] = options.path == DrawOptions::Path::gl ? "gl" : "cpu";
  config["shadows"] = options.shadows;
  config["reflection"] = options.reflection;
  config["sky"] = options.sky;
  config["samples"] = options.samples;
  return config;
}

}  // namespace iap
