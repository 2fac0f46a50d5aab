module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

using Children = std::vector<std::unique_ptr<Block>>;

const Config::List& read_blocks(Options& options) {
  const auto& blocks = options.list("blocks");
  if (blocks.empty()) options.fail("option 'blocks' must list at least one block");
  if (blocks.size() > most_blocks)
    options.fail(text("option 'blocks' lists ", blocks.size(), " blocks, a policy may have ", most_blocks, "; take fewer"));
  return blocks;
}

Config::List configs_of(const Options& options, std::span<const std::unique_ptr<Block>> children) {
  double bytes = 0;
  for (const auto& child : children) bytes += tree_bytes(child->config());
  check_tables(options, bytes);
  Config::List configs;
  configs.reserve(children.size());
  for (const auto& child : children) configs.push_back(child->config());
  return configs;
}

class Sequence final : public Block {
 public:
  Sequence(std::string_view kind, const BlockContext& context, Children children)
      : Block(context, children.back()->outputs()), kind_(kind), children_(std::move(children)) {
    for (std::size_t i = 0; i + 1 < children_.size(); ++i) between_.emplace_back(children_[i]->outputs());
  }
  std::string_view kind() const override { return kind_; }
  std::string memory() const override { return ""; }
  std::span<const std::unique_ptr<Block>> children() const override { return children_; }
  void forward(const Observation& observation, std::span<const float> in, std::span<float> out) override {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      check_interrupt();
      const auto target = i + 1 < children_.size() ? std::span<float>(between_[i]) : out;
      children_[i]->run(observation, in, target);
      in = target;
    }
  }

 private:
  std::string_view kind_;
  Children children_;
  std::vector<std::vector<float>> between_;
};

class Concat final : public Block {
 public:
  Concat(const BlockContext& context, Children children, int outputs) : Block(context, outputs), children_(std::move(children)) {}
  std::string_view kind() const override { return "concat"; }
  std::string memory() const override { return ""; }
  std::span<const std::unique_ptr<Block>> children() const override { return children_; }
  void forward(const Observation& observation, std::span<const float> in, std::span<float> out) override {
    for (const auto& child : children_) {
      check_interrupt();
      const auto size = static_cast<std::size_t>(child->outputs());
      child->run(observation, in, out.first(size));
      out = out.subspan(size);
    }
  }

 private:
  Children children_;
};

class VectorObservation final : public Block {
 public:
  VectorObservation(const BlockContext& context, int outputs, std::vector<std::int64_t> numbers)
      : Block(context, outputs), numbers_(std::move(numbers)) {}
  std::string_view kind() const override { return "observation"; }
  std::string memory() const override { return ""; }
  std::string describe() const override { return text(outputs(), " numbers"); }
  void forward(const Observation& observation, std::span<const float>, std::span<float> out) override {
    if (numbers_.empty()) std::ranges::copy(observation.vector, out.begin());
    for (std::size_t i = 0; i < numbers_.size(); ++i) out[i] = observation.vector[static_cast<std::size_t>(numbers_[i] - 1)];
  }

 private:
  std::vector<std::int64_t> numbers_;  // counted from 1; none: all of them
};

}  // namespace

MadeBlock make_chain(std::string_view kind, const Config::List& blocks, const BlockContext& context, ParameterLayout& layout) {
  Children children;
  BlockContext next = context;
  double handed_on = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    next.path = child_path(context.path, static_cast<int>(i) + 1, blocks[i]);
    next.last = context.last && i + 1 == blocks.size();
    children.push_back(make_block(blocks[i], next, layout));
    next.inputs = children.back()->outputs();
    handed_on += i + 1 < blocks.size() ? next.inputs : 0.0;
  }
  check_memory(text("block '", context.path, "': what its blocks hand on"), sizeof(float) * handed_on);
  return std::make_unique<Sequence>(kind, context, std::move(children));
}

/// @lua function iap.policy.sequence
/// Blocks one after the other: each reads what the one before hands over.
/// @option blocks blueprint[] - the blocks; written as the table's list, sequence { a, b }
/// @use policy.block
/// @return blueprint - of all of them
/// @example iap.policy.sequence {
///   iap.attention.rank { patch = 4 }, iap.policy.linear { activation = "tanh" },
/// }
/// @see controllers.md
MadeBlock make_sequence(Options& options, const BlockContext& context, ParameterLayout& layout) {
  auto made = make_chain("sequence", read_blocks(options), context, layout);
  options.complete("blocks", configs_of(options, made->children()));
  return made;
}

/// @lua function iap.policy.concat
/// Blocks side by side: all read the same numbers, and what they hand over is joined.
/// @option blocks blueprint[] - the blocks; written as the table's list, concat { a, b }
/// @use policy.block
/// @return blueprint - of all of them
/// @example iap.policy.concat { iap.attention.rank { patch = 4 }, iap.policy.clock { dt = 0.04 } }
/// @see controllers.md
MadeBlock make_concat(Options& options, const BlockContext& context, ParameterLayout& layout) {
  const auto& blocks = read_blocks(options);
  Children children;
  BlockContext next = context;
  next.last = false;
  std::int64_t outputs = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    next.path = child_path(context.path, static_cast<int>(i) + 1, blocks[i]);
    children.push_back(make_block(blocks[i], next, layout));
    outputs += children.back()->outputs();
  }
  options.complete("blocks", configs_of(options, children));
  return std::make_unique<Concat>(context, std::move(children), checked_outputs(options, outputs));
}

/// @lua function iap.policy.observation
/// Hands over the observation's vector, or some of its numbers, whatever it reads.
/// @option numbers integer[] = (all of them) - which of the vector, counted from 1, in the order in which they are handed over
/// @use policy.block
/// @return blueprint - without parameters
/// @example iap.policy.observation { numbers = { 1, 2 } }
MadeBlock make_observation(Options& options, const BlockContext& context, ParameterLayout&) {
  const std::int64_t size = context.observation->vector;
  if (size == 0)
    options.fail("the environment's observation has no vector; take this block out, or choose an environment with one");
  const bool all = options.value("numbers").is_null();
  auto numbers = all ? std::vector<std::int64_t>{} : options.integers("numbers");
  if (!all && numbers.empty()) options.fail("option 'numbers' is empty; name some, or leave it out for all of them");
  check_numbers(options, "numbers", numbers, size, "the vector");
  const int outputs = checked_outputs(options, all ? size : static_cast<std::int64_t>(numbers.size()));
  return std::make_unique<VectorObservation>(context, outputs, std::move(numbers));
}

}  // namespace iap
