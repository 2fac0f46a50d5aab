module;
#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "../mujoco_internal.hpp"
#include "robot_engine.hpp"

namespace iap {
namespace {

std::string escaped(std::string_view name) {
  std::string result;
  for (const char c : name) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  return result;
}

std::string numbers(std::span<const double> values) {
  std::string result;
  for (const double value : values) result += (result.empty() ? "" : " ") + general_text(value, 17);
  return result;
}

std::string attributes(const Placement& place) {
  return text("pos=\"", numbers(place.position), "\" quat=\"", numbers(quaternion_of(place.rotation)), "\"");
}

class MjcfWriter {
 public:
  MjcfWriter(const RobotDescription& robot, bool self_collision)
      : robot_(robot), model_(make_model(robot)), affinity_(self_collision ? 3 : 2) {}

  std::string write(double timestep, int boxes) {
    body(0, "    ");
    std::string floor;
    for (int i = 0; i < boxes; ++i)
      floor += text("    <geom name=\"terrain", i,
                    "\" class=\"terrain\" type=\"box\" size=\"1 1 1\" contype=\"0\" conaffinity=\"0\"/>\n");
    return text("<mujoco model=\"", escaped(robot_.name), "\">\n", "  <compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n",
                "  <option timestep=\"", general_text(timestep, 17),
                "\" cone=\"elliptic\" impratio=\"10\" noslip_iterations=\"10\"/>\n", size(), "  <default>\n",
                "    <geom contype=\"1\" conaffinity=\"", affinity_, "\"/>\n", "    <joint solreflimit=\"0.005 1\"/>\n",
                "    <default class=\"terrain\"><geom contype=\"2\" conaffinity=\"1\" priority=\"1\"/></default>\n",
                "  </default>\n", assets_.empty() ? "" : "  <asset>\n" + assets_ + "  </asset>\n", "  <worldbody>\n",
                "    <geom name=\"floor\" class=\"terrain\" type=\"plane\" size=\"0 0 1\"/>\n", floor, bodies_, "  </worldbody>\n",
                "</mujoco>\n");
  }

 private:
  void body(int number, const std::string& indent) {
    const RobotBody& body = model_.bodies[number];
    const RobotLink& root = robot_.links[body.root];
    const auto& i = body.inertia;
    bodies_ += text(indent, "<body name=\"", escaped(mjcf_body_name(root.name)), "\"",
                    number == 0 ? std::string() : " " + attributes(body.joint), ">\n");
    bodies_ += number == 0 ? text(indent, "  <freejoint/>\n") : joint(root, indent);
    bodies_ += text(indent, "  <inertial pos=\"", numbers(body.centre), "\" mass=\"", general_text(body.mass, 17),
                    "\" fullinertia=\"", numbers(std::array{i[0], i[4], i[8], i[1], i[2], i[5]}), "\"/>\n");
    for (const int link : body.links) geoms(link, indent);
    for (std::size_t child = 1; child < model_.bodies.size(); ++child)
      if (model_.bodies[child].parent == number) this->body(static_cast<int>(child), indent + "  ");
    bodies_ += indent + "</body>\n";
  }

  std::string size() const {
    double contacts = 0;
    for (const auto& link : robot_.links)
      for (const auto& shape : link.collisions) contacts += likely_contacts_of(shape.kind == RobotShape::Kind::sphere);
    const RobotRoom room = robot_room(contacts, static_cast<double>(model_.bodies.size()));
    return text("  <size njmax=\"", room.rows, "\" nconmax=\"", room.contacts, "\"/>\n");
  }

  std::string joint(const RobotLink& link, const std::string& indent) const {
    std::string result = text(indent, "  <joint name=\"", escaped(link.joint), "\" type=\"",
                              link.kind == JointKind::prismatic ? "slide" : "hinge", "\" axis=\"", numbers(link.axis), "\"");
    if (link.kind != JointKind::continuous)
      result += text(" limited=\"true\" range=\"", numbers(std::array{link.lower, link.upper}), "\"");
    return result + "/>\n";
  }

  void geoms(int link, const std::string& indent) {
    constexpr std::array<std::string_view, 4> types{"box", "sphere", "cylinder", "mesh"};
    constexpr std::array<std::size_t, 4> sizes{3, 1, 2, 0};
    int number = 0;
    for (const auto& shape : robot_.links[link].collisions) {
      const auto kind = static_cast<std::size_t>(shape.kind);
      const std::string name = text(escaped(robot_.links[link].name), ":", number++);
      const Placement place = model_.link_place[link] * shape.placement;
      bodies_ += text(indent, "  <geom name=\"", name, "\" type=\"", types[kind], "\" ", attributes(place));
      if (sizes[kind] > 0) {
        bodies_ += text(" size=\"", numbers(std::span(shape.size).first(sizes[kind])), "\"/>\n");
      } else {
        bodies_ += text(" mesh=\"", name, "\"/>\n");
        assets_ += text("    <mesh name=\"", name, "\" vertex=\"", numbers(shape.points), "\"/>\n");
      }
    }
  }

  const RobotDescription& robot_;
  RobotModel model_;
  int affinity_;
  std::string assets_, bodies_;
};

}  // namespace

// No two links get one name: what begins so and goes on in lines gets one line more.
std::string mjcf_body_name(const std::string& link) {
  constexpr std::string_view taken = "world";
  const bool again = link.starts_with(taken) && link.find_first_not_of('_', taken.size()) == std::string::npos;
  return again ? link + "_" : link;
}

std::string robot_mjcf(const RobotDescription& robot, double timestep, bool self_collision, int boxes) {
  return MjcfWriter(robot, self_collision).write(timestep, boxes);
}

}  // namespace iap
