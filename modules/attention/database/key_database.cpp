module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "attention/simd/rows.hpp"
module iap.attention;
import iap.core;

namespace iap {
namespace {

// A key whose length is a smaller part of the longest is shorter; sums of thousands of squares round by less.
constexpr float nearly = 0.999F;

}  // namespace

KeyDatabase::KeyDatabase(int capacity, int features, const KeyDatabaseOptions& options)
    : capacity_(capacity),
      features_(features),
      pitch_(static_cast<std::size_t>(std::max(capacity, 0)) + key_padding),
      keep_lengths_(options.bits > 0 ? options.lengths : KeyLengths::ignored) {
  if (capacity < 1 || features < 1)
    throw Error(text("key database: needs room for at least one key of one feature, got ", capacity, " keys of ", features));
  check_memory("key database: what it keeps", bytes(capacity, features, options));
  planes_.resize(pitch_ * features);
  scores_.resize(pitch_);
  for (int f = 0; f < features; ++f) rows_.push_back(planes_.data() + f * pitch_);
  if (options.bits != 0) {
    hash_.emplace(features, options.bits, options.hash_seed);
    codes_.resize(pitch_ * hash_->words());
    query_code_.resize(hash_->words());
    distances_.resize(pitch_);
    for (int h = 0; h <= options.bits; ++h) cosines_.push_back(static_cast<float>(std::cos(std::numbers::pi * h / options.bits)));
    if (keep_lengths_ != KeyLengths::ignored) lengths_.resize(capacity);
  }
  if (options.tree) tree_.emplace(capacity, features);
}

double KeyDatabase::bytes(int capacity, int features, const KeyDatabaseOptions& options) {
  const double pitch = capacity + static_cast<double>(key_padding);
  double all = sizeof(float) * pitch * (features + 1.0) + sizeof(float*) * static_cast<double>(features);
  if (options.bits > 0) {
    const double words = std::ceil(options.bits / 64.0);
    all += SignHash::bytes(features, options.bits) + sizeof(std::uint64_t) * (pitch * (words + 1) + words) +
           sizeof(float) * (options.bits + 1.0 + (options.lengths == KeyLengths::ignored ? 0 : capacity));
  }
  return all + (options.tree ? KeyTree::bytes(capacity, features) : 0.0);
}

void KeyDatabase::write(int index, std::span<const float> key) {
  if (key.size() != static_cast<std::size_t>(features_))
    throw Error(text("key database: got a key of ", key.size(), " features, it holds keys of ", features_));
  if (tree_) tree_->set(index, key);
  double square = 0;
  for (int f = 0; f < features_; ++f) {
    planes_[f * pitch_ + index] = key[f];
    square += static_cast<double>(key[f]) * key[f];
  }
  if (keep_lengths_ == KeyLengths::own) lengths_[index] = static_cast<float>(std::sqrt(square));
  if (keep_lengths_ == KeyLengths::relative) measure(std::max(size_, index + 1));
  if (!hash_) return;
  hash_->encode(key, query_code_);
  for (int w = 0; w < hash_->words(); ++w) codes_[w * pitch_ + index] = query_code_[w];
}

int KeyDatabase::insert(std::span<const float> key) {
  if (size_ == capacity_) throw Error(text("key database: is full with ", capacity_, " keys; replace one, or make it larger"));
  write(size_, key);
  return size_++;
}

void KeyDatabase::replace(int index, std::span<const float> key) {
  if (index < 0 || index >= size_) throw Error(text("key database: has no key ", index, "; it holds ", size_));
  write(index, key);
}

void KeyDatabase::refresh(int size) {
  if (size < 0 || size > capacity_) throw Error(text("key database: cannot hold ", size, " keys, at most ", capacity_));
  size_ = 0;
  if (tree_) tree_->build(planes_, pitch_, size);
  size_ = size;
  if (keep_lengths_ != KeyLengths::ignored) measure(size);
  if (hash_) hash_->encode_all(planes_.data(), pitch_, size, codes_.data(), pitch_);
}

// Of the first `size` keys.
void KeyDatabase::measure(int size) {
  lengths_.assign(capacity_, 0.0F);
  for (int f = 0; f < features_; ++f) {
    check_interrupt();
    for (int i = 0; i < size; ++i) lengths_[i] += planes_[f * pitch_ + i] * planes_[f * pitch_ + i];
  }
  float longest = 0;
  for (int i = 0; i < size; ++i) {
    lengths_[i] = std::isfinite(lengths_[i]) ? std::sqrt(lengths_[i]) : length_of(i);
    longest = std::max(longest, lengths_[i]);
  }
  if (keep_lengths_ == KeyLengths::own) return;
  const auto is_shorter = [&](float length) { return length < nearly * longest; };
  if (std::none_of(lengths_.begin(), lengths_.begin() + size, is_shorter)) return lengths_.clear();
  for (int i = 0; i < size; ++i) lengths_[i] = is_shorter(lengths_[i]) ? lengths_[i] / longest : 1.0F;
}

// In doubles, for features whose squares floats cannot hold.
float KeyDatabase::length_of(int index) const {
  double square = 0;
  for (int f = 0; f < features_; ++f) square += std::pow(static_cast<double>(planes_[f * pitch_ + index]), 2);
  return static_cast<float>(std::sqrt(square));
}

void KeyDatabase::check(std::span<const float> z, std::size_t room, std::size_t wanted) const {
  if (z.size() != static_cast<std::size_t>(features_))
    throw Error(text("key database: got a query of ", z.size(), " features, it holds keys of ", features_));
  if (room < static_cast<std::size_t>(size_)) throw Error(text("key database: room for ", room, " scores of ", size_, " keys"));
  if (wanted > static_cast<std::size_t>(size_)) throw Error(text("key database: cannot choose ", wanted, " keys from ", size_));
}

void KeyDatabase::score(std::span<const float> z, std::span<float> scores) {
  check(z, scores.size(), 0);
  // Vectors overrun the last key, so that they must not write to the caller's memory.
  float* out = scores_.data();
  simd::linear(rows_.data(), features_, z.data(), 1, nullptr, 1, size_, &out);
  std::copy_n(out, size_, scores.begin());
}

void KeyDatabase::score_hashed(std::span<const float> z, std::span<float> scores) {
  if (!hash_) throw Error("key database: holds no sign codes; make it with bits > 0");
  check(z, scores.size(), 0);
  hash_->encode(z, query_code_);
  hamming(codes_.data(), pitch_, size_, query_code_, distances_);
  for (int i = 0; i < size_; ++i) scores[i] = cosines_[distances_[i]];
  if (!lengths_.empty())
    for (int i = 0; i < size_; ++i) scores[i] *= lengths_[i];
}

void KeyDatabase::top(std::span<const float> z, std::span<int> selected) {
  check(z, scores_.size(), selected.size());
  float* out = scores_.data();
  simd::linear(rows_.data(), features_, z.data(), 1, nullptr, 1, size_, &out);
  select_top({out, static_cast<std::size_t>(size_)}, selected, "key database");
}

void KeyDatabase::top_hashed(std::span<const float> z, std::span<int> selected) {
  check(z, scores_.size(), selected.size());
  score_hashed(z, scores_);
  select_top({scores_.data(), static_cast<std::size_t>(size_)}, selected, "key database");
}

void KeyDatabase::draw(std::span<const float> z, Random& random, bool replacement, std::span<int> selected) {
  if (!tree_) throw Error("key database: holds no tree; make it with tree = true");
  check(z, scores_.size(), replacement ? 0 : selected.size());
  if (!replacement) return tree_->draw_distinct(z, random, selected);
  for (int& key : selected) {
    check_interrupt();
    key = tree_->draw(z, random);
  }
}

}  // namespace iap
