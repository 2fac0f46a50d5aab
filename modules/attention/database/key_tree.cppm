module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
export module iap.attention:key_tree;
import iap.core;

export namespace iap {

/// Softmax sampling without the attention matrix (Theorem 4.3 of v2, second part): a binary tree whose leaves are the keys'
/// features and whose inner nodes hold the sums of the features below them. A draw walks from the root and goes left with
/// probability f(left).z / (f(left).z + f(right).z), so that key i is drawn with probability z.phi(k_i) / sum_j z.phi(k_j).
/// O(L m) to build, O(m log L) a draw or a changed key. Features must not be negative: exponential ones (FAVOR+) or relu's.
class KeyTree {
 public:
  /// Room for `capacity` keys of `features` values, all zero and none in use. @throws Error if a size is not positive, or all
  /// would take too much memory.
  KeyTree(int capacity, int features);
  /// Bytes that it takes.
  static double bytes(int capacity, int features);

  int capacity() const { return capacity_; }
  int features() const { return features_; }
  int count() const { return count_; }
  /// Keys 0 ... count - 1 from feature f of key i at planes[f * pitch + i]; later keys are dropped. @throws Error naming the key
  /// with a negative feature.
  void build(std::span<const float> planes, std::size_t pitch, int count);
  /// Replaces a key, or adds key number count(). @throws Error for a negative feature, a wrong size or a key beyond that.
  void set(int key, std::span<const float> row);
  /// Drops all keys.
  void clear() { build({}, 0, 0); }

  /// One draw for the query `z`; nothing is taken out, so that repeated calls are independent (with replacement). Where no key has
  /// a positive weight, or a weight is infinite, all keys are equally likely. @throws Error if there is no key, `z` has a negative
  /// value, or a weight is NaN.
  int draw(std::span<const float> z, Random& random);
  /// As many different keys as `drawn` holds, one after the other, each with its probability among those that are left (successive
  /// sampling, Plackett-Luce): the order of a ranking by softmax weights plus Gumbel noise. @throws Error as `draw`, or if there
  /// are too few keys.
  void draw_distinct(std::span<const float> z, Random& random, std::span<int> drawn);

 private:
  const float* node(int index) const { return nodes_.data() + static_cast<std::size_t>(index) * features_; }
  float* node(int index) { return nodes_.data() + static_cast<std::size_t>(index) * features_; }
  void write_leaf(int key, const float* row, std::size_t stride);
  void add_children(int index);
  void check_query(std::span<const float> z, std::size_t wanted) const;
  double weight(int index, std::span<const float> z);
  double total_weight(std::span<const float> z);
  int walk(std::span<const float> z, Random& random);
  void take_out(int leaf);
  int draw_uniform(std::span<const int> drawn, Random& random) const;
  void forget_weights();

  int capacity_, features_, count_ = 0;
  // Node 1 is the root, node i has the children 2 i and 2 i + 1, leaf `capacity + key` is the key: any capacity makes a full tree.
  std::vector<float> nodes_;
  // Weights of the nodes that the draws of one call have met; a node whose stamp is not the call's has none yet.
  std::vector<double> weights_;
  std::vector<std::uint64_t> stamps_;
  std::uint64_t stamp_ = 0;
};

}  // namespace iap
