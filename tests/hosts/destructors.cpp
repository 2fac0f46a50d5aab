// A host in C++ whose static objects hold policies, environments, batches and rollouts, and use and free them after main: those
// made before main, and those made in main, which outlive what the library keeps for itself. usage: destructors linked|loaded
#include <dlfcn.h>
#include <iap.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "host.h"

namespace {

// The functions of the library, linked or out of dlopen.
struct Calls {
  decltype(&iap_env_make) env_make;
  decltype(&iap_env_reset) env_reset;
  decltype(&iap_env_step) env_step;
  decltype(&iap_env_draw) env_draw;
  decltype(&iap_env_free) env_free;
  decltype(&iap_batch_make) batch_make;
  decltype(&iap_batch_reset) batch_reset;
  decltype(&iap_batch_step) batch_step;
  decltype(&iap_batch_free) batch_free;
  decltype(&iap_rollouts_make) rollouts_make;
  decltype(&iap_rollouts_run) rollouts_run;
  decltype(&iap_rollouts_free) rollouts_free;
};

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  expect(function, "%s", dlerror());
}

const Calls& calls() {
  static const Calls found = [] {
    void* library = dlopen(IAP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    expect(library, "%s", dlerror());
    Calls made;
    look_up(library, "iap_env_make", made.env_make);
    look_up(library, "iap_env_reset", made.env_reset);
    look_up(library, "iap_env_step", made.env_step);
    look_up(library, "iap_env_draw", made.env_draw);
    look_up(library, "iap_env_free", made.env_free);
    look_up(library, "iap_batch_make", made.batch_make);
    look_up(library, "iap_batch_reset", made.batch_reset);
    look_up(library, "iap_batch_step", made.batch_step);
    look_up(library, "iap_batch_free", made.batch_free);
    look_up(library, "iap_rollouts_make", made.rollouts_make);
    look_up(library, "iap_rollouts_run", made.rollouts_run);
    look_up(library, "iap_rollouts_free", made.rollouts_free);
    return made;
  }();
  return found;
}

class Holder {
 public:
  explicit Holder(const char* name, bool at_once) : name_(name) {
    if (at_once) make();
  }
  ~Holder() {
    if (!env_) return;
    use();
    calls().env_free(env_);
    calls().batch_free(batch_);
    calls().rollouts_free(rollouts_);
    std::printf("%s freed\n", name_);
    std::fflush(stdout);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void make() {
    char message[400] = "";
    expect(calls().env_make("{ name = 'a1-indoor' }", &env_, message, sizeof message) == IAP_OK, "%s", message);
    expect(calls().batch_make("cartpole-swingup", 3, 2, &batch_, message, sizeof message) == IAP_OK, "%s", message);
    expect(calls().rollouts_make("{ name = 'cartpole-swingup', time_limit = 4 }",
                                 "{ kind = 'script', file = '" HOSTS_FOLDER "/block.lua' }", 2, &rollouts_, message,
                                 sizeof message) == IAP_OK,
           "%s", message);
    use();
  }

 private:
  void use() {
    const float actions[32] = {};
    const std::uint64_t seeds[3] = {1, 2, 3};
    double rewards[3], returns[2];
    std::uint8_t over[3], cut[3], rgb[16 * 16 * 3];
    const float parameters[2] = {1, 2};
    const iap_rollout_options options{.size = sizeof options, .seed = 1, .iteration = 0, .episodes = 1, .seeds = IAP_SEEDS_COMMON};
    expect(calls().env_reset(env_, 1) == IAP_OK && calls().env_draw(env_, 16, 16, rgb, 0) == IAP_OK, "%s: the environment", name_);
    expect(calls().batch_reset(batch_, seeds, 3) == IAP_OK &&
               calls().batch_step(batch_, actions, 3, rewards, over, cut, nullptr) == IAP_OK,
           "%s: the batch", name_);
    expect(calls().rollouts_run(rollouts_, parameters, 2, 1, &options, returns, nullptr) == IAP_OK, "%s: the rollouts", name_);
  }

  const char* name_;
  iap_env* env_ = nullptr;
  iap_batch* batch_ = nullptr;
  iap_rollouts* rollouts_ = nullptr;
};

Holder late("made in main", false);
Holder early("made before main", true);

}  // namespace

int main() {
  late.make();
  std::printf("main ends\n");
  std::fflush(stdout);
}
