module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;

namespace iap {
namespace {

/// FNV-1a in 64 bits: gives each block's path its own stream of random numbers.
std::uint64_t hash_path(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void collect_blocks(Block& block, std::vector<Block*>& blocks) {
  blocks.push_back(&block);
  for (const auto& child : block.children()) collect_blocks(*child, blocks);
}

void collect_views(const Block& block, std::vector<AttentionView>& views) {
  block.collect_views(views);
  const auto children = block.children();
  for (std::size_t child = 0; child < children.size(); ++child) {
    const std::size_t before = views.size();
    collect_views(*children[child], views);
    block.date_views(child, std::span(views).subspan(before));
  }
}

/// A path names one block: what is asked for by it is found.
void check_paths(const std::vector<Block*>& blocks) {
  std::vector<std::string_view> paths;
  for (const Block* block : blocks) paths.push_back(block->path());
  std::ranges::sort(paths);
  if (const auto twice = std::ranges::adjacent_find(paths); twice != paths.end())
    throw Error(text("policy: two blocks are called '", *twice, "'; give them different names"));
}

void check_count(std::size_t given, std::size_t size) {
  if (given != size) throw Error(text("policy: got ", given, " parameters, it has ", size));
}

/// The block that writes the action, for messages.
const Block& last_block(const Block& block) {
  const auto kind = block.kind();
  const bool passes_on = kind == "sequence" || kind == "attention_agent" || kind == "hierarchy";
  return passes_on ? last_block(*block.children().back()) : block;
}

}  // namespace

struct Policy::Impl {
  /// `check_layout`, if there is one, sees the layout before memory is taken for parameters.
  Impl(const Config& architecture, ObservationSpec observation_, int action_size_,
       const std::function<void(const ParameterLayout&)>& check_layout)
      : observation(std::move(observation_)), action_size(action_size_) {
    if (action_size < 1) throw Error(text("policy: the action size must be positive, got ", action_size));
    root = make_block(architecture, {&observation, action_size, observation.vector, true, "policy"}, layout);
    if (root->outputs() != action_size)
      throw Error(text("policy: its last block '", last_block(*root).path(), "' gives ", root->outputs(),
                       " values, but the environment takes ", action_size, " action values; end with a linear block"));
    collect_blocks(*root, blocks);
    check_paths(blocks);
    if (check_layout) check_layout(layout);
    std::size_t watched = 0;
    for (const Block* block : blocks) watched += block->moments();
    check_memory("policy: what it learns", static_cast<double>(layout.size() * sizeof(float) + watched * sizeof(Moment)));
    parameters.resize(layout.size());
    action.resize(static_cast<std::size_t>(action_size));
    moments.resize(watched);
    bind();
    use_moments();
  }
  // An interrupt may end it early; what it did not come to is done before the policy acts again.
  void bind() {
    bound = false;
    for (Block* block : blocks) block->bind(parameters);
    bound = true;
  }
  void use_moments() {
    std::span<const Moment> rest = moments;
    for (Block* block : blocks) {
      block->use_moments(rest.first(block->moments()));
      rest = rest.subspan(block->moments());
    }
  }
  void check(const Observation& seen) const;

