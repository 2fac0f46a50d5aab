module;
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
export module iap.attention:kernel;
import iap.core;
import :patches;

export namespace iap {

/// The projections of one attention head, row-major c x d, and optional biases of d values (empty: none).
struct HeadWeights {
  std::span<const float> query, key;
  std::span<const float> query_bias, key_bias;
  /// P of IAP-rank (v2 section 3.1), one weight a query, in patch order; empty: all ones. Any finite numbers: a negative weight
  /// makes its query vote against what it attends to, zero silences it. Scores are linear in P, so it needs no normalisation, and a
  /// common positive factor does not change the ranking.
  std::span<const float> query_weights = {};
  /// Position encoding PE of v2 section 3.2, L x c row-major, added to the patches' values: X' = X + PE; empty: none.
  std::span<const float> encoding = {};
};

/// Turns a frame into one score a patch: r = (1/L) P A, A(i, j) = K(q_i, k_j), Q = X' W_Q, K = X' W_K (v1 eq. 1-3). Where a kernel
/// normalises the rows of A, P multiplies the normalised rows.
/// Built for one patch grid and d; owns its workspace, so `score` allocates nothing. Not thread-safe.
class Scorer {
 public:
  virtual ~Scorer() = default;
  /// The catalog's name of this kernel.
  virtual std::string_view kernel() const = 0;
  /// New weights; they must stay valid until the next call. @throws Error naming the array whose size is not c x d (biases: 0 or
  /// d; query weights: 0 or L; encoding: 0 or L x c).
  virtual void bind(const HeadWeights& weights) = 0;
  /// `pixel_offset` is added to pixel values in [0, 1] (the usual -0.5 centres them). Writes L scores: r, or r times one positive
  /// factor common to all patches of the frame where r itself does not fit into a float. The ranking is that of r, down to scores
  /// 1e-30 of the largest.
  /// @throws Error if no weights are bound, or the image or `scores` does not have the grid's shape.
  virtual void score(const ImageView& image, float pixel_offset, std::span<float> scores) = 0;
  /// A new episode begins. Kernels that redraw their random projections do so here, as a function of `episode_seed` alone, so that
  /// an episode looks the same on whatever thread it runs.
  virtual void new_episode(std::uint64_t episode_seed) { (void)episode_seed; }
};

}  // namespace iap
