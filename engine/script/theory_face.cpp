#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "script/faces.hpp"
import iap.attention;
import iap.core;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t most_projections = 1 << 20, most_features = 1 << 26, most_draws = 1 << 30;

std::vector<double> vector_at(const Call& call, int argument, const char* what) {
  auto values = call.numbers(argument, what);
  if (values.empty()) call.refuse(argument, what, "at least one number");
  for (const double value : values)
    if (!std::isfinite(value)) call.refuse(argument, what, "finite numbers");
  return values;
}

/// x and y, the first two arguments of most functions.
struct Pair {
  explicit Pair(const Call& call) : x(vector_at(call, 1, "x")), y(vector_at(call, 2, "y")) {
    if (x.size() != y.size()) call.fail(text("x has ", x.size(), " elements and y ", y.size(), "; they must be as long"));
  }
  std::vector<double> x, y;
};

double positive(const Call& call, int argument, const char* what) {
  const double value = call.number(argument, what);
  if (!(value > 0) || !std::isfinite(value)) call.refuse(argument, what, "a positive number");
  return value;
}

double probability(const Call& call, int argument, const char* what) {
  const double value = call.number(argument, what);
  if (!(value > 0 && value < 1)) call.refuse(argument, what, "a probability between 0 and 1");
  return value;
}

int count_at(const Call& call, int argument, const char* what) {
  return static_cast<int>(call.integer(argument, what, 1, most_projections));
}

/// @lua options theory.features
/// Random features that estimate exp(x . y).
/// @option kind "exp"|"favor++"|"trig"|"hybrid" = "hybrid" - which random features
/// @option m integer 1..1048576 = 10 - projections
/// @option r integer 1..1048576 = 5 - further projections, of hybrid
/// @option ensemble "iid"|"orthogonal" = "orthogonal" - how projections are drawn
/// @option seed integer 0.. = 0 - of the projections
/// @option spread number 0..1e6 = (2 sqrt(d)) - of favor++: squared length of x + y at which it errs least
/// @see attention.md#how-well-random-features-estimate-the-softmax-kernel

/// A random feature map for vectors of d numbers as an option table describes it: a kernel of the catalog that has one.
struct FeatureChoice {
  FeatureChoice(Options& options, int d) : kernel(read_kind(options)) {
    m = static_cast<int>(options.integer_in("m", 1, most_projections, 10));
    r = kind() == FeatureKind::hybrid ? static_cast<int>(options.integer_in("r", 1, most_projections, 5)) : 0;
    if (const auto wanted = 3 * std::int64_t{m} * (1 + r); kind() == FeatureKind::hybrid && wanted > most_features)
      options.fail(text("asks for 3 m (1 + r) = ", wanted, " features; there may be ", most_features));
    ensemble = options.choice("ensemble", {"iid", "orthogonal"}, "orthogonal") == "iid" ? Ensemble::iid : Ensemble::orthogonal;
    seed = static_cast<std::uint64_t>(options.integer_in("seed", 0, std::numeric_limits<std::int64_t>::max(), 0));
    if (kernel.features->shape) shape = kernel.features->shape(options, d);
  }
  FeatureKind kind() const { return kernel.features->kind; }
  int features() const { return feature_count(kind(), m, r); }
  Projections draw(int d, std::uint64_t with) const {
    Projections drawn = draw_projections(ensemble, d, m, r, with);
    if (shape) shape(drawn);
    return drawn;
  }

  const KernelEntry& kernel;
  int m, r;
  Ensemble ensemble;
  std::uint64_t seed;
  Shaping shape;

 private:
  static const KernelEntry& read_kind(Options& options) {
    std::vector<std::string> names;
    for (const auto& entry : kernel_catalog())
      if (entry.features) names.push_back(entry.name);
    const std::string name = options.choice("kind", names, "hybrid");
    return *std::ranges::find(kernel_catalog(), name, &KernelEntry::name);
  }
};

/// @lua function iap.theory.softmax_kernel
/// The kernel that random features estimate: exp(x . y).
/// @param x number[] - a vector
/// @param y number[] - another one, as long
/// @return number - positive
int softmax(Call& call) {
  const Pair pair(call);
  return call.give(softmax_kernel(pair.x, pair.y));
}

/// @lua function iap.theory.mse_trig
/// Mean squared error of trigonometric features, in closed form (v1 theorem 4.1).
/// @param x number[] - a vector
/// @param y number[] - another one, as long
/// @param m integer 1..1048576 - projections
/// @return number - for independent projections; orthogonal ones err no more up to |x - y| = 2.9, at most 1.5 % more beyond

