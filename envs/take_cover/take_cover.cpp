module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.envs.take_cover;
import iap.core;
import iap.env;
#include "core/files_read.hpp"

namespace iap {
namespace take_cover {
namespace {

constexpr int episode_steps = 2100, picture_size = 96;
// The player's place, speed and health, then the place of the nearest fireballs that still fly towards it.
constexpr int watched_fireballs = 4, state_size = 5 + 2 * watched_fireballs;

Move move_of(float action) {
  constexpr float threshold = 0.3333f;
  return action > threshold ? Move::right : action < -threshold ? Move::left : Move::stay;
}

/// ViZDoom's DoomTakeCover as AttentionAgent used it: imps throw fireballs at a player without weapons who can step aside to the
/// left or to the right; 1 point a tic survived, at most 2100. One action in [-1, 1]: above 1/3 to the right, below -1/3 to the
/// left.
class TakeCover final : public Env {
 public:
  TakeCover(EnvSpec spec, std::shared_ptr<const Stage> stage, bool fast)
      : spec_(std::move(spec)), stage_(std::move(stage)), world_(fast), pixels_(spec_.observation.images.front().shape) {
    const int height = pixels_.shape().height, width = pixels_.shape().width;
    if (height == screen_height && width == screen_width)
      full_.emplace(*stage_);
    else
      small_.emplace(*stage_, height, width);
    state_.resize(static_cast<std::size_t>(spec_.observation.vector));
    view_ = pixels_.view();
  }

  const EnvSpec& spec() const override { return spec_; }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    world_.reset(seed);
    steps_ = 0;
    drawn_ = false;
  }

  StepResult step(std::span<const float> action) override {
    std::array<float, 1> clipped{};
    clip_action(spec_, action, clipped);
    world_.step(move_of(clipped[0]));
    drawn_ = false;
    return {.reward = 1, .terminated = world_.player().health == 0, .truncated = ++steps_ >= episode_steps};
  }

  Observation observe() override {
    if (!drawn_) draw();
    drawn_ = true;
    return {.images = {&view_, 1}, .vector = state_};
  }

 private:
  Condition condition() const {
    constexpr int glance_tics = 17, pain_tics = 35;
    const int time = world_.time(), hurt_at = world_.player().hurt_at;
    Random random(
        {.seed = seed_, .iteration = static_cast<std::uint32_t>(time / glance_tics), .member = 1, .purpose = Purpose::environment});
    return {.health = world_.player().health,
            .glance = static_cast<int>(random.below(glances)),
            .hurt = hurt_at >= 0 && time - hurt_at <= pain_tics};
  }

  void draw() {
    full_ ? full_->draw(world_, condition(), pixels_.bytes()) : small_->draw(world_, condition(), pixels_.bytes());
    if (!state_.empty()) write_state();
  }

  void write_state() {
    const Player& player = world_.player();
    std::ranges::fill(state_, 0.0f);
    const std::array<double, 5> own{player.x, player.y, player.vx, player.vy, static_cast<double>(player.health)};
    std::ranges::copy(own, state_.begin());
    std::array<const Fireball*, watched_fireballs> nearest{};
    for (const Fireball& ball : world_.fireballs()) {
      if (!ball.flying() || ball.x < player.x) continue;
      const Fireball* candidate = &ball;
      for (auto& place : nearest)
        if (!place || (candidate && candidate->x < place->x)) std::swap(place, candidate);
    }
    for (std::size_t i = 0; i < nearest.size() && nearest[i]; ++i) {
      state_[own.size() + 2 * i] = static_cast<float>(nearest[i]->x - player.x);
      state_[own.size() + 2 * i + 1] = static_cast<float>(nearest[i]->y - player.y);
    }
  }

