module;
#include <cstdint>
#include <string>
#include <vector>
/// What the keys of a live episode do, apart from any window.
export module iap.report:controls;
import iap.core;
import iap.env;
import :video;

export namespace iap {

/// The key of a printable character has the character's code, that of a letter the lower-case one.
enum LiveKey : int { no_key = 0, escape_key = 27, left_key = 256, right_key, up_key, down_key };

enum class LiveEventKind : std::uint8_t { press, repeat, release, unfocus, close };

struct LiveEvent {
  LiveEventKind kind = LiveEventKind::press;
  int key = no_key;
};

/// How a person acts by keys: `rest`, and what each key adds while it is held. In [-1, 1], as policies act.
struct KeyActions {
  struct Entry {
    int key = no_key;
    std::string name;  ///< "left", "a"
    std::vector<float> adds;
  };
  std::vector<float> rest;
  std::vector<Entry> keys;
};

/// The keys of an environment: its option `keys`, {rest = {0, -1}, left = {-1}, a = {0, 1}}, where lists that are too short end in
/// zeros; else those of its row in the catalog; else arrows, left and right for the first action, down and up for the second.
/// @throws Error naming the key that is not known or does something else, or the list that is none.
KeyActions key_actions(const EnvSpec& spec);

/// Where a live episode stands between person and policy.
class LiveControls {
 public:
  /// Begins at `view`, one of `views`, at real time, the policy at work.
  LiveControls(std::vector<PictureView> views, PictureView view, KeyActions keys);

  /// What the keys do, for the person at them: "space pause  . step ...".
  static const std::string& help();

  void handle(const LiveEvent& event);

  bool quits() const { return quits_; }
  /// Whether the episode is to be left, for good or for the next one.
  bool leaves() const { return quits_ || next_; }
  /// The next episode has begun.
  void begin() { next_ = false; }

  bool paused() const { return paused_; }
  /// Whether a step may be made although the episode is paused; each asked for is granted once.
  bool take_step();
  PictureView view() const { return views_[view_]; }
  /// Steps per step of real time.
  double speed() const;
  bool steers() const { return steers_; }
  /// What the person does, a value per action in [-1, 1].
  std::vector<float> outputs() const;
  const KeyActions& keys() const { return keys_; }

 private:
  void press(int key);
  bool acts(int key) const;

  std::vector<PictureView> views_;
  std::size_t view_ = 0;
  KeyActions keys_;
  std::vector<int> held_;
  bool paused_ = false, step_ = false, next_ = false, quits_ = false, steers_ = false;
  int doublings_ = 0;  ///< of the speed
};

}  // namespace iap
