module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

/// sin(2 pi k phase) and cos(2 pi k phase) for k = 1 ... `harmonics`; it reads no input. The phase is 0 at an episode's start and
/// advances by dt f with every decision, f = frequency exp(log_frequency) in Hz. The one parameter, log_frequency, begins at 0, so
/// that a step of an evolution strategy changes the frequency by a part of itself and it stays positive.
/// Options: frequency (2 Hz), harmonics (1), dt (seconds between decisions; the environment's).
class ClockBlock final : public Block {
 public:
  ClockBlock(Options& options, const BlockContext& context, ParameterLayout& layout)
      : Block(context, 2 * read_harmonics(options)),
        frequency_(options.number_in("frequency", 1e-3, 1e3, 2)),
        dt_(read_dt(options, context)),
        offset_(layout.add(path() + ".log_frequency", {1})) {}

  std::string_view kind() const override { return "clock"; }
  std::string memory() const override { return "counts decisions"; }
  std::string describe() const override {
    return text("frequency ", frequency_ * std::exp(log_frequency_), " Hz, dt ", dt_, " s, harmonics ", outputs() / 2);
  }
  void bind(std::span<const float> parameters) override {
    // Beyond this a clock stands still or has long passed the fastest that decisions can follow, and exp stays finite.
    constexpr float most = 20;
    log_frequency_ = std::clamp(parameters[offset_], -most, most);
  }
  void reset(std::uint64_t) override { phase_ = 0; }
  void forward(const Observation&, std::span<const float>, std::span<float> out) override {
    for (std::size_t i = 0; i < out.size(); i += 2) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i / 2 + 1) * phase_;
      out[i] = static_cast<float>(std::sin(angle));
      out[i + 1] = static_cast<float>(std::cos(angle));
    }
    const double next = phase_ + dt_ * frequency_ * std::exp(static_cast<double>(log_frequency_));
    phase_ = next - std::floor(next);
  }

 private:
  static int read_harmonics(Options& options) { return static_cast<int>(options.integer_in("harmonics", 1, 1000, 1)); }
  static double read_dt(Options& options, const BlockContext& context) {
    const double own = context.observation->dt;
    if (own <= 0 && !options.has("dt"))
      options.fail("option 'dt' is missing: the environment does not say how many seconds lie between two decisions");
    return options.number_in("dt", 1e-6, 1e3, own);
  }

  double frequency_, dt_, phase_ = 0;
  float log_frequency_ = 0;
  std::size_t offset_;
};

}  // namespace

/// @lua function iap.policy.clock
/// Sine and cosine of k times a phase, k = 1 ... harmonics: 0 at the start of an episode, it advances by dt times frequency times
/// exp(a learned number) with every decision. Reads no input.
/// @option frequency number 0.001..1000 = 2 - Hz, before the learned factor
/// @option harmonics integer 1..1000 = 1 - pairs of sine and cosine
/// @option dt number 1e-6..1000 = (the environment's) - seconds between two decisions
/// @use policy.block
/// @return blueprint - one parameter
/// @example iap.policy.clock { frequency = 2, dt = 0.04 }
/// @see controllers.md
MadeBlock make_clock(Options& options, const BlockContext& context, ParameterLayout& layout) {
  return std::make_unique<ClockBlock>(options, context, layout);
}

}  // namespace iap
