module;
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.envs;
import iap.core;
import iap.env;

namespace iap {

// The worlds are modules of their own; what is declared here belongs to none.
extern "C++" {
std::unique_ptr<Env> make_a1_indoor(Options& options);
std::unique_ptr<Env> make_a1_obstacle_course(Options& options);
std::unique_ptr<Env> make_ball_in_cup_catch(Options& options);
std::unique_ptr<Env> make_car_racing(Options& options);
std::unique_ptr<Env> make_cartpole_balance(Options& options);
std::unique_ptr<Env> make_cartpole_balance_sparse(Options& options);
std::unique_ptr<Env> make_cartpole_swingup(Options& options);
std::unique_ptr<Env> make_cartpole_swingup_sparse(Options& options);
std::unique_ptr<Env> make_cheetah_run(Options& options);
std::unique_ptr<Env> make_laikago_grid(Options& options);
std::unique_ptr<Env> make_laikago_stairs(Options& options);
std::unique_ptr<Env> make_laikago_stepstones(Options& options);
std::unique_ptr<Env> make_legged(Options& options);
std::unique_ptr<Env> make_reacher_easy(Options& options);
std::unique_ptr<Env> make_reacher_hard(Options& options);
std::unique_ptr<Env> make_take_cover(Options& options);
std::unique_ptr<Env> make_walker_run(Options& options);
std::unique_ptr<Env> make_walker_stand(Options& options);
std::unique_ptr<Env> make_walker_walk(Options& options);
}

std::span<const EnvEntry> env_catalog() {
  static const std::string both = R"({"pixels": [48, 64], "state": true})";
  static const std::vector<EnvEntry> catalog{
      {"a1-indoor", "walk through the doors of rooms, or of a scanned building, on four legs with a depth camera (v1 section 5.3)",
       R"({"pixels": [48, 64], "state": true, "view": "camera"})", make_a1_indoor, R"({"view": "behind"})"},
      {"a1-obstacle-course", "walk ahead past walls on a raised platform, on four legs with a camera (v1 section 5.3)", both,
       make_a1_obstacle_course, R"({"view": "behind"})"},
      {"ball-in-cup-catch", "swing a ball on a string into a cup", both, make_ball_in_cup_catch},
      {"car-racing", "drive along a random road seen from above (AttentionAgent's CarRacing)", both, make_car_racing, "",
       R"({"rest": [0, -1, -1], "left": [-1], "right": [1], "up": [0, 2], "down": [0, 0, 2]})"},
      {"cartpole-balance", "keep a pole upright on a cart", both, make_cartpole_balance},
      {"cartpole-balance-sparse", "the same, paid only while upright and near the middle", both, make_cartpole_balance_sparse},
      {"cartpole-swingup", "swing a pole up and balance it on a cart", both, make_cartpole_swingup},
      {"cartpole-swingup-sparse", "the same, paid only while upright and near the middle", both, make_cartpole_swingup_sparse},
      {"cheetah-run", "run as fast as possible, up to 10 m/s", both, make_cheetah_run},
      {"laikago-grid", "choose footholds for a robot on four legs that crosses a grid of small stones", both, make_laikago_grid,
       R"({"depth": false})"},
      {"laikago-stairs", "choose footholds for a robot on four legs that climbs stairs",
       R"({"pixels": [48, 64], "state": true, "time_limit": 10})", make_laikago_stairs, R"({"depth": false})"},
      {"laikago-stepstones", "choose footholds for a robot on four legs that crosses stones with gaps, seen by two depth cameras",
       both, make_laikago_stepstones, R"({"depth": false})"},
      {"legged", "walk ahead on four legs (A1, Laikago or a URDF file), on Bullet or MuJoCo", both, make_legged},
      {"reacher-easy", "reach a target of 5 cm with an arm of two links", both, make_reacher_easy},
      {"reacher-hard", "reach a target of 1.5 cm with an arm of two links", both, make_reacher_hard},
      {"take-cover", "step aside from the fireballs of imps, in the first person (AttentionAgent's DoomTakeCover)",
       R"({"pixels": [48, 64], "state": true, "art": "procedural", "modification": "text"})", make_take_cover},
      {"walker-run", "stand up and run at 8 m/s on two legs", both, make_walker_run},
      {"walker-stand", "stand up on two legs and stay so", both, make_walker_stand},
      {"walker-walk", "stand up and walk at 1 m/s on two legs", both, make_walker_walk},
  };
  return catalog;
}

}  // namespace iap
