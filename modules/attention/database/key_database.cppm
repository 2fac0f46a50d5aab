module;
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>
export module iap.attention:key_database;
import iap.core;
import :key_tree;
import :patch_features;
import :sign_hash;

export namespace iap {

/// What hashed scores, which are estimates of cosines, are multiplied by.
enum class KeyLengths : std::uint8_t {
  ignored,  ///< nothing: keys are ranked by angle alone
  own,      ///< the key's length
  relative  ///< the key's length in parts of the longest, 1 where rounding alone tells the two apart: for keys of one length, but
            ///< for a few shorter ones, which are ranked by angle (Lemma 4.2 of v2). Trigonometric features of normalised keys are
            ///< such: those of a zero key are shorter
};

/// What a KeyDatabase keeps beside the features.
struct KeyDatabaseOptions {
  int bits = 0;  ///< m' of the sign codes; 0: none
  std::uint64_t hash_seed = 0;
  KeyLengths lengths = KeyLengths::ignored;
  bool tree = false;  ///< for draws
};

/// The features phi(k) of a set of keys, asked again and again by queries z (Theorem 4.3 of v2): cross-attention changes its keys
/// less often than its queries. Owns all memory from construction on. Not thread-safe.
class KeyDatabase {
 public:
  /// @throws Error if a size is not positive, or all would take too much memory.
  KeyDatabase(int capacity, int features, const KeyDatabaseOptions& options = {});
  /// Bytes that it takes.
  static double bytes(int capacity, int features, const KeyDatabaseOptions& options = {});
  KeyDatabase(KeyDatabase&&) noexcept = default;
  KeyDatabase& operator=(KeyDatabase&&) noexcept = default;

  int capacity() const { return capacity_; }
  int features() const { return features_; }
  int size() const { return size_; }
  int bits() const { return hash_ ? hash_->bits() : 0; }
  bool has_tree() const { return tree_.has_value(); }

  /// Adds a key; its number is the old size(). @throws Error if the database is full or the key has another size.
  int insert(std::span<const float> key);
  /// @throws Error if there is no such key.
  void replace(int index, std::span<const float> key);
  void clear() { refresh(0); }
  /// The way to change all keys at once: feature f of key i stands at planes()[f * pitch() + i]; call `refresh` after writing.
  std::span<float> planes() { return planes_; }
  std::span<const float> planes() const { return planes_; }
  std::size_t pitch() const { return pitch_; }
  /// The planes hold `size` keys: O(L m), with codes O(L m m'). @throws Error for a size beyond the capacity, or negative features
  /// if there is a tree.
  void refresh(int size);

  /// scores[i] = z . phi(k_i) for the first size() entries of `scores`. O(L m).
  void score(std::span<const float> z, std::span<float> scores);
  /// scores[i] = cos(pi h_i / m'), h_i being the bits in which the codes of z and phi(k_i) differ: an estimate of the cosine of
  /// their angle, times what the option `lengths` says. O(m m' + L m'). @throws Error without codes.
  void score_hashed(std::span<const float> z, std::span<float> scores);
  /// The `selected.size()` keys with the largest scores, best first. @throws Error if there are fewer keys.
  void top(std::span<const float> z, std::span<int> selected);
  void top_hashed(std::span<const float> z, std::span<int> selected);
  /// Keys drawn with probabilities proportional to z . phi(k_i), with replacement or, in the manner of KeyTree::draw_distinct,
  /// without. O(m log L) a draw. @throws Error without a tree, or as KeyTree::draw.
  void draw(std::span<const float> z, Random& random, bool replacement, std::span<int> selected);

 private:
  void write(int index, std::span<const float> key);
  float length_of(int index) const;
  void measure(int size);
  void check(std::span<const float> z, std::size_t room, std::size_t wanted) const;

  int capacity_, features_, size_ = 0;
  std::size_t pitch_;
  KeyLengths keep_lengths_;
  std::vector<float> planes_, lengths_, scores_;  // lengths_: empty where they say nothing
  std::optional<SignHash> hash_;
  std::vector<std::uint64_t> codes_, query_code_, distances_;
  std::vector<float> cosines_;  // of pi h / m', h = 0 ... m'
  std::optional<KeyTree> tree_;
  std::vector<const float*> rows_;
};

}  // namespace iap