/// @lua function iap.theory.mse_exp
/// Mean squared error of positive exponential features, in closed form (v1 theorem 4.1).
/// @param x number[] - a vector
/// @param y number[] - another one, as long
/// @param m integer 1..1048576 - projections
/// @return number - for independent projections

/// @lua function iap.theory.mse_hyb
/// Mean squared error of hybrid features, in closed form (v1 theorem 4.1).
/// @param x number[] - a vector
/// @param y number[] - another one, as long
/// @param m integer 1..1048576 - projections
/// @param r integer 1..1048576 - sign projections
/// @return number - for independent projections; NaN where a vector is zero
int trig_error(Call& call) {
  const Pair pair(call);
  return call.give(mse_trig(pair.x, pair.y, count_at(call, 3, "m")));
}
int exp_error(Call& call) {
  const Pair pair(call);
  return call.give(mse_exp(pair.x, pair.y, count_at(call, 3, "m")));
}
int hybrid_error(Call& call) {
  const Pair pair(call);
  return call.give(mse_hyb(pair.x, pair.y, count_at(call, 3, "m"), count_at(call, 4, "r")));
}

/// @lua function iap.theory.mse
/// Mean squared error of any kind of random features, in closed form.
/// @param x number[] - a vector
/// @param y number[] - another one, as long
/// @param options table ? - which features
/// @use theory.features
/// @return number - for independent projections; of "hybrid" NaN where a vector is zero
/// @example iap.theory.mse({ 0.1, 0.2 }, { 0.3, 0.1 }, { kind = "exp", m = 20 })
int kind_error(Call& call) {
  const Pair pair(call);
  const Config config = call.config(3, "options");
  Options options(call.name(), config);
  const FeatureChoice map(options, static_cast<int>(pair.x.size()));
  const double error = map.kernel.features->mse(options, pair.x, pair.y, map.m, map.r);
  options.finish();
  return call.give(error);
}

/// @lua function iap.theory.hash_bits
/// Bits a code with which ranking by hash keeps every score within exp(sqrt(d)) (pi / 2) epsilon (v2 theorem 4.3, as its proof
/// shows).
/// @param epsilon number 0.. - positive
/// @param p number 0..1 - probability of failure, above 0 and below 1
/// @param patches number 0.. - keys
/// @param steps number 0.. - queries
/// @return number - not rounded
int bits(Call& call) {
  return call.give(
      hash_bits(positive(call, 1, "epsilon"), probability(call, 2, "p"), positive(call, 3, "patches"), positive(call, 4, "steps")));
}

/// @lua function iap.theory.projections_trig
/// Projections with which trigonometric features rank within epsilon of exact attention (v2 theorem 4.4, first part, from what its
/// proof uses). The kernel is needed to epsilon / tau, tau = exp(radius^2 / sqrt(d)). The proof has tau as a factor of the
/// probability alone, which gives some tau^2 times fewer.
/// @param epsilon number 0.. - positive
/// @param p number 0..1 - probability of failure, above 0 and below 1
/// @param d integer 1.. - size of queries and keys
/// @param radius number 0.. - their greatest length
/// @return number - not rounded; 0 where any number will do

/// @lua function iap.theory.projections_trig_stated
/// The same as the theorem states it.
/// @param epsilon number 0.. - positive
/// @param p number 0..1 - probability of failure, above 0 and below 1
/// @param d integer 1.. - size of queries and keys
/// @param radius number 0.. - their greatest length
/// @return number - not rounded; 0 where any number will do
template <double (*bound)(double, double, int, double)>
int trig_bound(Call& call) {
  return call.give(
      bound(positive(call, 1, "epsilon"), probability(call, 2, "p"), count_at(call, 3, "d"), positive(call, 4, "radius")));
}

/// @lua function iap.theory.projections_exp
/// Projections with which positive features keep the scores of unimportant patches within epsilon (v2 theorem 4.4, second part).
/// @param epsilon number 0.. - positive
/// @param p number 0..1 - probability of failure, above 0 and below 1
/// @param d integer 1.. - size of queries and keys
/// @param alpha number 0.. - unimportant keys make an angle of at least pi - alpha with every query, radians: up to pi
/// @param unimportant number 0.. - such patches
/// @param steps number 0.. - queries
/// @return number - not rounded
int exp_bound(Call& call) {
  const double epsilon = positive(call, 1, "epsilon"), p = probability(call, 2, "p");
  const int d = count_at(call, 3, "d");
  const double alpha = positive(call, 4, "alpha");
  if (alpha > std::numbers::pi) call.refuse(4, "alpha", "an angle of at most pi");
  return call.give(projections_exp(epsilon, p, d, alpha, positive(call, 5, "unimportant"), positive(call, 6, "steps")));
}

