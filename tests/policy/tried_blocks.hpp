#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

/// Blocks of the catalog that take `values`, with each example of every kind of values.
inline std::vector<iap::Config> blocks_with_values() {
  std::vector<iap::Config> blocks;
  for (const auto& entry : iap::values_catalog())
    for (const auto& example : entry.examples)
      for (const char* block : {"{'kind': 'rank', 'top': 3}", "{'kind': 'trans', 'tokens': 3}", "{'kind': 'cross', 'top': 3}",
                                "{'kind': 'look', 'queries': 2}"}) {
        iap::Config made = config(block);
        made["patch"] = 4;
        made["d"] = 4;
        made["values"] = entry.name;
        const iap::Config options = iap::parse_json(example, entry.name);
        for (const auto& [key, value] : *options.map()) made[key] = value;
        blocks.push_back(made);
      }
  return blocks;
}

/// What the contract tests try: the example of every row of the catalog of blocks, every kind of values, and options under which
/// blocks draw, remember or work in another way.
inline std::vector<iap::Config> tried_blocks() {
  std::vector<iap::Config> blocks = blocks_with_values();
  for (const auto& entry : iap::block_catalog()) {
    blocks.push_back(iap::parse_json(entry.example, entry.name));
    blocks.back()["kind"] = entry.name;
  }
  const std::string rank = "{'kind': 'rank', 'patch': 4, 'top': 3, ", trans = "{'kind': 'trans', 'patch': 4, 'tokens': 3, ";
  for (const std::string& more :
       {rank + "'query_weights': 'learned', 'heads': 2, 'masked': true, 'values': ['projection', 'histogram', 'convolution']}",
        rank + "'encoding': 'learned', 'values': 'convolution', 'convolution': 'fixed'}",
        rank + "'encoding': 'sinusoidal', 'kernel': 'hybrid', 'redraw': 'episode'}",
        rank + "'kernel': 'exp', 'selection': 'sample', 'values': 'content'}", rank + "'values': 'content', 'contrast': 'episode'}",
        trans + "'kernel': 'hybrid', 'redraw': 2, 'order': 'queries_first'}",
        trans + "'kernel': 'exp', 'normalise_rows': true, 'order': 'queries_first', 'layer_norm': true}",
        trans + "'kernel': 'relu', 'values': ['content', 'position'], 'order': 'values_first'}",
        trans + "'kernel': 'softmax', 'compression': 'average'}", std::string("{'kind': 'normalise'}"),
        std::string("{'kind': 'cnn', 'layers': [{'channels': 2}], 'contrast': 'frame'}")})
    blocks.push_back(config(more));
  return blocks;
}

inline std::string kind_of(const iap::Config& block) { return *block.find("kind")->string(); }

/// The block, then a layer that makes an action of what it gives.
inline iap::Policy with_head(const iap::Config& block, const iap::ObservationSpec& spec = image_spec(12, 16, 3, 4)) {
  iap::Config architecture;
  architecture["kind"] = "sequence";
  architecture["blocks"] = iap::Config::List{block, config("{'kind': 'linear', 'activation': 'tanh'}")};
  return iap::Policy(architecture, spec, 3);
}

/// Long enough for what changes late or comes round in a ring.
constexpr std::uint64_t episode_steps = 60;

/// Steps `from` to `to` of the episode of seed `seed`, whose frames follow from it; the policy stands where `from` begins.
inline std::vector<std::vector<float>> played(iap::Policy& policy, std::uint64_t seed, std::uint64_t from, std::uint64_t to) {
  std::vector<std::vector<float>> actions;
  for (std::uint64_t step = from; step < to; ++step)
    actions.push_back(act(policy, Frame(policy.observation(), 1000 * seed + step)));
  return actions;
}

/// A whole episode from its start.
inline std::vector<std::vector<float>> episode(iap::Policy& policy, std::uint64_t seed) {
  policy.reset(seed);
  return played(policy, seed, 0, episode_steps);
}

inline std::vector<float> values(const iap::Policy& policy) { return {policy.parameters().begin(), policy.parameters().end()}; }
