#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

constexpr std::int64_t most_projections = 1 << 20, most_draws = 1 << 30;

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

/// A random feature map for vectors of d numbers as an option table describes it: a kernel of the catalog that has one.
struct FeatureChoice {
  FeatureChoice(Options& options, int d) : kernel(read_kind(options)) {
    m = static_cast<int>(options.integer_in("m", 1, most_projections, 10));
    r = kind() == FeatureKind::hybrid ? static_cast<int>(options.integer_in("r", 1, most_projections, 5)) : 0;
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

/// iap.theory.softmax_kernel(x, y): exp(x . y)
int softmax(Call& call) {
  const Pair pair(call);
  return call.give(softmax_kernel(pair.x, pair.y));
}

/// iap.theory.mse_trig(x, y, m), mse_exp(x, y, m), mse_hyb(x, y, m, r): closed forms of v1 theorem 4.1
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

/// iap.theory.mse(x, y, {kind, m, r, and the kind's own}): the closed form of any kind of random features
int kind_error(Call& call) {
  const Pair pair(call);
  const Config config = call.config(3, "options");
  Options options(call.name(), config);
  const FeatureChoice map(options, static_cast<int>(pair.x.size()));
  const double error = map.kernel.features->mse(options, pair.x, pair.y, map.m, map.r);
  options.finish();
  return call.give(error);
}

/// iap.theory.hash_bits(epsilon, p, patches, steps)
int bits(Call& call) {
  return call.give(
      hash_bits(positive(call, 1, "epsilon"), probability(call, 2, "p"), positive(call, 3, "patches"), positive(call, 4, "steps")));
}

/// iap.theory.projections_trig(epsilon, p, d, radius), projections_trig_stated(...)
template <double (*bound)(double, double, int, double)>
int trig_bound(Call& call) {
  return call.give(
      bound(positive(call, 1, "epsilon"), probability(call, 2, "p"), count_at(call, 3, "d"), positive(call, 4, "radius")));
}

/// iap.theory.projections_exp(epsilon, p, d, alpha, unimportant, steps)
int exp_bound(Call& call) {
  return call.give(projections_exp(positive(call, 1, "epsilon"), probability(call, 2, "p"), count_at(call, 3, "d"),
                                   positive(call, 4, "alpha"), positive(call, 5, "unimportant"), positive(call, 6, "steps")));
}

/// iap.theory.feature_map(x, {kind, m, r, ensemble, seed, side}) -> phi(x)
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

/// iap.theory.estimate(x, y, {kind, m, r, ensemble, seed, draws}) -> mean of phi(x) . phi(y) over draws of the projections, its
/// mean squared error against exp(x . y), and the standard deviations of the two
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
  return call.give(wanted + first / n) + call.give(mse) + call.give(std::sqrt(mse / n)) +
         call.give(std::sqrt(std::max(0.0, fourth / n - mse * mse) / n));
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

void open_theory_face(lua_State* state) {
  lua::push_functions(state, "iap.theory", ".", functions);
  lua_setfield(state, -2, "theory");
}

}  // namespace iap
