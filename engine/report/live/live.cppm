module;
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
/// Episodes in a window, with a person at the keys.
export module iap.report:live;
import iap.core;
import iap.policy;
import :controls;
import :video;

export namespace iap {

/// What shows the pictures of live episodes, and says what is pressed there.
class LiveWindow {
 public:
  virtual ~LiveWindow() = default;
  /// Shows an 8-bit RGB picture. @throws Error.
  virtual void show(const Image& picture) = 0;
  /// The next event, waited for up to `seconds`.
  virtual std::optional<LiveEvent> wait(double seconds) = 0;
  /// Seconds on a clock that goes on evenly.
  virtual double now() = 0;
};

/// A window on this machine's display, from the plugin `live`. @throws Error with the remedy if there is no plugin or no display.
std::unique_ptr<LiveWindow> open_live_window(const std::string& title, int width, int height);

struct LiveEpisode {
  std::uint64_t seed = 0;
  int steps = 0;
  double total = 0;    ///< the return so far, be it the policy's or a person's
  int steered = 0;     ///< steps in which a person acted
  bool ended = false;  ///< else it was left
};

struct LiveOptions {
  VideoOptions video;  ///< all but `quality` and `most_fps`; `seed` is that of the first episode, and each later one adds 1
  /// Opens the window, once it is known what it is to show.
  std::function<std::unique_ptr<LiveWindow>(const std::string& title, int width, int height)> open = open_live_window;
  std::function<void(const LiveEpisode&)> on_episode;  ///< called for each episode that ends or is left
};

/// Plays episodes in a window, in real time, until a person has had enough. The policy acts at every step; while a person steers,
/// it is the person's action that counts. Where a person never did, an episode is that of `run_episode`. At an episode's end its
/// last picture stays for two seconds before the next one begins.
/// @throws Error as `write_video`, of the window, and for keys of the environment that cannot be; Interrupted on Ctrl-C, when the
/// episode so far has been told.
void play_live(Policy& policy, const Config& env, const LiveOptions& options);

}  // namespace iap
