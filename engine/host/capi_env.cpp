#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/pictures.hpp"
#include "host/texts.hpp"
import iap.core;
import iap.env;
import iap.report;
import iap.rollout;

using namespace iap::host;

struct iap_env {
  enum class State : std::uint8_t { unbegun, running, over, failed };

  iap_env(std::unique_ptr<iap::Env> made, const iap::FilesRead& read)
      : env(std::move(made)), described(env->spec()), drawn_from(placed(env->spec().given)), files(placed(read)) {}

  void reset(std::uint64_t new_seed);
  iap::StepResult step(std::span<const float> action);
  iap::Observation observe();
  iap::Image picture(iap::PictureSize size);
  /// A drawing that is where the episode is.
  void catch_up(iap::PictureSize size);

  std::unique_ptr<iap::Env> env;
  Described described;
  iap::Config drawn_from;
  iap::FilesRead files;  ///< as they were when it was made
  State state = State::unbegun;
  std::string error;

  // What a drawing that is made in the middle of an episode needs to follow.
  std::uint64_t seed = 0;
  std::vector<float> actions;
  std::vector<iap::StepResult> results;
  std::size_t steps = 0;
  std::unique_ptr<iap::EnvDrawing> drawing;
  bool drawn = false;  ///< in this episode
};

namespace {

/// Steps whose actions of `width` values are kept for drawings made later.
std::size_t most_kept(std::size_t width) {
  constexpr std::size_t most_steps = 1'000'000, most_values = std::size_t{1} << 26;
  return std::min(most_steps, most_values / std::max<std::size_t>(width, 1));
}

}  // namespace

void iap_env::reset(std::uint64_t new_seed) {
  state = State::failed;
  if (!drawn) drawing.reset();
  drawn = false;
  seed = new_seed;
  steps = 0;
  actions.clear();
  results.clear();
  const auto& spec = env->spec();
  const std::size_t limit = spec.max_steps > 0 ? static_cast<std::size_t>(spec.max_steps) : 0;
  const auto width = static_cast<std::size_t>(spec.action_size);
  const std::size_t kept = std::min(limit, most_kept(width));
  actions.reserve(kept * width);
  results.reserve(kept);
  env->reset(seed);
  if (drawing) drawing->reset(seed);
  state = State::running;
}

iap::StepResult iap_env::step(std::span<const float> action) {
  state = State::failed;
  iap::StepResult result = env->step(action);
  if (!std::isfinite(result.reward)) throw iap::Error(iap::text("the reward is ", result.reward, "; rewards must be finite"));
  if (++steps <= most_kept(action.size())) {
    actions.insert(actions.end(), action.begin(), action.end());
    results.push_back(result);
  }
  if (drawing) drawing->step(action, result);
  result.terminated = result.terminated || result.unstable;
  state = result.terminated || result.truncated ? State::over : State::running;
  return result;
}

iap::Observation iap_env::observe() {
  const State before = std::exchange(state, State::failed);
  const iap::Observation seen = env->observe();
  state = before;
  return seen;
}

void iap_env::catch_up(iap::PictureSize size) {
  if (drawing && drawing->size() == size) return;
  const auto width = static_cast<std::size_t>(env->spec().action_size);
  if (steps > most_kept(width))
    throw BadArgument(iap::text("iap_env_draw: a drawing of another size begins within ", most_kept(width),
                                " steps of an episode; this one has ", steps));
  const iap::FilesLog log;
  auto made = std::make_unique<iap::EnvDrawing>(drawn_from, size);
  for (const auto& [name, content] : log.files)
    if (const auto before = files.find(name); before != files.end() && before->second != content)
      throw iap::Error(iap::text("'", name, "' holds something else (", content, ") than when the environment was made (",
                                 before->second, "), so that a drawing would show another world; make the environment anew"));
  made->reset(seed);
  for (std::size_t i = 0; i < steps; ++i) made->step(std::span<const float>(actions).subspan(i * width, width), results[i]);
  drawing = std::move(made);
}

iap::Image iap_env::picture(iap::PictureSize size) {
  catch_up(size);
  drawn = true;
  return drawing->picture(env->spec(), observe());
}