/// @lua function iap.theory.feature_map
/// The random features phi(x): phi(x) . phi(y) estimates exp(x . y).
/// @param x number[] - a vector
/// @param options table ? - which features
/// @option side "query"|"key" = "query" - hybrid features have a map for queries and another for keys
/// @use theory.features
/// @return number[] - m, 2 m or 3 m (1 + r) of them
/// @example iap.theory.feature_map({ 0.1, 0.2 }, { kind = "exp", m = 4 })
int map_features(Call& call) {
  const auto x = vector_at(call, 1, "x");
  const Config config = call.config(2, "options");
  Options options(call.name(), config);
  const FeatureChoice map(options, static_cast<int>(x.size()));
  const Side side = options.choice("side", {"query", "key"}, "query") == "query" ? Side::query : Side::key;
  options.finish();
  std::vector<double> phi(static_cast<std::size_t>(map.features()));
  feature_map(map.kind(), map.draw(static_cast<int>(x.size()), map.seed), side, x, phi);
  return call.give(std::span<const double>(phi));
}

/// @lua function iap.theory.estimate
/// Estimates exp(x . y) with many draws of the projections.
/// @param x number[] - a vector
/// @param y number[] - another one, as long
/// @param options table ? - which features, how many draws
/// @option draws integer 1.. = 1 - of the projections
/// @use theory.features
/// @return number mean - of the estimates
/// @return number mse - their mean squared error
/// @return number mean_deviation - standard deviation of the first
/// @return number mse_deviation - and of the second; nil where there is one draw
/// @example iap.theory.estimate({ 0.1, 0.2 }, { 0.3, 0.1 }, { draws = 100 })
int estimate(Call& call) {
  const Pair pair(call);
  const Config config = call.config(3, "options");
  Options options(call.name(), config);
  const auto d = static_cast<int>(pair.x.size());
  const FeatureChoice map(options, d);
  const auto draws = options.integer_in("draws", 1, most_draws, 1);
  options.finish();
  const double wanted = softmax_kernel(pair.x, pair.y);
  std::vector<double> a(static_cast<std::size_t>(map.features())), b(a.size());
  double first = 0, second = 0, fourth = 0;
  for (std::int64_t i = 0; i < draws; ++i) {
    check_interrupt();
    const auto seed = derive_seed({.seed = map.seed, .iteration = static_cast<std::uint32_t>(i), .purpose = Purpose::projection});
    const Projections projections = map.draw(d, seed);
    feature_map(map.kind(), projections, Side::query, pair.x, a);
    feature_map(map.kind(), projections, Side::key, pair.y, b);
    double error = -wanted;
    for (std::size_t k = 0; k < a.size(); ++k) error += a[k] * b[k];
    first += error;
    second += error * error;
    fourth += error * error * error * error;
  }
  const auto n = static_cast<double>(draws);
  const double mse = second / n;
  const int given = call.give(wanted + first / n) + call.give(mse) + call.give(std::sqrt(mse / n));
  // How squared errors scatter, one does not say.
  return given + (draws == 1 ? call.give(Config()) : call.give(std::sqrt(std::max(0.0, fourth / n - mse * mse) / n)));
}

constexpr lua::Function functions[] = {
    {"softmax_kernel", entry<softmax>},
    {"mse_trig", entry<trig_error>},
    {"mse_exp", entry<exp_error>},
    {"mse_hyb", entry<hybrid_error>},
    {"mse", entry<kind_error>},
    {"hash_bits", entry<bits>},
    {"projections_trig", entry<trig_bound<projections_trig>>},
    {"projections_trig_stated", entry<trig_bound<projections_trig_stated>>},
    {"projections_exp", entry<exp_bound>},
    {"feature_map", entry<map_features>},
    {"estimate", entry<estimate>},
};

}  // namespace

/// @lua table iap.theory
/// What is known of estimators by random features: closed forms, bounds, and the features themselves. v1 and v2 are the papers.
/// @see attention.md
void open_theory_face(lua_State* state) {
  lua::push_functions(state, "iap.theory", ".", functions);
  lua_setfield(state, -2, "theory");
}

}  // namespace iap
