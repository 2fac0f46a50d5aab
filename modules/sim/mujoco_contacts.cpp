module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"

namespace iap {
namespace {

double normal_force(const mjModel& model, const mjData& data, int contact) {
  std::array<mjtNum, 6> force{};
  mj_contactForce(&model, &data, contact, force.data());
  return force[0];
}

// The geoms in either order: which comes first follows from how pairs were found.
std::uint64_t pair_of(const mjContact& contact) {
  const auto [low, high] = std::minmax(contact.geom1, contact.geom2);
  return std::uint64_t{static_cast<std::uint32_t>(low)} << 32 | static_cast<std::uint32_t>(high);
}

double squared_distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

void SolvedContacts::reserve(int most) {
  const auto count = static_cast<std::size_t>(std::max(most, 0));
  solved_.reserve(count);
  present_.reserve(count);
  forces_.reserve(count);
}

void SolvedContacts::keep(const mjModel& model, const mjData& data) {
  solved_.clear();
  for (int i = 0; i < data.ncon; ++i) {
    const mjContact& contact = data.contact[i];
    if (contact.efc_address < 0) continue;
    solved_.push_back({pair_of(contact), {contact.pos[0], contact.pos[1], contact.pos[2]}, normal_force(model, data, i), i, false});
  }
  kept_ = true;
  matched_ = false;
}

double SolvedContacts::force(const mjModel& model, const mjData& data, int index) {
  if (!kept_) return normal_force(model, data, index);
  if (!matched_) match(data);
  return forces_[static_cast<std::size_t>(index)];
}

void SolvedContacts::match(const mjData& data) {
  forces_.assign(static_cast<std::size_t>(data.ncon), 0);
  present_.clear();
  for (int i = 0; i < data.ncon; ++i) {
    const mjContact& contact = data.contact[i];
    present_.push_back({pair_of(contact), {contact.pos[0], contact.pos[1], contact.pos[2]}, 0, i, false});
  }
  const auto order = [](const Contact& a, const Contact& b) { return std::pair(a.pair, a.index) < std::pair(b.pair, b.index); };
  std::ranges::sort(solved_, order);
  std::ranges::sort(present_, order);
  for (auto solved = solved_.begin(), present = present_.begin(); solved != solved_.end() && present != present_.end();) {
    const auto pair = std::min(solved->pair, present->pair);
    const auto other = [pair](const Contact& contact) { return contact.pair != pair; };
    const auto solved_end = std::find_if(solved, solved_.end(), other), present_end = std::find_if(present, present_.end(), other);
    match_pair({solved, solved_end}, {present, present_end});
    solved = solved_end;
    present = present_end;
  }
  matched_ = true;
}

// The nearest two belong together, then the nearest of the others; a pair of geoms has fifty contacts at most.
void SolvedContacts::match_pair(std::span<Contact> solved, std::span<Contact> present) {
  for (std::size_t round = 0; round < std::min(solved.size(), present.size()); ++round) {
    Contact *from = nullptr, *to = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (Contact& now : present)
      for (Contact& before : solved) {
        if (now.taken || before.taken) continue;
        const double distance = squared_distance(now.position, before.position);
        if (!(distance < least)) continue;
        least = distance;
        from = &before;
        to = &now;
      }
    if (!from) return;
    from->taken = to->taken = true;
    forces_[static_cast<std::size_t>(to->index)] = from->force;
  }
}

}  // namespace iap
