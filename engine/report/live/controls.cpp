module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import :controls;
import :video;
#include "env/keys.hpp"

namespace iap {
namespace {

bool holds(const std::vector<int>& keys, int key) { return std::ranges::find(keys, key) != keys.end(); }

constexpr int most_doublings = 5;

int key_of(const std::string& name) {
  constexpr std::pair<std::string_view, int> named[]{{"left", left_key}, {"right", right_key}, {"up", up_key}, {"down", down_key}};
  for (const auto& [known, key] : named)
    if (name == known) return key;
  return name[0];
}

KeyActions read_keys(const std::string& owner, const Config& table, std::size_t size) {
  if (const std::string flaw = keys_flaw(owner, table, size); !flaw.empty()) throw Error(flaw);
  KeyActions actions{.rest = std::vector<float>(size), .keys = {}};
  for (const auto& [name, values] : *table.map()) {
    std::vector<float> adds;
    for (const Config& value : *values.list()) adds.push_back(static_cast<float>(*value.number()));
    adds.resize(size);
    if (name == "rest")
      actions.rest = std::move(adds);
    else
      actions.keys.push_back({key_of(name), name, std::move(adds)});
  }
  return actions;
}

KeyActions arrows(std::size_t size) {
  KeyActions actions{.rest = std::vector<float>(size), .keys = {}};
  const auto add = [&](int key, const char* name, std::size_t action, float value) {
    if (action >= size) return;
    actions.keys.push_back({key, name, std::vector<float>(size)});
    actions.keys.back().adds[action] = value;
  };
  add(left_key, "left", 0, -1);
  add(right_key, "right", 0, 1);
  add(down_key, "down", 1, -1);
  add(up_key, "up", 1, 1);
  return actions;
}

}  // namespace

KeyActions key_actions(const EnvSpec& spec) {
  const auto size = static_cast<std::size_t>(spec.action_size);
  if (const Config* own = spec.config.find("keys"); own && !own->is_null())
    return read_keys(text("environment '", spec.name, "': option 'keys'"), *own, size);
  const auto entry = std::ranges::find(env_catalog(), spec.name, &EnvEntry::name);
  if (entry != env_catalog().end() && !entry->keys.empty()) return read_keys(spec.name, parse_json(entry->keys, spec.name), size);
  return arrows(size);
}

LiveControls::LiveControls(std::vector<PictureView> views, PictureView view, KeyActions keys)
    : views_(std::move(views)), keys_(std::move(keys)) {
  const auto found = std::ranges::find(views_, view);
  if (found == views_.end())
    throw Error(
        text("there is no view '", picture_view_names()[static_cast<std::size_t>(view)], "' of this environment; use another"));
  view_ = static_cast<std::size_t>(found - views_.begin());
}

const std::string& LiveControls::help() {
  static const std::string help(window_help);
  return help;
}

bool LiveControls::acts(int key) const {
  return std::ranges::any_of(keys_.keys, [&](const KeyActions::Entry& entry) { return entry.key == key; });
}

void LiveControls::handle(const LiveEvent& event) {
  switch (event.kind) {
    case LiveEventKind::press: return press(event.key);
    case LiveEventKind::repeat:
      // To hold the key of a step is to go on in steps; nothing else comes twice.
      if (event.key == '.') press(event.key);
      return;
    case LiveEventKind::release: std::erase(held_, event.key); return;
    case LiveEventKind::unfocus: held_.clear(); return;
    case LiveEventKind::close: quits_ = true; return;
  }
}

void LiveControls::press(int key) {
  if (acts(key)) {
    if (!holds(held_, key)) held_.push_back(key);
    steers_ = true;
    return;
  }
  switch (key) {
    case ' ': paused_ = !paused_; break;
    case '.': paused_ = step_ = true; break;
    case 'v': view_ = (view_ + 1) % views_.size(); break;
    case 'n': next_ = true; break;
    case 't': steers_ = !steers_; break;
    case '+':
    case '=': doublings_ = std::min(doublings_ + 1, most_doublings); break;
    case '-': doublings_ = std::max(doublings_ - 1, -most_doublings); break;
    case '0': doublings_ = 0; break;
    case 'q':
    case escape_key: quits_ = true; break;
    default: break;
  }
}

bool LiveControls::take_step() { return std::exchange(step_, false); }

double LiveControls::speed() const { return std::ldexp(1.0, doublings_); }

std::vector<float> LiveControls::outputs() const {
  std::vector<float> outputs = keys_.rest;
  for (const auto& entry : keys_.keys)
    if (holds(held_, entry.key))
      for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] += entry.adds[i];
  for (float& output : outputs) output = std::clamp(output, -1.0F, 1.0F);
  return outputs;
}

}  // namespace iap
