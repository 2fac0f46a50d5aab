#pragma once
#include "lua/lua.hpp"

namespace iap {

/// The Lua faces: each opener adds its table or functions to the `iap` table at the top of the stack, which it leaves there.
void open_core_face(lua_State* state);
void open_env_face(lua_State* state);
void open_image_face(lua_State* state);
void open_blueprint_face(lua_State* state);
void open_key_database_face(lua_State* state);  ///< after the blueprints, whose attention table it completes
void open_policy_face(lua_State* state);        ///< after the blueprints, whose table it completes
void open_optim_face(lua_State* state);
void open_train_face(lua_State* state);
void open_report_face(lua_State* state);
void open_figure_face(lua_State* state);  ///< after the reports, whose table it completes
void open_theory_face(lua_State* state);
void open_legged_face(lua_State* state);
/// Adds the constructors of generators, gaits and stances to the table at the top of the stack, `iap.legged`.
void add_legged_objects(lua_State* state);

/// lua_CFunction: pushes the `iap` table, complete.
int open_iap(lua_State* state);

}  // namespace iap
