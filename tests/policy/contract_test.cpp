// What every block promises whoever plays it, tried with long episodes.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tried_blocks.hpp"
import iap.script;

using namespace iap;

namespace {

const bool registered = (register_lua(), true);

constexpr std::uint64_t middle = episode_steps / 2;

using Actions = std::vector<std::vector<float>>;

/// What the block, or one inside it, says that it remembers; "" if none does.
std::string remembered(const Block& block) {
  if (std::string why = block.memory(); !why.empty()) return why;
  for (const auto& child : block.children())
    if (std::string why = remembered(*child); !why.empty()) return why;
  return "";
}

Policy with_parameters(const Config& block, std::uint64_t seed, const ObservationSpec& spec = image_spec(12, 16, 3, 4)) {
  Policy policy = with_head(block, spec);
  randomise(policy, seed);
  return policy;
}

}  // namespace

TEST_CASE("every block writes all of its outputs, finite ones, by its own parameters alone") {
  REQUIRE(registered);
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    const auto spec = image_spec(12, 16, 3, 4);
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    ParameterLayout layout;
    layout.add("before", {1 << 10});
    const std::size_t begin = layout.size();
    const auto block = make_block(tried, {&spec, 3, spec.vector, false, "policy"}, layout);
    const std::size_t size = layout.size() - begin;
    layout.add("behind", {1 << 10});
    std::vector<float> parameters(layout.size(), nothing);
    const auto own = std::span(parameters).subspan(begin, size);
    const auto foreign_untouched = [&] {
      const auto is_nan = [](float x) { return std::isnan(x); };
      return std::all_of(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(begin), is_nan) &&
             std::all_of(parameters.begin() + static_cast<std::ptrdiff_t>(begin + size), parameters.end(), is_nan);
    };
    const auto each = [](const auto& self, Block& node, const auto& visit) -> void {
      visit(node);
      for (const auto& child : node.children()) self(self, *child, visit);
    };
    std::ranges::fill(own, 0.0F);
    Random random(1);
    each(each, *block, [&](Block& node) { node.initialise(parameters, random); });
    CHECK(foreign_untouched());
    random.fill_normal(own);
    each(each, *block, [&](Block& node) {
      node.bind(parameters);
      node.reset(0);
    });
    std::vector<float> out(static_cast<std::size_t>(block->outputs()) + 1);
    for (std::uint64_t step = 0; step < 3; ++step) {
      std::ranges::fill(out, nothing);
      const Frame frame(spec, 2 + step);
      block->forward(frame.observation(), frame.vector(), std::span<float>(out).first(out.size() - 1));
      CHECK(std::ranges::all_of(out.begin(), out.end() - 1, [](float x) { return std::isfinite(x); }));
      CHECK(std::isnan(out.back()));
    }
  }
}

TEST_CASE("a used policy's episodes equal a fresh one's, with every block") {
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    Policy fresh = with_parameters(tried, 5), used = with_parameters(tried, 5);
    const Actions first = episode(fresh, 7);
    const auto gathered = fresh.gathered();
    const Actions second = episode(fresh, 9);
    if (kind_of(tried) != "clock") CHECK(first != second);  // a clock does not look
    const Actions other = episode(used, 8);
    used.reset(11);
    played(used, 11, 0, middle + 1);
    CHECK(episode(used, 7) == first);
    CHECK(used.gathered() == gathered);
    CHECK(episode(used, 9) == second);
    CHECK(episode(used, 8) == other);
  }
}

TEST_CASE("policies that play in turns do not disturb each other, with every block") {
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    Policy alone = with_parameters(tried, 5), one = with_parameters(tried, 5);
    const Actions first = episode(alone, 7), second = episode(alone, 9);
    Policy two = one.clone();
    one.reset(7);
    two.reset(9);
    Actions by_one, by_two;
    for (std::uint64_t step = 0; step < episode_steps; ++step) {
      by_one.push_back(played(one, 7, step, step + 1)[0]);
      by_two.push_back(played(two, 9, step, step + 1)[0]);
    }
    CHECK(by_one == first);
    CHECK(by_two == second);
  }
}

TEST_CASE("in the middle of an episode a policy can be saved, copied and given its parameters, with every block") {
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    Policy policy = with_parameters(tried, 6);
    const Actions whole = episode(policy, 8);
    const Actions rest(whole.begin() + middle, whole.end());
    const auto gathered = policy.gathered();
    policy.reset(8);
    played(policy, 8, 0, middle);
    auto loaded = load_policy(save_policy(policy, {}), "x.iap");
    Policy copy = policy.clone();
    policy.set_parameters(values(policy));
    CHECK_FALSE(policy.summary().empty());
    CHECK(played(policy, 8, middle, episode_steps) == rest);
    CHECK(policy.gathered() == gathered);
    CHECK(values(loaded.policy) == values(policy));
    CHECK(episode(loaded.policy, 8) == whole);
    CHECK(episode(copy, 8) == whole);
    // Copies stand at the start of an episode, that of `reset()` as no seed was named.
    Policy begun = policy.clone();
    policy.reset();
    CHECK(played(begun, 8, 0, episode_steps) == played(policy, 8, 0, episode_steps));
  }
}

