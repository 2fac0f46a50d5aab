module;
#include <string>
#include <string_view>
#include <vector>
module iap.sim;
import iap.core;

namespace iap {

int RobotDescription::link(std::string_view link) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].name == link) return static_cast<int>(i);
    known.push_back(links[i].name);
  }
  throw Error(text("the robot '", name, "' has no link '", link, "'", did_you_mean(link, known)));
}

std::vector<std::string> RobotDescription::joints() const {
  std::vector<std::string> moving;
  for (const auto& link : links)
    if (link.kind != JointKind::fixed) moving.push_back(link.joint);
  return moving;
}

double RobotDescription::mass() const {
  double sum = 0;
  for (const auto& link : links) sum += link.mass;
  return sum;
}

}  // namespace iap
