#pragma once
#include <span>

#include "lua/lua.hpp"

namespace iap {

/// A kind of table that `data` hands out: a plain one, but for names that it cannot have, which are errors.
struct TaskTableKind {
  const char* what;                    ///< for messages
  std::span<const char* const> names;  ///< of its entries, which may be nil; none: a list of three numbers, with x, y and z
};

extern const TaskTableKind task_contact_kind, task_contact_position_kind, task_joint_kind;
/// Opener: makes the table on top one of that kind.
void set_task_table_kind(lua_State* state, const TaskTableKind& kind);

}  // namespace iap
