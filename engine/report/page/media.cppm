module;
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
/// The pictures of a report.
module iap.report:media;
import iap.core;
import iap.policy;
import iap.rollout;
import :importance;
import :page;
import :probe;

namespace iap {

struct ReportMedia {
  std::string video;       ///< an animated WebP
  Episode episode;         ///< that it shows
  std::uint64_t seed = 0;  ///< of this episode itself
  int height = 0, width = 0;
  std::string as_seen;                    ///< why it shows the policy's own pixels: `Viewer::astray`; "" if it does not
  bool whole = true;                      ///< whether it goes to the episode's end
  int steps = 0;                          ///< that it shows
  double seconds = 0;                     ///< of the episode that these are; 0 where steps have no duration
  double pace = 1;                        ///< of which the environment's own is 1; 0 where its steps have no duration
  std::vector<std::string> frames, heat;  ///< WebP pictures, evenly spaced; `heat` is empty without attention
  /// Whether a block shows there what it had looked at in an earlier step, as it was not asked again.
  bool rested = false;
  Importance importance;
  std::string no_importance;         ///< why there is none of a policy that attends to something
  std::optional<ProbeResult> probe;  ///< from the episodes of `importance`
  std::string no_probe;              ///< why there is none
};

/// Plays the policy of a run. @throws Error as `write_video`.
ReportMedia make_media(PolicyFile& file, const ReportOptions& options);

}  // namespace iap
