module;
#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>
module iap.envs.distraction;
import iap.core;

namespace iap {
namespace {

void forget(Config& table, std::string_view part, std::initializer_list<std::string_view> keys) {
  auto& parts = *table.map();
  const auto found = parts.find(part);
  if (found == parts.end() || !found->second.map()) return;
  auto& options = *found->second.map();
  std::erase_if(options, [keys](const auto& entry) { return std::ranges::find(keys, entry.first) != keys.end(); });
}

void forget_speeds(Config& table, std::string_view part) {
  forget(table, part, {"max_vel", "vel_std", "max_roll_vel", "roll_std", "step_std"});
}

}  // namespace

void forget_derived_distractions(Config& table, std::string_view changed) {
  constexpr std::string_view dynamic = "dynamic", dynamic_part = ".dynamic";
  if (!table.map()) return;
  if (changed == "difficulty") {
    forget(table, "background", {"count"});
    forget(table, "camera", {"horizontal_delta", "vertical_delta", "roll_delta", "zoom_in", "zoom_out"});
    forget(table, "colour", {"max_delta"});
    for (const auto part : {"camera", "colour"}) forget_speeds(table, part);
  } else if (changed == dynamic) {
    for (const auto part : {"background", "camera", "colour"}) {
      forget(table, part, {dynamic});
      forget_speeds(table, part);
    }
  } else if (changed.ends_with(dynamic_part)) {
    forget_speeds(table, changed.substr(0, changed.size() - dynamic_part.size()));
  }
}

}  // namespace iap
