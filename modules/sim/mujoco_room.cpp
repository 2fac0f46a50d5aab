module;
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"

namespace iap {
namespace {

// What MuJoCo takes where a text says nothing of <size>.
constexpr int usual_contacts = 100, usual_rows = 500;
constexpr int spare_rows = 16;
// A world keeps 12 bytes for each pair of rows, and clears them when it begins anew.
constexpr int most_contacts = 500, most_rows = 2000;
constexpr int contacts_a_pair = 8;

/// Rows that a contact of `dimensions` takes.
int rows_of(const mjModel& model, int dimensions) {
  return dimensions == 1 ? 1 : model.opt.cone == mjCONE_PYRAMIDAL ? 2 * (dimensions - 1) : dimensions;
}

/// Contacts that are not many for what moves here.
double likely_contacts(const mjModel& model) {
  double contacts = static_cast<double>(contacts_a_pair) * model.npair;
  for (int geom = 0; geom < model.ngeom; ++geom) {
    if (model.body_weldid[model.geom_bodyid[geom]] == 0 || (model.geom_contype[geom] | model.geom_conaffinity[geom]) == 0) continue;
    const int type = model.geom_type[geom];
    contacts += likely_contacts_of(type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE || type == mjGEOM_ELLIPSOID);
  }
  return contacts;
}

/// Contacts that two geoms of these types have at most.
double contacts_at_most(int one, int other) {
  const auto [first, second] = std::minmax(one, other);
  if (first == mjGEOM_HFIELD || second > mjGEOM_CAPSULE || second == mjGEOM_PLANE)
    return std::numeric_limits<double>::infinity();  // nobody knows
  return second == mjGEOM_SPHERE || first == mjGEOM_SPHERE ? 1 : 2;
}

/// Contacts that there can be at once; more than `enough` need not be counted.
double contacts_at_most(const mjModel& model, double enough) {
  if ((model.opt.disableflags & mjDSBL_CONTACT) != 0) return 0;
  double contacts = 0;
  const auto type = [&](int geom) { return model.geom_type[geom]; };
  for (int pair = 0; pair < model.npair; ++pair)
    contacts += contacts_at_most(type(model.pair_geom1[pair]), type(model.pair_geom2[pair]));
  const auto weld = [&](int geom) { return model.body_weldid[model.geom_bodyid[geom]]; };
  std::vector<int> touching;
  for (int geom = 0; geom < model.ngeom; ++geom)
    if ((model.geom_contype[geom] | model.geom_conaffinity[geom]) != 0) touching.push_back(geom);
  // Of those that stand no two meet.
  const auto moving = std::stable_partition(touching.begin(), touching.end(), [&](int geom) { return weld(geom) == 0; });
  for (auto one = moving; one != touching.end(); ++one)
    for (auto other = touching.begin(); other != one && contacts <= enough; ++other) {
      const bool meet = (model.geom_contype[*one] & model.geom_conaffinity[*other]) != 0 ||
                        (model.geom_contype[*other] & model.geom_conaffinity[*one]) != 0;
      if (meet && weld(*one) != weld(*other)) contacts += contacts_at_most(type(*one), type(*other));
    }
  return contacts;
}

/// Rows of all that is no contact.
double other_rows(const mjModel& model) {
  constexpr double rows_of_a_weld = 6;
  double rows = rows_of_a_weld * model.neq + model.ntendon;
  for (int tendon = 0; tendon < model.ntendon; ++tendon) rows += 2 * model.tendon_limited[tendon];
  for (int joint = 0; joint < model.njnt; ++joint) rows += 2 * model.jnt_limited[joint];
  for (int freedom = 0; freedom < model.nv; ++freedom) rows += model.dof_frictionloss[freedom] > 0;
  return rows;
}

int at_least(int usual, double likely, int most) { return std::max(usual, static_cast<int>(std::min<double>(likely, most))); }

}  // namespace

// Boxes that lie in a heap have about four each.
int likely_contacts_of(bool round) { return round ? 4 : 8; }

RobotRoom robot_room(double contacts, double joints) {
  constexpr int robot_contacts = 150, robot_rows = 600, rows_a_contact = 3, rows_a_joint = 2;
  const int room = at_least(robot_contacts, contacts, most_contacts);
  return {room, at_least(robot_rows, rows_a_contact * static_cast<double>(room) + rows_a_joint * joints, most_rows)};
}

bool may_hold(const mjModel& model) { return likely_contacts(model) + other_rows(model) > 0; }

void make_room(mjModel& model) {
  const double contacts = likely_contacts(model), others = other_rows(model);
  if (model.nconmax == usual_contacts) model.nconmax = at_least(usual_contacts, contacts, most_contacts);
  if (model.njmax != usual_rows) return;
  int dimensions = 1;
  for (int geom = 0; geom < model.ngeom; ++geom) dimensions = std::max(dimensions, model.geom_condim[geom]);
  for (int pair = 0; pair < model.npair; ++pair) dimensions = std::max(dimensions, model.pair_dim[pair]);
  const int rows_a_contact = rows_of(model, dimensions);
  // Less room than usual changes no bit where there cannot be more rows, and is sooner cleared.
  const double sure = rows_a_contact * contacts_at_most(model, usual_rows) + others + spare_rows;
  if (sure < usual_rows) {
    model.njmax = static_cast<int>(sure);
    return;
  }
  const double usual = usual_rows + model.neq + model.nv;
  model.njmax = at_least(usual_rows, rows_a_contact * contacts + others, most_rows);
  // As MuJoCo makes room for what it computes with so many rows.
  constexpr double squares = 5, most_stack = 1 << 30;
  const double rows = model.njmax + model.neq + model.nv;
  const double stack = model.nstack + squares * (rows * rows - usual * usual);
  model.nstack = std::max(model.nstack, static_cast<int>(std::min(stack, most_stack)));
}

bool is_full(const mjData& data) {
  return data.warning[mjWARN_CONTACTFULL].number > 0 || data.warning[mjWARN_CNSTRFULL].number > 0;
}

void forget_full(mjData& data) { data.warning[mjWARN_CONTACTFULL].number = data.warning[mjWARN_CNSTRFULL].number = 0; }

void note_full(const std::string& name, const mjModel& model, const mjData& data, const char* remedy) {
  if (!is_full(data)) return;
  static ForkMutex mutex;
  static std::set<std::string> told;
  constexpr std::size_t most_told = 100;  // of models without end
  const std::lock_guard lock(mutex);
  if (told.size() >= most_told || !told.insert(name).second) return;
  const bool contacts = data.warning[mjWARN_CONTACTFULL].number > 0;
  const std::string what = contacts ? text(model.nconmax, " contacts") : text(model.njmax, " rows of constraints");
  const std::string own =
      text("write <size ", contacts ? text("nconmax=\"", 2 * std::max(model.nconmax, usual_contacts), "\" ") : "", "njmax=\"",
           2 * std::max(model.njmax, usual_rows), "\"/> into the MJCF, or let less touch");
  std::fputs(
      text("iap: ", one_line(name), ": MuJoCo has room for ", what, contacts ? "" : " (contacts, limits, equalities, friction)",
           ", and at ", general_text(data.time, 4),
           " s there were more, so that bodies fall through each other and the world is unstable; ", remedy ? remedy : own, "\n")
          .c_str(),
      stderr);
}

}  // namespace iap
