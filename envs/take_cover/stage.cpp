module;
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/fork_mutex.hpp"
module iap.envs.take_cover;
import iap.core;
#include "core/file_identity.hpp"

namespace iap::take_cover {

Stage::Stage(Art used, Scenery looks, bool with_sign) : art(std::move(used)), scenery(looks) {
  if (with_sign) sign = draw_sign();
}

std::shared_ptr<const Stage> shared_stage(const std::optional<std::filesystem::path>& wad, Scenery scenery, bool sign) {
  static ForkMutex mutex;
  static std::map<std::tuple<std::string, std::string, bool, bool, bool>, std::weak_ptr<const Stage>> known;
  const std::lock_guard lock(mutex);
  std::error_code ignored;
  const std::string path = wad ? std::filesystem::absolute(*wad, ignored).string() : "", identity = wad ? file_identity(*wad) : "";
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& kept = known[{path, identity, scenery.high_walls, scenery.other_floor, sign}];
  auto stage = kept.lock();
  if (!stage) kept = stage = std::make_shared<const Stage>(wad ? wad_art(*wad) : procedural_art(), scenery, sign);
  return stage;
}

}  // namespace iap::take_cover
