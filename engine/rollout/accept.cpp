module;
#include <memory>
#include <string>
#include <utility>
module iap.rollout;
import iap.core;
import iap.env;

namespace iap {

std::unique_ptr<Env> accepted(std::unique_ptr<Env> env) {
  if (!env) throw Error("the environment factory returned no environment");
  if (const auto flaw = spec_flaw(env->spec()); !flaw.empty()) throw Error(text("environment '", env->spec().name, "': ", flaw));
  return env;
}

}  // namespace iap
