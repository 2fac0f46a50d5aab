#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

import iap.contract;
import iap.core;
import iap.env;
#include "contract/play.hpp"

namespace iap::contract {
namespace {

/// `call()`, whose errors get the place where they do not name one.
template <typename Call>
auto placed(const Check& check, int episode, int step, const Call& call) {
  try {
    return call();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    const std::string_view message = error.what();
    if (message.find("of the episode with seed") != std::string_view::npos) throw Error(std::string(message));
    throw Error(text(message, place(check, episode, step)));
  } catch (...) {
    throw Error(text("something was thrown that is no std::exception", place(check, episode, step)));
  }
}

std::uint32_t checksum(const void* data, std::size_t bytes) { return crc32({static_cast<const char*>(data), bytes}); }

}  // namespace

const Trace& Check::reference(int episode) {
  const auto known = references.find(episode);
  if (known != references.end()) return known->second;
  const auto env = make();
  Trace trace = play(*this, *env, episode, episode);
  steps += static_cast<int>(trace.size()) - 1;
  unstable += static_cast<int>(std::ranges::count_if(trace, &Shown::unstable));
  return references[episode] = std::move(trace);
}

Actions::Actions(const Check& check, int episode)
    : random_({.seed = check.options.seed, .episode = static_cast<std::uint32_t>(episode), .purpose = Purpose::user}),
      low_(check.spec.action_low),
      high_(check.spec.action_high),
      action_(static_cast<std::size_t>(check.spec.action_size)) {}

std::span<const float> Actions::next() {
  for (float& value : action_) value = static_cast<float>(random_.uniform(low_, high_));
  return std::span<const float>(action_);
}

std::string place(const Check& check, int episode, int step) {
  return text(step == 0 ? std::string(" after the reset") : text(" at step ", step), " of the episode with seed ",
              check.seed(episode));
}

void reset(const Check& check, Env& env, int episode) {
  check_interrupt();
  placed(check, episode, 0, [&] { env.reset(check.seed(episode)); });
}

StepResult step(const Check& check, Env& env, std::span<const float> action, int episode, int step) {
  check_interrupt();
  return placed(check, episode, step, [&] { return env.step(action); });
}

Observation observe(const Check& check, Env& env, int episode, int step) {
  return placed(check, episode, step, [&] { return env.observe(); });
}

std::vector<std::uint32_t> look(const Check& check, Env& env, int episode, int step) {
  const Observation observation = observe(check, env, episode, step);
  std::vector<std::uint32_t> parts{checksum(observation.vector.data(), observation.vector.size_bytes())};
  for (const ImageView& image : observation.images) parts.push_back(image.data ? checksum(image.data, image.shape.bytes()) : 0);
  return parts;
}

Shown shown(const StepResult& result) {
  return {.reward = std::bit_cast<std::uint64_t>(result.reward),
          .terminated = result.terminated,
          .truncated = result.truncated,
          .unstable = result.unstable};
}

Trace play(const Check& check, Env& env, int episode, int acted, Looks looks) {
  const auto look_at = [&](int step) {
    auto parts = look(check, env, episode, step);
    if (looks == Looks::twice && parts != look(check, env, episode, step))
      throw Breach(text("two looks at the same state differ", place(check, episode, step)));
    return parts;
  };
  Actions actions(check, acted);
  reset(check, env, episode);
  Trace trace(1);
  if (looks != Looks::at_the_end) trace[0].parts = look_at(0);
  for (int i = 1; i <= check.options.steps && !trace.back().ended(); ++i) {
    trace.push_back(shown(step(check, env, actions.next(), episode, i)));
    if (looks != Looks::at_the_end || i == check.options.steps || trace.back().ended()) trace.back().parts = look_at(i);
  }
  return trace;
}

std::string difference(const Check& check, int episode, const Trace& first, const Trace& second, int from) {
  for (std::size_t i = static_cast<std::size_t>(from); i < std::min(first.size(), second.size()); ++i) {
    const Shown &one = first[i], &other = second[i];
    const std::string where = place(check, episode, static_cast<int>(i));
    if (one.reward != other.reward)
      return text("the reward is ", general_text(std::bit_cast<double>(one.reward), 17), " and then ",
                  general_text(std::bit_cast<double>(other.reward), 17), where);
    if (one.terminated != other.terminated || one.truncated != other.truncated || one.unstable != other.unstable)
      return text("one ends and the other does not, or not in the same way,", where);
    if (one.parts.empty() || other.parts.empty() || one.parts == other.parts) continue;
    std::string what = "the number of images";
    for (std::size_t part = std::min(one.parts.size(), other.parts.size()); part-- > 0;)
      if (one.parts[part] != other.parts[part])
        what = part == 0                                      ? std::string("the observed vector")
               : part <= check.spec.observation.images.size() ? text("image '", check.spec.observation.images[part - 1].name, "'")
                                                              : text("image ", part);
    return text(what, " differs", where);
  }
  return "";
}

}  // namespace iap::contract
