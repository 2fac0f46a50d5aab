module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
export module iap.attention:patch_features;
import iap.core;
import :patches;
import :features;

export namespace iap {

/// A kernel given by explicit features: K(u, v) = E[phi(x) . phi(y)], x = factor u or, normalised, factor u / ||u||.
struct MapOptions {
  std::string kernel = "exp";  ///< the catalog's name
  bool relu = false;           ///< phi(u) = max(u, 0); nothing below matters then
  FeatureKind kind = FeatureKind::exp;
  int m = 0, r = 0;
  Shaping shape;
  Ensemble ensemble = Ensemble::orthogonal;
  std::uint64_t seed = 0;
  bool redraw = false;  ///< new projections every episode
  bool normalised = false;
  float factor = 1;

  int features(int d) const { return relu ? d : feature_count(kind, m, r); }
  /// Whether no feature is ever negative, so that products of features can be probabilities.
  bool positive() const { return relu || kind == FeatureKind::exp; }
};

/// Reads option `kernel` (one that has features) and that kernel's options as `make_scorer` does, `redraw` being "never" or
/// "episode"; `c` is what `scale = "c"` stands for. @throws OptionError also for what a frame alone can have: redraws within an
/// episode, `brute_force`, `epsilon`.
MapOptions read_map(Options& options, int c, int d);

/// How the queries of a frame become the one vector that keys are compared with.
enum class Pooling : std::uint8_t {
  features,  ///< z = (1/L) sum_j P_j phi(q_j): z . phi(k) is IAP-rank's score (Lemma 4.2 of v2)
  mean,      ///< z' = phi((1/L) sum_j P_j q_j): z' . phi(k) estimates exp(r), r being IAP-rank's score of the dot-product kernel
  sum        ///< z' = phi(sum_j P_j q_j), as the proof of Theorem 4.3 writes it, which leaves out r's factor 1/L
};

/// The features of all patches of a frame as queries or as keys of one head. Unlike a Scorer, the two sides may look at
/// different frames, of different shapes. Allocates nothing after construction. Not thread-safe.
class PatchFeatures {
 public:
  PatchFeatures(const MapOptions& map, Side side, const PatchGrid& grid, int d);
  /// Bytes that they take, one side; `encoded`: with what a position encoding adds when weights are bound.
  static double bytes(const MapOptions& map, const PatchGrid& grid, int d, bool encoded);
  PatchFeatures(PatchFeatures&&) noexcept;
  PatchFeatures& operator=(PatchFeatures&&) noexcept;
  ~PatchFeatures();

  const PatchGrid& grid() const;
  int features() const;  ///< length of phi
  /// New weights (c x d, row-major), bias (d values or none), position encoding (L x c or none) and, for queries, P (L values or
  /// none: ones), copied. @throws Error naming the array of a wrong size.
  void bind(std::span<const float> weights, std::span<const float> bias, std::span<const float> encoding = {},
            std::span<const float> query_weights = {});
  /// New projections for an episode if the options say so; both sides of a head get the same.
  void new_episode(std::uint64_t episode_seed);
  /// Writes features() values, times one positive factor that keeps them inside floats. @throws Error as Scorer::score.
  void pool(Pooling pooling, const ImageView& image, float pixel_offset, std::span<float> z);
  /// Writes feature f of patch j to rows[f * pitch + j], all times one positive factor that keeps them inside floats (1 where
  /// they fit as they are). `pitch` is at least grid().count() + key_padding.
  void rows(const ImageView& image, float pixel_offset, std::span<float> rows, std::size_t pitch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Values that may be written past the last key of a row of features.
inline constexpr std::size_t key_padding = 32;

}  // namespace iap
