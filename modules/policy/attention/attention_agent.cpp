module;
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

constexpr const char *own_centre = "pixel", *own_range = "unit";

/// Whether a rank block of these options hands over positions, as it does unless `values` leaves them out.
bool tells_positions(const Config& rank) {
  const Config *motion = rank.find("motion"), *values = rank.find("values");
  if ((motion && *motion == Config(true)) || !values || values->is_null()) return true;
  const Config::List single{*values};
  const Config::List& names = values->list() ? *values->list() : single;
  return std::ranges::any_of(names, [](const Config& name) { return name == Config("position") || name == Config("centroid"); });
}

}  // namespace

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
  Config rank = Config::Map{{"patch", 7},          {"stride", 4},          {"d", 4},
                            {"top", 10},           {"bias", true},         {"pixel_offset", 0},
                            {"kernel", "softmax"}, {"centre", own_centre}, {"position_range", own_range}};
  if (changes.map())
    for (const auto& [key, value] : *changes.map()) rank[key] = value;
  rank["kind"] = "rank";
  if (rank["kernel"] == Config("softmax") && !rank.find("scale")) rank["scale"] = "c";
  // These say how positions are told. Rank refuses them where none is, but nobody asked for the agent's own; they stay on record.
  Config::Map idle;
  if (!tells_positions(rank))
    for (const auto& [key, own] : {std::pair("centre", own_centre), std::pair("position_range", own_range)})
      if (rank[key] == Config(own)) idle.insert(rank.map()->extract(key));
  const Config lstm = Config::Map{{"kind", "lstm"}, {"units", options.integer_in("lstm_units", 1, most_units, 16)}};
  const Config linear = Config::Map{
      {"kind", "linear"}, {"activation", "tanh"}, {"bias", true}, {"scale", 0.1}, {"units", read_units(options, context)}};
  auto made = make_chain("attention_agent", {rank, lstm, linear}, context, layout);
  Config built = made->children().front()->config();
  built.map()->erase("kind");
  for (auto& [key, value] : idle) built[key] = std::move(value);
  options.complete("rank", std::move(built));
  return made;
}

}  // namespace iap
