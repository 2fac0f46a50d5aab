module;
#include <string>
/// What environments promise, looked at where they are played.
module iap.rollout:accept;
import iap.core;
import iap.env;

namespace iap {

/// What is wrong with `seen`, "" if nothing: it has the sizes that `spec` says and, where `finite` asks for it, finite values.
/// Bytes always have those.
std::string observation_flaw(const EnvSpec& spec, const Observation& seen, bool finite = true);

}  // namespace iap
