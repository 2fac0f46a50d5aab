#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

import iap.contract;
import iap.core;
import iap.env;
#include "contract/play.hpp"

namespace iap::contract {

double measure(const Check& check, bool looking) {
  try {
    const auto env = check.make();
    Actions actions(check, 0);
    env->reset(check.seed(0));
    env->observe();
    const auto start = Clock::now();
    for (int steps = 1;; ++steps) {
      check_interrupt();
      const StepResult result = env->step(actions.next());
      if (looking) env->observe();
      const double seconds = seconds_since(start);
      if (seconds >= check.options.measure_seconds) return steps / seconds;
      if (result.terminated || result.truncated) env->reset(check.seed(steps));
    }
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    return 0;
  }
}

}  // namespace iap::contract
