module;
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>
/// How much of one set of numbers a linear function of another one tells: ridge regression, fitted on some episodes, tested on
/// others.
export module iap.report:readout;

export namespace iap {

/// Rows of `columns` numbers, episode by episode, each episode's rows one after the other.
struct Samples {
  int columns = 0;
  std::vector<std::vector<float>> episodes;

  std::size_t rows(std::size_t episode) const { return episodes[episode].size() / static_cast<std::size_t>(columns); }
};

struct ReadoutOptions {
  std::size_t fitted = 2;       ///< the first so many episodes are fitted, the others tested
  bool per_episode = false;     ///< takes the mean of each episode off features and targets before anything else
  std::optional<double> ridge;  ///< lambda, at least `least_ridge`; without one it is chosen for each target
  int threads = 0;              ///< 0: all hardware threads; changes no bit
};

inline constexpr double least_ridge = 1e-6, most_ridge = 1e12;
/// More features than this are refused: the time grows with their cube.
inline constexpr int most_features = 2048;

/// Of each target, in order.
struct Readout {
  /// 1 - (squared error) / (squared deviation from the mean), over the rows of the tested episodes: 1 for a perfect prediction, 0
  /// for one as good as the mean of these rows, negative for a worse one. NaN for a target that does not vary there; one that does
  /// not vary in the fitted episodes is predicted to stay as it is in them.
  std::vector<double> r2;
  std::vector<double> ridge;  ///< the lambda that was used; NaN for a target that does not vary in both parts
};

/// Fits, to each target y, the w and b that minimise |y - X w - b|^2 + lambda |w|^2 over the rows of the fitted episodes, and tests
/// them on the others. Features are scaled to mean 0 and variance 1 over the fitted rows; constant ones are left out. Without
/// `options.ridge`, each target's lambda is that of the nine powers of ten from 0.01 to 1,000,000 whose squared error is the least
/// when each fitted episode in turn is left out and predicted from the others (in ten groups where there are more than ten); of
/// equal ones the largest.
/// @throws Error for more than `most_features` features, fewer than two episodes to fit or none to test, episodes that differ in
/// their rows or have none, a lambda out of range, and a value that is not finite (its episode, row and column are named).
Readout linear_readout(const Samples& features, const Samples& targets, const ReadoutOptions& options);

}  // namespace iap
