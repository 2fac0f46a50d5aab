module;
#include <array>
#include <cstdint>
#include <span>
export module iap.core:random;

export namespace iap {

/// What a stream of random numbers is for; streams of different purposes never overlap.
enum class Purpose : std::uint8_t {
  initial_parameters,
  perturbation,
  environment,
  evaluation,
  projection,
  policy,
  user,
};

/// What StreamKey::episode can tell apart.
inline constexpr int most_episodes = (1 << 24) - 1;

/// Names one stream. Every random number of a run is a function of these and of its position in the stream.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t iteration = 0;
  std::uint32_t member = 0;
  std::uint32_t episode = 0;  ///< at most most_episodes
  Purpose purpose = Purpose::user;
};

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): the 128-bit block at `counter` under `key`.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A counter-based stream of random numbers. Cheap to create; no state is shared between streams.
class Random {
 public:
  explicit Random(StreamKey key) : key_(key) {}
  explicit Random(std::uint64_t seed) : key_{.seed = seed} {}

  std::uint32_t bits();
  /// Uniform in [0, 1) with 53 random bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal (Box-Muller in double precision).
  double normal();
  /// Uniform in {0, ..., count - 1}; `count` must be positive. Unbiased.
  std::uint32_t below(std::uint32_t count);
  void fill_normal(std::span<float> out);

 private:
  StreamKey key_;
  std::uint32_t block_ = 0;
  unsigned used_ = 4;
  std::array<std::uint32_t, 4> words_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

/// A 64-bit seed for the stream `key`, for interfaces that take a plain seed (Env::reset).
std::uint64_t derive_seed(StreamKey key);

}  // namespace iap
