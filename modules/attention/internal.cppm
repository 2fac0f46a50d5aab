module;
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.attention:internal;
import iap.core;
import :catalog;
import :features;
import :kernel;
import :patch_features;
import :patches;
import :trans;

namespace iap {

/// How a projection u of d values becomes a kernel's input: x = factor u, or x = factor u / ||u|| (x = 0 for u = 0).
struct InputForm {
  bool normalised = false;
  float factor = 1;
};

/// Options `input` ("plain" or "normalised"; v1 eq. 4 and 5), `scale` ("d": x.y of plain inputs is q.k / sqrt(d); "c": q.k /
/// sqrt(c), AttentionAgent) and `temperature` (divides x.y).
InputForm read_input_form(Options& options, int c, int d);

/// Option `threads` (1): how many threads share a large frame.
int read_threads(Options& options);

/// @throws Error naming the array whose size does not fit the grid and d.
void check_weights(const HeadWeights& weights, const PatchGrid& grid, int d);
/// @throws Error if `score` was called before `bind`, with another image shape or with another number of scores.
void check_frame(const PatchGrid& grid, bool bound, const ImageView& image, std::span<const float> scores);
void check_frame(const PatchGrid& grid, bool bound, const ImageView& image);

/// The power of two, at most 1, that brings values up to `largest` to the size of `most` or below it; 1 where they are.
double scale_down(double largest, double most);
/// The largest |value|; NaN if one is NaN.
float largest_magnitude(std::span<const float> values);
/// Multiplies scores by exp(log_factor) where floats can hold the result.
void restore_size(std::span<float> scores, double log_factor);

/// A copy of HeadWeights::query_weights that vectors may read past its end, scaled down where sums of votes would pass floats.
class QueryWeights {
 public:
  void bind(std::span<const float> weights, int patches);
  /// The copy is the given weights times this power of two.
  double scale() const { return scale_; }
  /// Weights of queries `first`, `first` + 1, ...; null: all ones.
  const float* from(int first) const { return given_ ? values_.data() + first : nullptr; }
  /// Sum over all queries.
  double total() const { return total_; }

 private:
  std::vector<float> values_;
  double total_ = 0, scale_ = 1;
  bool given_ = false;
};

/// A head in the smallest space that holds its queries or keys. With c values a patch, u = W^T p + b lies in the span of c + 1
/// vectors: with an orthonormal basis B (d x n, n = min(d, c + 1)) of it, B^T u has u's length, and (Omega B)(B^T u) are u's
/// projections. This is W folded into Omega, at the price of n instead of d numbers a patch.
struct ReducedHead {
  ReducedHead(int c, int d);
  /// n, and the bytes that such a head takes.
  static int dimensions(int c, int d) { return std::min(d, c + 1); }
  static double bytes(int c, int d);
  void bind(std::span<const float> weights, std::span<const float> bias);
  /// Omega B for `rows` (each of d values), as columns first_column, first_column + 1, ... of `out`, which is n x columns.
  void fold(std::span<const float> rows, int first_column, int columns, std::span<float> out) const;

  int c, d, n;
  std::vector<float> weights, bias;  ///< c x n, n
  std::vector<double> basis;         ///< n x d
};

/// As draw_projections of the interface, into arrays that have their sizes; `block` is scratch memory for d x d values, which only
/// orthogonal projections need.
void draw_projections(Ensemble ensemble, std::uint64_t seed, std::span<double> block, Projections& drawn);

/// What the options of the kernels of random features say.
struct FeatureOptions {
  FeatureKind kind = FeatureKind::hybrid;
  int m = 10, r = 5;
  Shaping shape;
  Ensemble ensemble = Ensemble::orthogonal;
  std::uint64_t seed = 0;
  bool redraw = false;            ///< with every episode
  std::int64_t redraw_every = 0;  ///< and, if positive, every so many frames of it
  int threads = 1;
  double epsilon = 0;        ///< of exp
  bool brute_force = false;  ///< the exact kernel instead
  InputForm form;
};
/// All but `threads`.
FeatureOptions read_feature_options(const RandomFeatures& features, Options& options, int c, int d);

/// Projections that change as the options say: the first draw of an episode belongs to the episode, the k-th after it to the
/// episode and k. Drawing again allocates nothing.
class DrawnProjections {
 public:
  DrawnProjections(const FeatureOptions& options, int d);
  static double bytes(const FeatureOptions& options, int d);
  const Projections& now() const { return drawn_; }
  /// An episode or a frame begins. Whether the projections changed.
  bool new_episode(std::uint64_t episode_seed);
  bool new_frame();

 private:
  void draw(std::uint64_t seed);

  Ensemble ensemble_;
  Shaping shape_;
  bool redraw_;
  std::uint64_t seed_, redraw_every_, episode_, frame_ = 0;
  Projections drawn_;
  std::vector<double> block_;
};

/// The row of a kernel of random features: it scores, mixes, and keeps features of keys.
KernelEntry random_features_kernel(std::string name, std::string summary, const RandomFeatures& features);
std::unique_ptr<Scorer> score_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d);
std::unique_ptr<Trans> transform_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid,
                                             const TransShape& shape);
double transform_bytes_by_features(const KernelEntry& entry, Options& options, const PatchGrid& grid, const TransShape& shape,
                                   bool encoded);
MapOptions map_by_features(const KernelEntry& entry, Options& options, int c, int d);

/// A scorer that forms the whole attention matrix row by row: O(L^2 d), exact.
/// `epsilon` is added to the features of relu.
enum class ExactKernel { softmax, softmax_kernel, relu };
std::unique_ptr<Scorer> make_exact_scorer(std::string_view name, ExactKernel kernel, InputForm form, const PatchGrid& grid, int d,
                                          int threads, float epsilon = 0);
double exact_scorer_bytes(ExactKernel kernel, const PatchGrid& grid, int d, int threads, bool encoded);

}  // namespace iap
