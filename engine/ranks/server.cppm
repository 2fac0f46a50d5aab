module;
/// What a rank other than 0 does.
module iap.ranks:server;
import :types;

namespace iap {

/// Plays what rank 0 deals until the job is over. @throws Error for messages that make no sense.
void serve_rollouts(Ranks& ranks);

}  // namespace iap