extern "C" {

iap_status iap_env_make(const char* text, iap_env** env, char* message, size_t message_size) {
  return making(message, message_size, [&] {
    require(env, "iap_env_make: 'env' is null; it receives the environment");
    const iap::FilesLog log;
    auto made = make_named_env("iap_env_make", "text", env_text("iap_env_make", "text", text));
    *env = new iap_env(std::move(made), log.files);
  });
}

void iap_env_free(iap_env* env) { destroy(env); }
const char* iap_env_error(const iap_env* env) { return env ? env->error.c_str() : "the environment is null"; }

iap_status iap_env_describe(iap_env* env, iap_env_spec* spec) {
  return on(env, [&] { env->described.describe("iap_env_describe", spec); });
}

iap_status iap_env_image(iap_env* env, size_t index, iap_image_spec* spec) {
  return on(env, [&] { describe_image("iap_env_image", "the environment shows", env->env->spec().observation, index, spec); });
}

iap_status iap_env_reset(iap_env* env, uint64_t seed) {
  return on(env, [&] { env->reset(seed); });
}

iap_status iap_env_step(iap_env* env, const float* action, size_t action_size, iap_step* step) {
  return on(env, [&] {
    using State = iap_env::State;
    const auto width = static_cast<size_t>(env->env->spec().action_size);
    require(action, "iap_env_step: 'action' is null; the environment takes ", counted(width, "value"));
    require(action_size == width, "iap_env_step: 'action_size' is ", action_size, "; the environment takes ",
            counted(width, "value"));
    check_struct("iap_env_step", "'step'", "iap_step", step);
    const std::span<const float> given(action, width);
    if (const size_t bad = iap::first_not_finite(given); bad < width)
      throw BadArgument(iap::text("iap_env_step: 'action' holds ", given[bad], " as value ", bad, "; give finite values"));
    require(env->state != State::unbegun, "iap_env_step: no episode has begun; call iap_env_reset first");
    require(env->state != State::over, "iap_env_step: the episode is over; call iap_env_reset");
    require(env->state != State::failed, "iap_env_step: the episode has failed; call iap_env_reset");
    const iap::StepResult result = env->step(given);
    fill_struct(step, {.size = 0,
                       .reward = result.reward,
                       .terminated = result.terminated,
                       .truncated = result.truncated,
                       .unstable = result.unstable});
  });
}

iap_status iap_env_observe(iap_env* env, iap_image* images, size_t image_count, const float** vector) {
  return on(env, [&] {
    require(env->state != iap_env::State::unbegun, "iap_env_observe: no episode has begun; call iap_env_reset first");
    require(env->state != iap_env::State::failed, "iap_env_observe: the episode has failed; call iap_env_reset");
    show("iap_env_observe", env->env->spec().observation, env->observe(), images, image_count, vector);
  });
}

iap_status iap_env_draw(iap_env* env, int32_t height, int32_t width, uint8_t* rgb, size_t row_stride) {
  return on(env, [&] {
    for (const auto& [name, side] : {std::pair("height", height), std::pair("width", width)})
      require(side >= 1 && side <= iap::largest_side, "iap_env_draw: '", name, "' is ", side, "; give 1 to ", iap::largest_side);
    require(rgb, "iap_env_draw: 'rgb' is null; it receives ", height, " x ", width, " x 3 bytes");
    const size_t row = 3 * static_cast<size_t>(width);
    require(row_stride == 0 || row_stride >= row, "iap_env_draw: 'row_stride' is ", row_stride, "; a row has ", row, " bytes");
    const size_t most = PTRDIFF_MAX / static_cast<size_t>(height);
    require(row_stride <= most, "iap_env_draw: 'row_stride' is ", row_stride, "; ", height, " rows of it are more than memory has");
    require(env->state != iap_env::State::unbegun, "iap_env_draw: no episode has begun; call iap_env_reset first");
    require(env->state != iap_env::State::failed, "iap_env_draw: the episode has failed; call iap_env_reset");
    const iap::Image picture = env->picture({height, width});
    for (int32_t y = 0; y < height; ++y)
      std::memcpy(rgb + static_cast<size_t>(y) * (row_stride ? row_stride : row),
                  picture.bytes().data() + static_cast<size_t>(y) * row, row);
  });
}

}  // extern "C"