  EnvSpec spec_;
  std::shared_ptr<const Stage> stage_;
  World world_;
  std::optional<FullPainter> full_;
  std::optional<SmallPainter> small_;
  std::uint64_t seed_ = 0;
  int steps_ = 0;
  bool drawn_ = false;
  std::vector<float> state_;
  Image pixels_;
  ImageView view_;
};

std::optional<std::filesystem::path> choose_wad(Options& options, const std::string& art) {
  if (options.has("wad")) {
    if (art == "procedural") options.fail("option 'wad' belongs to art = \"freedoom\"");
    return options.string("wad");
  }
  if (art == "procedural") return {};
  const auto found = find_wad();
  if (!found && art == "freedoom")
    options.fail(
        "found no freedoom2.wad; install the package 'freedoom', name a WAD with option 'wad', or use art = \"procedural\"");
  return found;
}

}  // namespace
}  // namespace take_cover

/// @lua options env.take-cover
/// AttentionAgent's DoomTakeCover: step aside from the fireballs of imps, in the first person. 1 action, 2100 tics of 1/35 s; a tic
/// survived pays 1.
/// @option pixels integer[] = { 96, 96 } - {height, width} of the picture, which is always shown; the screen has {480, 640},
/// what is larger is enlarged; what is smaller is nearly the screen shrunk as Pillow's bilinear filter does it: floor, ceiling and
/// far wall come out of tables, and a fireball's glow is added to what is small already, so that of 255 values of an episode with
/// either `art` differ by .2 to .3 on average and single ones by 29 at {96, 96}, by .4 to .9 and 70 at {96, 640}, by .6 to 1.6 and
/// 99 at {479, 640}; in art of much contrast by more
/// @option state boolean = false - show the player's place and speed and the nearest fireballs as a vector, too
/// @option modification "none"|"walls"|"floor"|"text" = "none" - AttentionAgent's changes of the world's looks
/// @option art "auto"|"freedoom"|"procedural" = "auto" - Freedoom's (Debian's package `freedoom`) or our own; auto takes the first
/// where it is. Looked for is `freedoom2.wad`, in the folder that the environment variable `DOOMWADDIR` names,
/// `/usr/share/games/doom`, `/usr/local/share/games/doom`, `/usr/share/doom` and `/usr/share/games/freedoom`, in this order
/// @option wad string ? - the file with Freedoom's art, in place of the one that is found
/// @option skill "hard"|"nightmare" = "hard" - Doom's skill level; nightmare: fireballs fly twice as fast, imps never rest
/// @use env.common
/// @see attention-agent.md
extern "C++" std::unique_ptr<Env> make_take_cover(Options& options) {
  using namespace take_cover;
  const std::string modification = options.choice("modification", {"none", "walls", "floor", "text"}, "none");
  const std::string art = options.choice("art", {"auto", "freedoom", "procedural"}, "auto");
  const std::string skill = options.choice("skill", {"hard", "nightmare"}, "hard");
  const bool state = options.boolean("state", false);
  const PictureSize size = *read_pixels(options, PictureSize{picture_size, picture_size});
  const PictureSize drawn{std::min(size.height, screen_height), std::min(size.width, screen_width)};
  const auto wad = choose_wad(options, art);
  options.complete("art", wad ? "freedoom" : "procedural");
  constexpr double dt = 1.0 / tics_a_second;
  EnvSpec spec{.name = "take-cover",
               .observation = {.images = {{"pixels", {drawn.height, drawn.width, 3, PixelType::uint8}}},
                               .vector = state ? state_size : 0,
                               .dt = dt},
               .action_size = 1,
               .control_dt = dt,
               .max_steps = episode_steps};
  if (state) {
    spec.state_names = {"player x", "player y", "player velocity x", "player velocity y", "health"};
    for (int i = 1; i <= watched_fireballs; ++i)
      for (const char* axis : {" x", " y"}) spec.state_names.push_back(text("fireball ", i, axis));
  }
  const Scenery scenery{.high_walls = modification == "walls", .other_floor = modification == "floor"};
  auto stage = shared_stage(wad, scenery, modification == "text");
  if (wad) note_contents(wad->filename().string(), {&*wad, 1});
  auto env = std::make_unique<TakeCover>(std::move(spec), std::move(stage), skill == "nightmare");
  if (size == drawn) return env;
  return resize_images(std::move(env), size.height, size.width);
}

}  // namespace iap
