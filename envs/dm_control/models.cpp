module;
#include <string>
#include <string_view>
#include <vector>
module iap.envs.dm_control;
import iap.core;
import iap.sim;

// The texts are defined outside of any module, in the files that iap_embed writes.
extern "C++" {
namespace iap::embedded {
extern const std::string_view common_xml, ball_in_cup_xml, cartpole_xml, cheetah_xml, reacher_xml, walker_xml;
}
}

namespace iap {
namespace {

struct ModelText {
  std::string_view name;
  MujocoFile file;
};

std::vector<ModelText> model_texts() {
  return {{"ball_in_cup", {"ball_in_cup.xml", embedded::ball_in_cup_xml}},
          {"cartpole", {"cartpole.xml", embedded::cartpole_xml}},
          {"cheetah", {"cheetah.xml", embedded::cheetah_xml}},
          {"reacher", {"reacher.xml", embedded::reacher_xml}},
          {"walker", {"walker.xml", embedded::walker_xml}}};
}

}  // namespace

std::vector<MujocoFile> dm_control_files(std::string_view model) {
  for (const auto& entry : model_texts())
    if (entry.name == model) return {entry.file, {"common.xml", embedded::common_xml}};
  throw Error(text("dm_control: there is no model '", model, "'", did_you_mean(model, dm_control_models())));
}

std::vector<std::string> dm_control_models() {
  std::vector<std::string> names;
  for (const auto& entry : model_texts()) names.emplace_back(entry.name);
  return names;
}

}  // namespace iap
