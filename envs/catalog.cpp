module;
#include <memory>
#include <span>
#include <string>
#include <vector>
module iap.envs;
import iap.core;
import iap.env;

namespace iap {

std::unique_ptr<Env> make_car_racing(Options& options);
std::unique_ptr<Env> make_cartpole_swingup(Options& options);
std::unique_ptr<Env> make_cheetah_run(Options& options);
std::unique_ptr<Env> make_take_cover(Options& options);

std::span<const EnvEntry> env_catalog() {
  static const std::vector<EnvEntry> catalog{
      {"car-racing", "drive along a random road seen from above (AttentionAgent's CarRacing)",
       R"({"pixels": [48, 64], "state": true})", make_car_racing},
      {"cartpole-swingup", "swing a pole up and balance it on a cart", R"({"pixels": [48, 64], "state": true})",
       make_cartpole_swingup},
      {"cheetah-run", "run as fast as possible, up to 10 m/s", R"({"pixels": [48, 64], "state": true})", make_cheetah_run},
      {"take-cover", "step aside from the fireballs of imps, in the first person (AttentionAgent's DoomTakeCover)",
       R"({"pixels": [48, 64], "state": true, "art": "procedural", "modification": "text"})", make_take_cover},
  };
  return catalog;
}

}  // namespace iap
