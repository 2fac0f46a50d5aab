module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
/// The directions along which antithetic pairs stand.
module iap.optim:directions;
import iap.core;

namespace iap {

/// Draws eps_k, P values, for pair k of an iteration. Each is a function of (seed, iteration, k): nothing of it is state.
class Directions {
 public:
  virtual ~Directions() = default;
  virtual void draw(std::uint32_t iteration, std::size_t pair, std::span<float> out) = 0;
};

/// What is asked of the norms of directions, besides that their squares have the mean P.
enum class Norms : std::uint8_t {
  any,
  chi  ///< they vary as those of N(0, I), independent of each other and of where the directions point
};

/// Reads option `directions`:
/// - "gaussian": independent eps_k ~ N(0, I).
/// - "orthogonal" (Choromanski et al. 2018, "Structured evolution with compact architectures for scalable policy optimization",
///   section 3): the pairs in blocks of at most P, whose directions are orthogonal to each other; every eps_k alone is N(0, I), its
///   norm chi-distributed and independent of the others. Takes 8 bytes for each of min(pairs, P) x P values.
/// - "hadamard" (the same, section 3.1): in blocks of at most P, rows of (H D_1) (H D_2) (H D_3) / N, where H is the
///   Hadamard matrix of the next power of two N >= P and each D_i has random signs on its diagonal, cut to their first P values.
///   Every value has mean 0 and variance 1, so that the expected squared norm is P. Where N = P the rows are orthogonal and of
///   squared norm P; otherwise their cosines are of the order sqrt((1 - P / N) / P), those of Gaussian directions sqrt(1 / P).
///   With Norms::chi each row is multiplied by an independent chi(P) / sqrt(P), for which P normal numbers more are drawn; of two
///   parameters, whose values are alike in size in every row, the directions are the orthogonal ones.
/// @throws Error naming the option, or if this machine cannot hold a block.
std::unique_ptr<Directions> make_directions(Options& options, std::uint64_t seed, std::size_t parameters, std::size_t pairs,
                                            Norms norms);

}  // namespace iap
