module;
#include <memory>
#include <string>
#include <vector>
/// An episode watched from beside.
module iap.report:viewer;
import iap.core;
import iap.env;
import iap.policy;
import :video;

namespace iap {

/// Rows and columns that a frame of a film may have: those of a WebP, which all formats keep to.
inline constexpr int largest_frame = 16383;

struct ViewerOptions {
  int scale = 0;         ///< 0: the smallest that gives `min_height` rows and nothing larger than `largest`
  int min_height = 400;  ///< rows
  int largest = 0;       ///< rows and columns that a picture may have; 0: any number
  bool pairs = false;    ///< for pictures of the view `side_by_side`, which are as wide as two
  bool redraw = true;    ///< as in VideoOptions
  int steps = 0;         ///< as in VideoOptions
  bool outside = false;  ///< for pictures of the view `outside`, and of no other
  bool all = false;      ///< for pictures of all views, `outside` among them where the environment has it
};

/// An environment to play on, and pictures of what happens there, larger than the policy sees them.
class Viewer {
 public:
  /// @throws Error as `make_env` does, if neither the policy nor the environment offers an image, if it is to be seen from outside
  /// and cannot, and, before anything is drawn, if pictures would be larger than `largest`.
  Viewer(const Config& env, const ObservationSpec& seen, const ViewerOptions& options);
  ~Viewer();

  /// What the policy plays on. @throws Error from `reset` and `step` if the environment, drawn larger, goes another way.
  Env& env();
  /// The views that `picture` takes.
  std::vector<PictureView> views() const;
  /// Of the pictures, in which the policy's images stand side by side, white below those that are lower than others; a
  /// side-by-side picture is wider, and so is one from outside beside other views.
  int height() const;
  int width() const;
  /// Of pictures of the view, where it is the only one.
  int width(PictureView view) const;
  /// The widest gap between the parts of such a picture, pixels; 0 if it has none.
  int gap(PictureView view) const;
  /// Whether how bright pictures are may follow from how far was seen so far: a film shows one brightness if the episode has been
  /// played before.
  bool sees_depth() const;
  /// What pictures of the policy's image so called show white, `white_of` of all that was seen so far, and that it be `white` at
  /// least, as pictures beside them have it.
  float white(const std::string& image) const;
  void whiten(const std::string& image, float white);
  /// Of the episode so far: the policy's steps and the sum of their rewards.
  int steps() const;
  double total() const;
  /// What the environment drawn larger did otherwise, "pays another reward", so that only a viewer that does not redraw can show
  /// the episode; "" if nothing.
  std::string astray() const;
  /// The present: `observation` is what `policy` has just acted on. @throws Error if the environment, drawn larger, shows another.
  Image picture(PictureView view, const Observation& observation, const Policy& policy);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A video's frames: one for every so many steps, so many a second.
struct FrameRate {
  int every = 1;
  double fps = 0;
};
/// What `fps` and `most_fps` of VideoOptions mean for an environment. @throws Error for values out of range.
FrameRate frame_rate(const EnvSpec& spec, double fps, double most_fps);

/// What the policy attends to in the images that it sees, of which pictures show all.
std::vector<AttentionView> shown_views(const Policy& policy);
/// The blocks whose scores heat maps show, "1.rank.head_1": the first that looks at each image. "" where no other looks at it.
std::string mapped_blocks(const Policy& policy);
/// In whose colours attended patches are shown, where several heads or blocks look at one image: "white 1.rank.head_1, amber
/// 1.rank.head_2". "" where none does.
std::string coloured_blocks(const Policy& policy);

/// Which value of an image of floats is shown white: 1, or of one channel, as it then may be a depth camera's, in metres, the
/// smallest of 1, 1.5, 2 ... 5 that at most one value in 20 exceeds.
float white_of(const ImageView& image);
/// An 8-bit RGB copy of any image: grey in all three channels, floats from black at 0 to white at `white`, a fourth channel left
/// out. What is near is dark in a picture of a depth camera.
Image rgb_copy(const ImageView& image, float white);

}  // namespace iap
