#include "script/faces.hpp"
import iap.script;

namespace iap {

int open_iap(lua_State* state) {
  register_lua();
  luaL_checkstack(state, LUA_MINSTACK, "iap");
  lua::push_functions(state, "iap", ".", {});
  for (const lua::Opener face :
       {open_core_face, open_env_face, open_image_face, open_blueprint_face, open_key_database_face, open_policy_face,
        open_optim_face, open_train_face, open_report_face, open_figure_face, open_theory_face, open_legged_face})
    face(state);
  return 1;
}

}  // namespace iap
