module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
module iap.sim;
import iap.core;
#include "mjcf_counts.hpp"

namespace iap {
namespace {

constexpr double most_bodies = 10'000, most_geoms = 10'000;

std::string count_text(double count) { return count < 1e15 ? fixed_text(count, 0) : general_text(count, 6); }

/// Of more than `most` of `things`.
std::string beyond(double count, double most, std::string_view things, std::string_view remedy) {
  if (count <= most) return "";
  return text("with it the model has ", count_text(count), " ", things, "; at most ", count_text(most), " are taken, so ", remedy);
}

/// Of a joint; of a word that is none, as of what is written in another way, the most that there is.
double freedom_of_joint(std::string_view type) { return type == "hinge" || type == "slide" ? 1 : type == "ball" ? 3 : 6; }

/// What a composite has at most: degrees of freedom of each of its bodies, and bodies that hang on each other.
struct Composite {
  double freedom, chain;
};

Composite composite_of(std::string_view type, std::span<const double> count, double bodies) {
  if (type == "particle" || type == "grid") return {3, 1};
  if (type == "box" || type == "cylinder" || type == "ellipsoid") return {1, 1};
  // Two hinges, twist and stretch.
  if (type == "cloth" && count.size() > 1) return {4, std::max(count[0], 1.0) + std::max(count[1], 1.0)};
  return {4, bodies};
}

}  // namespace

std::string MjcfCounts::add_element(std::string_view element) {
  constexpr double most_elements = 50'000, most_defaults = 1000, most_keys = 1000;
  if (element == "default")
    if (std::string wrong = beyond(static_cast<double>(++defaults_), most_defaults, "elements 'default'", "join classes");
        !wrong.empty())
      return wrong;
  if (element == "key")
    if (std::string wrong = beyond(static_cast<double>(++keys_), most_keys, "keyframes", "leave some out"); !wrong.empty())
      return wrong;
  return beyond(static_cast<double>(++elements_), most_elements, "elements", "leave some out");
}

std::string MjcfCounts::add_reference() {
  constexpr std::size_t most_references = 20'000;
  if (++references_ <= most_references) return "";
  return text("with it the model names files more than ", most_references, " times; join meshes, or leave some out");
}

std::string MjcfCounts::add_body() {
  return beyond(++bodies_, most_bodies, "bodies, those of composites among them", "leave some out");
}

std::string MjcfCounts::add_geom() {
  return beyond(++geoms_, most_geoms, "geoms, those of composites among them", "join some to meshes");
}

std::string MjcfCounts::add_joint(std::string_view type, bool in_default) {
  if (in_default) {
    if (!type.empty()) freedom_of_untyped_ = std::max(freedom_of_untyped_, freedom_of_joint(type));
  } else if (type.empty()) {
    ++untyped_joints_;
  } else {
    freedom_ += freedom_of_joint(type);
  }
  return freedom_complaint();
}

std::string MjcfCounts::add_composite(std::string_view type, std::span<const double> count) {
  // A step takes the cube of what hangs in a chain; that of nested elements ends where they do.
  constexpr double most_chain = 500;
  double bodies = 1;
  for (const double along : count) bodies *= std::max(along, 1.0);
  bodies_ += bodies;
  geoms_ += bodies + 1;  // boxes have one at their centre, too
  for (const std::string& wrong :
       {beyond(bodies_, most_bodies, "bodies, those of composites among them", "make the composite smaller"),
        beyond(geoms_, most_geoms, "geoms, those of composites among them", "make the composite smaller")})
    if (!wrong.empty()) return wrong;
  const Composite composite = composite_of(type, count, bodies);
  if (composite.chain > most_chain)
    return text("a chain of ", count_text(composite.chain), " bodies; at most ", count_text(most_chain),
                " are taken, so make the composite shorter");
  freedom_ += composite.freedom * bodies;
  return freedom_complaint();
}

std::string MjcfCounts::freedom_complaint() const {
  constexpr double most_freedom = 10'000;  // MuJoCo's stack takes 40 bytes of the square
  const double freedom = freedom_ + untyped_joints_ * freedom_of_untyped_;
  if (freedom <= most_freedom) return "";
  return text("with it the model may have ", count_text(freedom), " degrees of freedom; at most ", count_text(most_freedom),
              " are taken (", freedom_of_untyped_, " of a joint whose type is not written), so leave joints out");
}

std::string MjcfCounts::add_length_range(const MjcfLengthRange& range) {
  constexpr double shortest_step = 1e-4, most_steps = 100'000;
  if (range.step && !(*range.step >= shortest_step))
    return text("'timestep' is ", *range.step, "; at least ", shortest_step, " is taken");
  if (range.step) range_step_ = std::min(range_step_, *range.step);
  if (range.total && std::isnan(*range.total)) return "'inttotal' is nan; write a plain number";
  if (range.total) range_total_ = std::max(range_total_, *range.total);
  if (!(range_total_ <= most_steps * range_step_))
    return text("'inttotal' of ", range_total_, " s in steps of ", range_step_, " s; at most ", count_text(most_steps),
                " steps are taken, so make it shorter");
  if (range.mode == "none")
    ranges_of_none_ = true;
  else if (range.mode == "muscle")
    ranges_of_muscles_ = true;
  else if (!range.mode.empty())
    ranges_of_all_ = true;
  return "";
}

void MjcfCounts::add_actuator(bool muscle, bool in_default) {
  muscles_ |= muscle;
  if (!in_default) ++actuators_;
}

std::string MjcfCounts::complaint() const {
  constexpr double most_steps = 2'000'000, directions = 2;
  if (!ranges_of_all_ && (!muscles_ || (ranges_of_none_ && !ranges_of_muscles_))) return "";
  const double steps = directions * static_cast<double>(actuators_) * range_total_ / range_step_;
  if (steps <= most_steps) return "";
  return text("to find the length ranges of ", actuators_, " actuators MuJoCo simulates ", count_text(steps), " steps; at most ",
              count_text(most_steps),
              " are taken, so write them and give <lengthrange mode=\"none\"/>, or make its 'inttotal' shorter");
}

double MjcfCounts::user_bytes() const {
  constexpr double copies = 2;
  return copies * sizeof(double) * user * (static_cast<double>(elements_) + bodies_ + geoms_);
}

std::string heights_complaint(double rows, double columns) {
  constexpr double fewest = 2, most = 1025 * 1025;  // terrains often have a power of two and one more
  if (rows < fewest || columns < fewest)
    return text(rows, " x ", columns, " heights; it needs at least ", fewest, " rows and ", fewest, " columns");
  if (rows * columns > most)
    return text(rows, " x ", columns, " heights; at most ", count_text(most), " are taken, so make it coarser");
  return "";
}

}  // namespace iap
