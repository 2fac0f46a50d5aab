module;
#include <gnu/libc-version.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>
module iap.train;
import iap.core;
import iap.envs;
import iap.render;
import iap.sim;
import :settings;
#include "core/mathematics.hpp"

namespace iap {
namespace {

constexpr std::array<std::string_view, 4> that_compute{"Box2D", "Bullet", "Embree", "MuJoCo"};
constexpr const char* libm = "libm";

std::string sentence(const std::string& before, const std::string& now, const std::string& remedy) {
  return text("the run was made with ", before, " so far, goes on with ", now,
              ": from here on its last bits differ from those of a run that stays with one of them; ", remedy);
}

/// Whether something else that differs already tells that the C library's functions come to other bits: its version, or the
/// portable instructions of one of them.
bool tells_of_libm(const Config& before, const Config& now) {
  const auto portable = [](const Config* instructions) {
    return instructions && instructions->string() && *instructions->string() == portable_instructions;
  };
  const Config *glibc = before.find("libraries")->find("glibc"), *instructions = before.find("instructions");
  return (glibc && *glibc != *now.find("libraries")->find("glibc")) ||
         (instructions && portable(instructions) != portable(now.find("instructions")));
}

}  // namespace

Config computed_with() {
  Config found;
  found["instructions"] = chosen_instructions();
  Config& libraries = found["libraries"];
  libraries["glibc"] = gnu_get_libc_version();
  libraries[libm] = text(mathematics());
  for (const auto& own : {envs_versions(), render_versions(), sim_versions()})
    for (const auto& [name, version] : own)
      if (std::ranges::find(that_compute, name) != that_compute.end()) libraries[name] = version;
  return found;
}

std::vector<std::string> computed_differently(const Config& before) {
  std::vector<std::string> sentences;
  const Config now = computed_with();
  const auto told = [](const Config& config) { return config.string() ? *config.string() : config.describe(); };
  const Config* instructions = before.find("instructions");
  if (instructions && *instructions != *now.find("instructions")) {
    const std::string name = told(*instructions);
    sentences.push_back(sentence(name + " instructions", told(*now.find("instructions")),
                                 text("`--instructions ", shell_word(name), "` keeps them where the machine has these")));
  }
  const Config* libraries = before.find("libraries");
  if (!libraries || !libraries->map()) return sentences;
  for (const auto& [name, version] : *now.find("libraries")->map()) {
    const Config* old = libraries->find(name);
    if (!old || *old == version) continue;
    if (name != libm)
      sentences.push_back(sentence(text(name, " ", told(*old)), told(version), "machines with the same packages keep them"));
    else if (!tells_of_libm(before, now))
      sentences.push_back(sentence(text("functions of the C library that come to ", told(*old)),
                                   text("ones that come to ", told(version)),
                                   "the same GLIBC_TUNABLES on a processor of the same kind keeps them"));
  }
  return sentences;
}

}  // namespace iap
