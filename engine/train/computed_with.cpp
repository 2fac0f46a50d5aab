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

namespace iap {
namespace {

constexpr std::array<std::string_view, 4> that_compute{"Box2D", "Bullet", "Embree", "MuJoCo"};

std::string sentence(const std::string& before, const std::string& now, const std::string& remedy) {
  return text("the run was made with ", before, " so far, goes on with ", now,
              ": from here on its last bits differ from those of a run that stays with one of them; ", remedy);
}

}  // namespace

Config computed_with() {
  Config found;
  found["instructions"] = chosen_instructions();
  Config& libraries = found["libraries"];
  libraries["glibc"] = gnu_get_libc_version();
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
    if (old && *old != version)
      sentences.push_back(sentence(text(name, " ", told(*old)), told(version), "machines with the same packages keep them"));
  }
  return sentences;
}

}  // namespace iap
