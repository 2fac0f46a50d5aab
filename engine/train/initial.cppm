module;
#include <optional>
#include <string>
/// The policy that a run begins at.
module iap.train:initial;
import iap.core;
import iap.policy;
import :types;

namespace iap {

struct Initial {
  PolicyFile file;
  std::string bytes;    ///< as save_policy writes it, without metadata
  std::string content;  ///< 16 hexadecimal digits that follow from its numbers alone: what tells it from other policies
  std::string place;    ///< where it was found, for people
};

/// What `options.init` or `options.init_policy` names; nothing if neither does. Where the file cannot be read and the run resumes,
/// it comes out of the run's checkpoint. @throws Error naming option and path, or a policy that is not the one expected.
std::optional<Initial> read_initial(const TrainOptions& options);

/// Where a refusal of what is in a file names trust as the remedy; npos if it does not.
std::string::size_type trust_asked(const std::string& complaint);

}  // namespace iap