  ObservationSpec observation;
  int action_size;
  ParameterLayout layout;
  std::unique_ptr<Block> root;
  std::vector<Block*> blocks;
  std::vector<float> parameters, action;
  std::vector<Moment> moments;
  bool bound = false;  // all blocks have these parameters
};

void Policy::Impl::check(const Observation& seen) const {
  if (seen.vector.size() != static_cast<std::size_t>(observation.vector))
    throw Error(text("policy: the observation's vector has ", seen.vector.size(), " values, the policy was built for ",
                     observation.vector));
  if (seen.images.size() != observation.images.size())
    throw Error(
        text("policy: the observation has ", seen.images.size(), " images, the policy was built for ", observation.images.size()));
  for (std::size_t i = 0; i < seen.images.size(); ++i) {
    const auto& [name, shape] = observation.images[i];
    if (!(seen.images[i].shape == shape))
      throw Error(
          text("policy: image '", name, "' is ", describe(seen.images[i].shape), ", the policy was built for ", describe(shape)));
    if (!seen.images[i].data) throw Error(text("policy: image '", name, "' of the observation has no pixels"));
  }
}

Policy::Policy(const Config& architecture, ObservationSpec observation, int action_size)
    : impl_(std::make_unique<Impl>(architecture, std::move(observation), action_size, nullptr)) {}
Policy::Policy(const Config& architecture, ObservationSpec observation, int action_size, std::span<const float> parameters,
               const std::function<void(const ParameterLayout&)>& check)
    : impl_(std::make_unique<Impl>(architecture, std::move(observation), action_size, [&](const ParameterLayout& layout) {
        check(layout);
        check_count(parameters.size(), layout.size());
      })) {
  set_parameters(parameters);
  // Projections may be those of an episode.
  reset();
}
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;
Policy::~Policy() = default;

const Config& Policy::architecture() const { return impl_->root->config(); }
const ObservationSpec& Policy::observation() const { return impl_->observation; }
int Policy::action_size() const { return impl_->action_size; }
std::size_t Policy::size() const { return impl_->parameters.size(); }
const ParameterLayout& Policy::layout() const { return impl_->layout; }
const Block& Policy::root() const { return *impl_->root; }
std::span<const float> Policy::parameters() const { return impl_->parameters; }

const Block& Policy::block(std::string_view path) const {
  std::vector<std::string> known;
  for (const Block* block : impl_->blocks) {
    if (block->path() == path) return *block;
    known.push_back(block->path());
  }
  throw Error(text("policy: there is no block '", path, "'", did_you_mean(path, known)));
}

std::span<const float> Policy::outputs(std::string_view path) const { return block(path).written(); }

void Policy::set_parameters(std::span<const float> parameters) {
  check_count(parameters.size(), size());
  for (const auto& slice : layout().slices())
    for (std::size_t i = 0; i < slice.size; ++i)
      if (const float value = parameters[slice.offset + i]; !std::isfinite(value))
        throw Error(text("policy: parameter ", i + 1, " of '", slice.name, "' is ", value, "; parameters must be finite"));
  std::ranges::copy(parameters, impl_->parameters.begin());
  impl_->bind();
}

void Policy::initialise(std::uint64_t seed) {
  std::ranges::fill(impl_->parameters, 0.0f);
  for (const Block* block : impl_->blocks) {
    const std::uint64_t hash = hash_path(block->path());
    Random random({.seed = seed,
                   .iteration = static_cast<std::uint32_t>(hash >> 32),
                   .member = static_cast<std::uint32_t>(hash),
                   .purpose = Purpose::initial_parameters});
    block->initialise(impl_->parameters, random);
  }
  impl_->bind();
  // A block in Lua draws its parameters with the math.random of its episodes.
  reset();
}

void Policy::reset(std::uint64_t episode_seed) {
  for (Block* block : impl_->blocks) block->reset(episode_seed);
}

std::span<const float> Policy::act(const Observation& observation) {
  impl_->check(observation);
  if (!impl_->bound) impl_->bind();
  impl_->root->run(observation, observation.vector, impl_->action);
  return impl_->action;
}

std::span<const Moment> Policy::moments() const { return impl_->moments; }

void Policy::set_moments(std::span<const Moment> totals) {
  if (totals.size() != moments().size())
    throw Error(text("policy: got ", totals.size(), " moments, its blocks gather ", moments().size()));
  for (std::size_t i = 0; i < totals.size(); ++i)
    if (const auto& [count, mean, squares] = totals[i];
        !(count >= 0 && squares >= 0 && std::isfinite(count) && std::isfinite(mean) && std::isfinite(squares)))
      throw Error(text("policy: moment ", i + 1, " is (", count, ", ", mean, ", ", squares,
                       "); moments must be finite, count and squares not negative"));
  std::ranges::copy(totals, impl_->moments.begin());
  impl_->use_moments();
}

std::vector<Moment> Policy::gathered() const {
  std::vector<Moment> episode(moments().size());
  std::span<Moment> rest = episode;
  for (const Block* block : impl_->blocks) {
    block->gathered(rest.first(block->moments()));
    rest = rest.subspan(block->moments());
  }
  return episode;
}

std::vector<AttentionView> Policy::views() const {
  std::vector<AttentionView> views;
  collect_views(*impl_->root, views);
  return views;
}

Policy Policy::clone() const {
  Policy copy(architecture(), observation(), action_size());
  copy.set_parameters(parameters());
  copy.set_moments(moments());
  copy.reset();
  return copy;
}

}  // namespace iap
