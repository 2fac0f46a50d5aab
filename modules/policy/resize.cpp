module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import :block;
import :compression;
import :resample;
#include "policy/forget_dt.hpp"

namespace iap {
namespace {

void collect(const Block& block, std::vector<GridParameters>& grids) {
  block.collect_grids(grids);
  for (const auto& child : block.children()) collect(*child, grids);
}

std::vector<GridParameters> grids_of(const Policy& policy) {
  std::vector<GridParameters> grids;
  collect(policy.root(), grids);
  return grids;
}

const GridParameters* grid_at(const std::vector<GridParameters>& grids, const ParameterSlice& slice) {
  const auto found = std::ranges::find(grids, slice.offset, &GridParameters::offset);
  return found == grids.end() ? nullptr : &*found;
}

std::string block_of(const ParameterSlice& slice) { return slice.name.substr(0, slice.name.rfind('.')); }

std::string shape_of(const ParameterSlice& slice) {
  std::string shape;
  for (const int extent : slice.shape) shape += text(shape.empty() ? "" : " x ", extent);
  return text("'", slice.name, "' (", shape, ")");
}

std::string sizes_of(const ObservationSpec& spec) {
  std::string sizes;
  for (const auto& [name, shape] : spec.images) sizes += text(sizes.empty() ? "" : ", ", shape.height, " x ", shape.width);
  return sizes.empty() ? "no image" : sizes;
}

[[noreturn]] void refuse(const ParameterSlice& have, const ParameterSlice& want, const Policy& from, const Policy& to) {
  if (have.name != want.name)
    throw Error(text("block '", block_of(want), "' does not fit: it has the parameters ", shape_of(want),
                     " where the other policy has ", shape_of(have)));
  const bool sizes = from.observation() != to.observation();
  throw Error(text("block '", block_of(want), "' does not fit: its parameters ", shape_of(want), " are ", shape_of(have),
                   " in the other policy",
                   sizes ? text("; it sees ", sizes_of(to.observation()), ", the other ", sizes_of(from.observation())) : ""));
}

/// @throws Error if `now`, or a block in it, draws its table for other patches than `before` did: it would be another table, which
/// has nothing to do with what was learned behind it. All that a block draws is for one grid.
void check_drawn(const Block& before, const Block& now) {
  const auto grid_of = [](const Block& block) {
    std::vector<GridParameters> grids;
    block.collect_grids(grids);
    const auto found = std::ranges::find(grids, drawn_table, &GridParameters::offset);
    return found == grids.end() ? std::nullopt : std::optional(*found);
  };
  const auto patches = [](const GridParameters& grid) { return text(grid.rows.count, " x ", grid.columns.count); };
  if (const auto had = grid_of(before), has = grid_of(now); had && has && patches(*had) != patches(*has))
    throw Error(
        text("block '", now.path(), "' does not fit: its random P was drawn for ", patches(*had),
             " patches and would be another one for ", patches(*has),
             "; pool the pixels (fit \"pool\", at init option 'pool'), or train with compression \"average\" or \"learned\""));
  for (std::size_t i = 0; i < std::min(before.children().size(), now.children().size()); ++i)
    check_drawn(*before.children()[i], *now.children()[i]);
}

void collect_moments(const Block& block, std::vector<const Block*>& gathering) {
  if (block.moments() > 0) gathering.push_back(&block);
  for (const auto& child : block.children()) collect_moments(*child, gathering);
}

/// The blocks that gather moments, in their order.
std::vector<const Block*> gathering(const Policy& policy) {
  std::vector<const Block*> blocks;
  collect_moments(policy.root(), blocks);
  return blocks;
}

/// How many times as large images are, by name.
using PoolFactors = std::map<std::string, std::int64_t, std::less<>>;

/// That of the image which the block with these options looks at.
std::int64_t factor_of(const Config::Map& block, const PoolFactors& factors, const ObservationSpec& observation) {
  const auto image = block.find("image");
  return factors.at(image != block.end() && image->second.string() ? *image->second.string() : observation.images.front().name);
}

/// `architecture` with the option `pool` of every block that has one times its image's factor, not that of a cnn's layers. Blocks
/// that look at patches without it cannot pool.
void pool_blocks(Config& architecture, const PoolFactors& factors, const ObservationSpec& observation) {
  if (Config::List* list = architecture.list())
    for (Config& item : *list) pool_blocks(item, factors, observation);
  Config::Map* map = architecture.map();
  if (!map || is_lua_block(architecture)) return;
  const bool block = map->contains("kind") || map->contains("patch");
  if (const auto pool = map->find("pool"); block && pool != map->end()) {
    pool->second = pool->second.integer().value_or(1) * factor_of(*map, factors, observation);
  } else if (map->contains("patch") && factor_of(*map, factors, observation) > 1) {
    const Config* kind = architecture.find("kind");
    throw Error(text("a block ", kind && kind->string() ? *kind->string() : "of the policy",
                     " cannot pool pixels; leave its image at the size that the policy was built for"));
  }
  for (auto& [key, value] : *map) pool_blocks(value, factors, observation);
}

/// Whole multiples of `shape` that are next to `size`: "48 x 64 or 72 x 96".
std::string multiples_near(const ImageShape& shape, const ImageShape& size) {
  const int below = std::max(1, std::min(size.height / shape.height, size.width / shape.width)), above = below + 1;
  return text(below * shape.height, " x ", below * shape.width, " or ", above * shape.height, " x ", above * shape.width);
}

/// How many times as large the images of `now` are. @throws Error unless that is a whole number for each.
PoolFactors pool_factors(const ObservationSpec& before, const ObservationSpec& now) {
  PoolFactors factors;
  for (std::size_t i = 0; i < before.images.size(); ++i) {
    const ImageShape &was = before.images[i].shape, &is = now.images[i].shape;
    const bool whole = is.height % was.height == 0 && is.width % was.width == 0 && is.height / was.height == is.width / was.width;
    if (!whole)
      throw Error(
          text("image '", now.images[i].name, "' is ", is.height, " x ", is.width, ", which is no whole multiple of the ",
               was.height, " x ", was.width,
               " that the policy was built for, so that pooling cannot bring it there; take a whole multiple of it, such as ",
               multiples_near(was, is)));
    factors.emplace(now.images[i].name, is.height / was.height);
  }
  return factors;
}

}  // namespace

std::vector<float> carried_parameters(const Policy& from, std::span<const float> parameters, const Policy& to) {
  if (parameters.size() != from.size()) throw Error(text("policy: got ", parameters.size(), " parameters, it has ", from.size()));
  const auto &have = from.layout().slices(), &want = to.layout().slices();
  const auto grids_before = grids_of(from), grids_now = grids_of(to);
  check_memory("policy: bringing it to another size", sizeof(float) * static_cast<double>(to.size()));
  std::vector<float> carried;
  carried.reserve(to.size());
  for (std::size_t i = 0; i < std::min(have.size(), want.size()); ++i) {
    const auto values = parameters.subspan(have[i].offset, have[i].size);
    const GridParameters *before = grid_at(grids_before, have[i]), *now = grid_at(grids_now, want[i]);
    const bool over_patches = before && now && before->tables == now->tables && before->values == now->values;
    if (have[i].name != want[i].name || (!over_patches && have[i].shape != want[i].shape)) refuse(have[i], want[i], from, to);
    if (over_patches) {
      const auto table = resample(values, *before, *now);
      carried.insert(carried.end(), table.begin(), table.end());
    } else {
      carried.insert(carried.end(), values.begin(), values.end());
    }
  }
  if (have.size() > want.size())
    throw Error(text("the other policy goes on with block '", block_of(have[want.size()]), "', for which there is none here"));
  if (want.size() > have.size())
    throw Error(text("block '", block_of(want[have.size()]), "' does not fit: the other policy ends before it"));
  check_drawn(from.root(), to.root());
  return carried;
}

bool has_seen(const Policy& policy) {
  return std::ranges::any_of(policy.moments(), [](const Moment& moment) { return moment.count > 0; });
}

std::string moments_difference(const Policy& from, const Policy& to) {
  const auto have = gathering(from), want = gathering(to);
  for (std::size_t i = 0; i < std::min(have.size(), want.size()); ++i)
    if (have[i]->path() != want[i]->path() || have[i]->moments() != want[i]->moments())
      return text("block '", want[i]->path(), "' gathers ", want[i]->moments(), " moments, where the other policy has ",
                  have[i]->moments(), " of '", have[i]->path(), "'");
  if (have.size() > want.size())
    return text("the other policy has moments of '", have[want.size()]->path(), "', for which there is no block here");
  if (want.size() > have.size())
    return text("block '", want[have.size()]->path(), "' gathers moments, and the other policy has none for it");
  return "";
}

extern "C++" void forget_dt(Config& architecture, double own) {
  if (Config::List* list = architecture.list())
    for (Config& item : *list) forget_dt(item, own);
  Config::Map* map = architecture.map();
  if (!map || is_lua_block(architecture)) return;
  const auto kind = map->find("kind"), dt = map->find("dt");
  if (kind != map->end() && kind->second == Config("clock") && dt != map->end() && dt->second.number() == own) map->erase(dt);
  for (auto& [key, value] : *map) forget_dt(value, own);
}

Config blueprint_of(const Policy& policy) {
  Config architecture = policy.architecture();
  if (const double own = policy.observation().dt; own > 0) forget_dt(architecture, own);
  return architecture;
}

const std::vector<std::string>& fit_names() {
  static const std::vector<std::string> names{"resample", "pool"};
  return names;
}

Fit read_fit(Options& options) {
  const auto& names = fit_names();
  return static_cast<Fit>(std::ranges::find(names, options.choice("fit", names, names.front())) - names.begin());
}

namespace {

/// What may be done where pooling cannot: nothing more where blocks behind the patches depend on how many there are.
std::string or_resample(const Policy& policy, const ObservationSpec& observation) try {
  resized(policy, observation, Fit::resample);
  return ", or fit \"resample\"";
} catch (const Error&) {
  return "";
}

}  // namespace

Policy resized(const Policy& policy, const ObservationSpec& observation, Fit fit) {
  const ObservationSpec& own = policy.observation();
  if (const auto difference = observation_difference(observation, own, ImageSizes::any); !difference.empty())
    throw Error(text("a policy can be fitted to other image sizes alone, not to ", difference));
  Config architecture = observation.dt > 0 ? blueprint_of(policy) : policy.architecture();
  if (fit == Fit::pool) {
    try {
      pool_blocks(architecture, pool_factors(own, observation), own);
    } catch (const Error& error) {
      throw Error(error.what() + or_resample(policy, observation));
    }
  }
  Policy made(architecture, observation, policy.action_size());
  made.set_parameters(carried_parameters(policy, policy.parameters(), made));
  if (const auto difference = moments_difference(policy, made); difference.empty())
    made.set_moments(policy.moments());
  else if (has_seen(policy))
    throw Error(text(difference, "; normalise what has the same size for all sizes of images"));
  // Projections may be those of an episode.
  made.reset();
  return made;
}

}  // namespace iap
