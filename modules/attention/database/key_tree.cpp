module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
module iap.attention;
import iap.core;

namespace iap {
namespace {

[[noreturn]] void refuse_feature(float value, const std::string& key) {
  throw Error(text("key tree: a feature of ", key, " is ", value,
                   "; draws need sums that are never negative: use exponential (FAVOR+) features"));
}

}  // namespace

KeyTree::KeyTree(int capacity, int features) : capacity_(capacity), features_(features) {
  if (capacity < 1 || features < 1)
    throw Error(text("key tree: needs room for at least one key of one feature, got ", capacity, " keys of ", features));
  check_memory("key tree: what it keeps", bytes(capacity, features));
  nodes_.resize(2 * static_cast<std::size_t>(capacity) * features);
  weights_.resize(2 * static_cast<std::size_t>(capacity));
  stamps_.resize(weights_.size());
}

double KeyTree::bytes(int capacity, int features) {
  return 2.0 * capacity * (sizeof(float) * static_cast<double>(features) + sizeof(double) + sizeof(std::uint64_t));
}

void KeyTree::write_leaf(int key, const float* row, std::size_t stride) {
  float* leaf = node(capacity_ + key);
  for (int f = 0; f < features_; ++f) leaf[f] = row[f * stride];
}

void KeyTree::add_children(int index) {
  const float *left = node(2 * index), *right = node(2 * index + 1);
  float* sum = node(index);
  for (int f = 0; f < features_; ++f) sum[f] = left[f] + right[f];
}

void KeyTree::build(std::span<const float> planes, std::size_t pitch, int count) {
  if (count < 0 || count > capacity_ ||
      (count > 0 && (pitch < static_cast<std::size_t>(count) || planes.size() < (features_ - 1) * pitch + count)))
    throw Error(text("key tree: cannot take ", count, " keys from ", planes.size(), " features at pitch ", pitch,
                     "; it has room for ", capacity_, " keys of ", features_));
  for (int f = 0; f < features_; ++f)
    for (int key = 0; key < count; ++key)
      if (planes[f * pitch + key] < 0) refuse_feature(planes[f * pitch + key], text("key ", key));
  Looks looks;
  const auto look = [&] {
    if (looks.due(static_cast<std::size_t>(features_))) check_interrupt();
  };
  for (int key = 0; key < count; ++key) {
    look();
    write_leaf(key, planes.data() + key, pitch);
  }
  std::fill(nodes_.begin() + static_cast<std::ptrdiff_t>(capacity_ + count) * features_, nodes_.end(), 0.0F);
  for (int index = capacity_ - 1; index > 0; --index) {
    look();
    add_children(index);
  }
  count_ = count;
}

void KeyTree::set(int key, std::span<const float> row) {
  if (key < 0 || key > count_ || key >= capacity_)
    throw Error(text("key tree: key ", key, " can be neither replaced nor added; it holds ", count_, " of at most ", capacity_));
  if (row.size() != static_cast<std::size_t>(features_))
    throw Error(text("key tree: got a key of ", row.size(), " features, it holds keys of ", features_));
  for (const float value : row)
    if (value < 0) refuse_feature(value, "the key");
  write_leaf(key, row.data(), 1);
  for (int index = (capacity_ + key) / 2; index > 0; index /= 2) add_children(index);
  count_ = std::max(count_, key + 1);
}

void KeyTree::check_query(std::span<const float> z, std::size_t wanted) const {
  if (z.size() != static_cast<std::size_t>(features_))
    throw Error(text("key tree: got a query of ", z.size(), " features, it holds keys of ", features_));
  if (wanted > static_cast<std::size_t>(count_)) throw Error(text("key tree: cannot draw ", wanted, " keys from ", count_));
  for (const float value : z)
    if (value < 0)
      throw Error(text("key tree: the query has the negative feature ", value, "; it must be of the keys' positive kind"));
}

void KeyTree::forget_weights() { ++stamp_; }

double KeyTree::weight(int index, std::span<const float> z) {
  if (stamps_[index] == stamp_) return weights_[index];
  const float* sum = node(index);
  double even = 0, odd = 0;
  int f = 0;
  for (; f + 1 < features_; f += 2) {
    even += static_cast<double>(sum[f]) * z[f];
    odd += static_cast<double>(sum[f + 1]) * z[f + 1];
  }
  if (f < features_) even += static_cast<double>(sum[f]) * z[f];
  stamps_[index] = stamp_;
  return weights_[index] = even + odd;
}

int KeyTree::walk(std::span<const float> z, Random& random) {
  int index = 1;
  while (index < capacity_) {
    const double left = weight(2 * index, z), right = weight(2 * index + 1, z);
    // A branch of weight zero must not be taken, whatever rounding does to the product.
    const bool go_left = right == 0 || (left != 0 && random.uniform() * (left + right) < left);
    index = 2 * index + (go_left ? 0 : 1);
  }
  return index;
}

void KeyTree::take_out(int leaf) {
  weights_[leaf] = 0;
  // The siblings' weights are known, as the walk met them; adding anew instead of subtracting loses no small rest.
  for (int index = leaf / 2; index > 0; index /= 2) {
    weights_[index] = weights_[2 * index] + weights_[2 * index + 1];
    stamps_[index] = stamp_;
  }
}

double KeyTree::total_weight(std::span<const float> z) {
  const double total = weight(1, z);
  if (std::isnan(total))
    throw Error(
        "key tree: the sum of the weights is NaN, so that no key can be drawn; a feature of a key or of the query is not finite");
  return total;
}

int KeyTree::draw_uniform(std::span<const int> drawn, Random& random) const {
  auto place = static_cast<int>(random.below(static_cast<std::uint32_t>(count_ - static_cast<int>(drawn.size()))));
  Looks looks;
  for (int key = 0;; ++key) {
    if (looks.due(drawn.size())) check_interrupt();
    if (std::ranges::find(drawn, key) != drawn.end()) continue;
    if (place-- == 0) return key;
  }
}

int KeyTree::draw(std::span<const float> z, Random& random) {
  check_query(z, 1);
  forget_weights();
  const double total = total_weight(z);
  if (!(total > 0) || !std::isfinite(total)) return draw_uniform({}, random);
  return walk(z, random) - capacity_;
}

void KeyTree::draw_distinct(std::span<const float> z, Random& random, std::span<int> drawn) {
  check_query(z, drawn.size());
  forget_weights();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    check_interrupt();
    const double total = total_weight(z);
    if (!(total > 0) || !std::isfinite(total)) {
      drawn[i] = draw_uniform(drawn.first(i), random);
      continue;
    }
    const int leaf = walk(z, random);
    drawn[i] = leaf - capacity_;
    take_out(leaf);
  }
}

}  // namespace iap