TEST_CASE("a block that says that it remembers nothing acts the same after other inputs, and one that remembers does not") {
  std::size_t forgetful = 0;
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    Policy policy = with_head(tried);
    const std::string why = remembered(policy.root());
    const Frame frame(policy.observation(), 3);
    bool same = true;
    for (std::uint64_t parameters = 12; parameters < 16; ++parameters) {
      randomise(policy, parameters);
      policy.reset(4);
      const auto first = act(policy, frame);
      for (const std::uint64_t others : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{5}, episode_steps}) {
        played(policy, 13, 0, others);
        same = same && act(policy, frame) == first;
      }
    }
    CAPTURE(why);
    // What is written in Lua cannot say.
    if (kind_of(tried) != "script") CHECK(same == why.empty());
    forgetful += why.empty() ? 1 : 0;
  }
  CHECK(forgetful > 20);
}

TEST_CASE("blocks whose row says that they look by attention show where they looked, and no others do") {
  for (const Config& tried : tried_blocks()) {
    INFO(to_json(tried));
    Policy policy = with_parameters(tried, 17);
    act(policy, Frame(policy.observation(), 3));
    std::vector<AttentionView> views;
    const Block& block = *policy.root().children()[0];
    block.collect_views(views);
    CHECK(is_attention_block(block.kind()) == !views.empty());
  }
}

TEST_CASE("a block looks at no other image than the one it names") {
  const ImageShape shape{12, 16, 3, PixelType::uint8};
  const ObservationSpec spec{{{"left", shape}, {"right", shape}}, 4};
  std::size_t looking = 0;
  for (Config tried : tried_blocks()) {
    INFO(to_json(tried));
    if (!with_head(tried).root().children()[0]->config().find("image")) continue;
    ++looking;
    tried["image"] = "right";
    Policy one = with_parameters(tried, 14, spec), two = with_parameters(tried, 14, spec);
    for (std::uint64_t step = 0; step < 6; ++step) {
      Frame frame(spec, step);
      const auto expected = act(one, frame);
      for (auto& byte : frame.image(0).bytes()) byte = static_cast<std::uint8_t>(255 - byte);
      CHECK(act(two, frame) == expected);
    }
  }
  CHECK(looking > 20);
}

TEST_CASE("every parameter of values of patches counts") {
  for (Config tried : blocks_with_values()) {
    // Of all patches, so that it does not matter which are chosen.
    if (tried.find("top")) tried["top"] = 12;
    INFO(to_json(tried));
    Config plain = tried;
    plain["values"] = "position";
    for (const auto& entry : values_catalog())
      for (const auto& option : entry.options) plain.map()->erase(option);
    const Policy without = with_head(plain);
    std::vector<std::string> shared;
    for (const auto& slice : without.layout().slices()) shared.push_back(slice.name);
    Policy policy = with_parameters(tried, 15);
    const std::vector<float> parameters = values(policy);
    const Frame frame(policy.observation(), 1);
    const auto handed_over = [&] {
      policy.reset();
      act(policy, frame);
      const auto out = policy.root().children()[0]->written();
      return std::vector<float>(out.begin(), out.end());
    };
    const auto expected = handed_over();
    for (const auto& slice : policy.layout().slices()) {
      if (std::ranges::find(shared, slice.name) != shared.end()) continue;
      for (std::size_t i = 0; i < slice.size; ++i) {
        auto changed = parameters;
        changed[slice.offset + i] += 1;
        policy.set_parameters(changed);
        CAPTURE(slice.name, i);
        CHECK(handed_over() != expected);
      }
      policy.set_parameters(parameters);
    }
  }
}

TEST_CASE("values of patches are as many for images of every size, and of bytes those of the same floats") {
  const ObservationSpec bytes = image_spec(12, 16, 3, 4);
  ObservationSpec floats = bytes;
  floats.images[0].shape.type = PixelType::float32;
  for (Config tried : blocks_with_values()) {
    if (tried.find("top")) tried["top"] = 12;
    INFO(to_json(tried));
    Policy one = with_parameters(tried, 16, bytes), two = with_parameters(tried, 16, floats);
    const Frame frame(bytes, 1);
    Frame same(floats, 1);
    same.vector() = frame.vector();
    for (std::size_t i = 0; i < same.image().floats().size(); ++i)
      same.image().floats()[i] = static_cast<float>(frame.image().bytes()[i]) / 255.0F;
    const auto expected = act(one, frame), actual = act(two, same);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(actual[i] - expected[i]) < 1e-3F);
    Policy larger = resized(one, image_spec(24, 32, 3, 4));
    CHECK(episode(larger, 2) != episode(one, 2));
  }
}
