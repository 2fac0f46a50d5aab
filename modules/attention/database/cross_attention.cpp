module;
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>
module iap.attention;
import iap.core;
import :internal;

namespace iap {
namespace {

// Numbers that one database may hold.
constexpr std::int64_t most_values = std::int64_t{1} << 28;

MapOptions read_checked_map(Options& options, Ranking ranking, const PatchGrid& keys, int d) {
  if (ranking == Ranking::sample)
    read_kernel(options, "draw patches, which takes positive features that estimate softmax weights",
                [](const KernelEntry& kernel) { return kernel.features && kernel.features->kind == FeatureKind::exp; });
  const MapOptions map = read_map(options, keys.values(), d);
  if (const std::int64_t values = std::int64_t{keys.count()} * map.features(d); values > most_values)
    options.fail(text("would keep ", keys.count(), " keys of ", map.features(d), " features, more than ", most_values,
                      " numbers; take fewer patches or a smaller m"));
  return map;
}

}  // namespace

KeyDatabaseOptions CrossAttention::read_database(Options& options, Ranking ranking, const MapOptions& map) {
  for (const char* key : {"bits", "hash_seed"}) options.goes_with(key, "ranking = \"hash\"");
  KeyDatabaseOptions wanted;
  wanted.tree = ranking == Ranking::sample;
  if (ranking != Ranking::hash) return wanted;
  wanted.bits = static_cast<int>(options.integer_in("bits", 1, 1 << 16, 256));
  wanted.hash_seed = static_cast<std::uint64_t>(options.integer_in("hash_seed", 0, std::numeric_limits<std::int64_t>::max(), 0));
  const bool alike = !map.relu && map.kind == FeatureKind::trig && map.normalised;
  wanted.lengths = alike ? KeyLengths::relative : KeyLengths::own;
  return wanted;
}

Pooling CrossAttention::read_pooling(Options& options, Ranking ranking) {
  for (const char* key : {"pooling", "replacement"}) options.goes_with(key, "ranking = \"sample\"");
  if (ranking != Ranking::sample) return Pooling::features;
  const std::string name = options.choice("pooling", {"mean", "sum", "features"}, "mean");
  return name == "mean" ? Pooling::mean : name == "sum" ? Pooling::sum : Pooling::features;
}

CrossAttention::CrossAttention(Options& options, Ranking ranking, const PatchGrid& queries, const PatchGrid& keys, int d)
    : ranking_(ranking),
      map_(read_checked_map(options, ranking, keys, d)),
      pooling_(read_pooling(options, ranking)),
      replacement_(ranking == Ranking::sample && options.boolean("replacement", false)),
      query_(map_, Side::query, queries, d),
      key_(map_, Side::key, keys, d),
      database_(keys.count(), map_.features(d), read_database(options, ranking, map_)),
      pooled_(static_cast<std::size_t>(map_.features(d))) {}

double CrossAttention::bytes(Options& options, Ranking ranking, const PatchGrid& queries, const PatchGrid& keys, int d,
                             bool encoded) {
  const MapOptions map = read_checked_map(options, ranking, keys, d);
  const int features = map.features(d);
  return PatchFeatures::bytes(map, queries, d, encoded) + PatchFeatures::bytes(map, keys, d, encoded) +
         KeyDatabase::bytes(keys.count(), features, read_database(options, ranking, map)) +
         sizeof(float) * static_cast<double>(features);
}

std::string CrossAttention::describe() const {
  const std::string kernel = text("kernel ", map_.kernel);
  if (ranking_ == Ranking::exact) return kernel;
  if (ranking_ == Ranking::hash) return text(kernel, ", hash of ", database_.bits(), " bits");
  const char* pooling = pooling_ == Pooling::mean ? "mean" : pooling_ == Pooling::sum ? "sum" : "features";
  return text(kernel, ", sampled by ", pooling, replacement_ ? " with replacement" : "");
}

void CrossAttention::bind(const HeadWeights& weights, std::span<const float> key_encoding) {
  query_.bind(weights.query, weights.query_bias, weights.encoding, weights.query_weights);
  key_.bind(weights.key, weights.key_bias, key_encoding);
}

void CrossAttention::new_episode(std::uint64_t episode_seed) {
  database_.clear();
  query_.new_episode(episode_seed);
  key_.new_episode(episode_seed);
}

void CrossAttention::set_keys(const ImageView& frame, float pixel_offset) {
  key_.rows(frame, pixel_offset, database_.planes(), database_.pitch());
  database_.refresh(keys().count());
}

void CrossAttention::choose(const ImageView& frame, float pixel_offset, Random& random, std::span<int> selected) {
  query_.pool(pooling_, frame, pixel_offset, pooled_);
  if (std::isnan(largest_magnitude(pooled_)))
    throw Error(text("cross-attention, ", describe(),
                     ": the features of the queries are NaN; look for a value that is not finite in the frame or the parameters"));
  switch (ranking_) {
    case Ranking::exact: return database_.top(pooled_, selected);
    case Ranking::hash: return database_.top_hashed(pooled_, selected);
    case Ranking::sample: return database_.draw(pooled_, random, replacement_, selected);
  }
}

void CrossAttention::score(std::span<float> scores) {
  if (ranking_ == Ranking::hash) return database_.score_hashed(pooled_, scores);
  database_.score(pooled_, scores);
  if (ranking_ != Ranking::sample) return;
  double total = 0;
  for (const float weight : scores) total += weight;
  if (!(total > 0)) return;
  for (float& weight : scores) weight = static_cast<float>(weight / total);
}

}  // namespace iap
