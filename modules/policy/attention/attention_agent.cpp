module;
#include <cstdint>
#include <string>
#include <utility>
module iap.policy;
import iap.core;
import :internal;

namespace iap {

// AttentionAgent (Tang, Nguyen & Ha 2020, section 4): every patch votes by exact softmax attention with biases, its products
// divided by sqrt(c); the controller sees the ten winners' middle pixels as fractions of the frame.
/// @lua function iap.policy.attention_agent
/// AttentionAgent's network: rank by exact softmax attention over patches of 7 x 7, an LSTM, a linear layer with tanh.
/// @option rank table ? - options of iap.attention.rank that differ: patch = 7, stride = 4, d = 4, top = 10, bias = true and so on
/// @option lstm_units integer 1..65536 = 16 - of the memory
/// @option units integer 1.. = (the action's size, for the last block) - numbers that it hands over
/// @use policy.block
/// @return blueprint - 3667 parameters for car-racing
/// @example iap.policy.attention_agent { rank = { top = 10 } }
/// @see attention-agent.md
MadeBlock make_attention_agent(Options& options, const BlockContext& context, ParameterLayout& layout) {
  constexpr std::int64_t most_units = 1 << 16;
  const Config& changes = options.value("rank");
  if (!changes.is_null() && !changes.map())
    options.fail(text("option 'rank' must be a table of options of the block rank, got ", changes.describe()));
  Config rank = Config::Map{{"patch", 7},          {"stride", 4},       {"d", 4},
                            {"top", 10},           {"bias", true},      {"pixel_offset", 0},
                            {"kernel", "softmax"}, {"centre", "pixel"}, {"position_range", "unit"}};
  if (changes.map())
    for (const auto& [key, value] : *changes.map()) rank[key] = value;
  rank["kind"] = "rank";
  if (rank["kernel"] == Config("softmax") && !rank.find("scale")) rank["scale"] = "c";
  const Config lstm = Config::Map{{"kind", "lstm"}, {"units", options.integer_in("lstm_units", 1, most_units, 16)}};
  const Config linear = Config::Map{
      {"kind", "linear"}, {"activation", "tanh"}, {"bias", true}, {"scale", 0.1}, {"units", read_units(options, context)}};
  auto made = make_chain("attention_agent", {rank, lstm, linear}, context, layout);
  Config built = made->children().front()->config();
  built.map()->erase("kind");
  options.complete("rank", std::move(built));
  return made;
}

}  // namespace iap
