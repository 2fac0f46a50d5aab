module;
#include <cstdint>
#include <span>
#include <string>
#include <vector>
export module iap.attention:cross_attention;
import iap.core;
import :patches;
import :kernel;
import :features;
import :patch_features;
import :key_database;

export namespace iap {

/// How patches are chosen from the keys.
enum class Ranking : std::uint8_t {
  exact,  ///< the largest z . phi(k)
  hash,   ///< the smallest distance between sign codes (Theorem 4.3 of v2)
  sample  ///< drawn by softmax weights from a KeyTree (the same theorem's second part)
};

/// Cross-attention of v2 (sections 3.2 and 4): keys come from one frame and stay in a database until the next `set_keys`, queries
/// come from another frame every time. The two grids may differ in everything. Owns its memory from construction on. Not
/// thread-safe.
class CrossAttention {
 public:
  /// Reads `bits` (256) and `hash_seed` (0) for hash; `pooling` ("mean", "sum" or "features") and `replacement` (false) for
  /// sample; and the kernel's options (see `read_map`, c being that of the keys). @throws Error naming the option, and why sample
  /// takes the kernels exp and favor++ only.
  CrossAttention(Options& options, Ranking ranking, const PatchGrid& queries, const PatchGrid& keys, int d);
  /// Bytes that it takes; `encoded`: with what position encodings add when weights are bound. Copied query weights, four bytes a
  /// query, are not in it. @throws Error as the constructor does.
  static double bytes(Options& options, Ranking ranking, const PatchGrid& queries, const PatchGrid& keys, int d, bool encoded);

  const PatchGrid& queries() const { return query_.grid(); }
  const PatchGrid& keys() const { return key_.grid(); }
  Ranking ranking() const { return ranking_; }
  Pooling pooling() const { return pooling_; }
  /// The kernel and the ranking in a few words.
  std::string describe() const;
  /// New weights, copied: W_Q is the query grid's c x d, W_K the key grid's; P and `weights.encoding` belong to the queries,
  /// `key_encoding` to the keys. The database keeps the old weights' keys until the next `set_keys`. @throws Error naming the array
  /// whose size does not fit.
  void bind(const HeadWeights& weights, std::span<const float> key_encoding = {});
  /// A new episode: the database is emptied, projections are redrawn if the options say so.
  void new_episode(std::uint64_t episode_seed);
  /// The keys are now those of `frame`. `pixel_offset` as in Scorer::score. O(L m), with hash O(L m m').
  void set_keys(const ImageView& frame, float pixel_offset);
  /// Chooses selected.size() patches of the keys' frame for the queries of `frame`, best or first drawn first. `random` is used by
  /// sample only. @throws Error if there are fewer keys, such as none.
  void choose(const ImageView& frame, float pixel_offset, Random& random, std::span<int> selected);
  /// What the last `choose` ranked the keys by, keys().count() values: scores, estimated cosines (times KeyLengths), or the
  /// probabilities of the first draw.
  void score(std::span<float> scores);

 private:
  static KeyDatabaseOptions read_database(Options& options, Ranking ranking, const MapOptions& map);
  static Pooling read_pooling(Options& options, Ranking ranking);

  Ranking ranking_;
  MapOptions map_;
  Pooling pooling_;
  bool replacement_;
  PatchFeatures query_, key_;
  KeyDatabase database_;
  std::vector<float> pooled_;
};

}  // namespace iap
