module;
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
export module iap.attention:trans;
import iap.core;
import :kernel;
import :patches;

export namespace iap {

/// Sizes of one head of IAP-trans.
struct TransShape {
  int d = 8;              ///< of queries and keys
  int tokens = 10;        ///< l, rows of the output
  int values = 8;         ///< dV, columns of the output
  bool projected = true;  ///< V = X' W_V; otherwise the caller writes V (value_row)
  bool residual = true;   ///< adds P V to the output
};

/// What one head of IAP-trans learns.
struct TransWeights {
  HeadWeights head;                    ///< its query_weights are not used
  std::span<const float> value;        ///< W_V, c x dV row-major; empty unless TransShape::projected
  std::span<const float> compression;  ///< P, l x L row-major
};

/// In which order a linear kernel multiplies (v2 eq. 3).
enum class TransOrder : std::uint8_t {
  values_first,  ///< P (Q' (K'^T V))
  queries_first  ///< ((P Q') K'^T) V
};

/// Multiplications of a frame after features: `features` numbers a query or key, L patches. Row normalisation costs a column more
/// in one order and a pass over the keys more in the other.
double trans_cost(TransOrder order, const TransShape& shape, bool normalise_rows, double features, double patches);

/// One head of IAP-trans (v2 section 3.2): turns a frame into P (A V / L) + P V, l x dV, the second term being the residual
/// connection, with V in the place of X' so that shapes agree for any dV. A(i, j) = K(q_i, k_j), Q = X' W_Q, K = X' W_K. A is
/// divided by L as IAP-rank's scores are, so that outputs do not grow with the image; where rows of A are normalised to sum 1 it is
/// not. A itself is never held. Owns its workspace: `apply` allocates nothing. Not thread-safe.
class Trans {
 public:
  virtual ~Trans() = default;
  /// The catalog's name of the kernel.
  virtual std::string_view kernel() const = 0;
  /// The order in which `apply` multiplies; the exact kernels know only values_first.
  virtual TransOrder order() const = 0;
  /// New weights; copied. @throws Error naming the array whose size does not fit.
  virtual void bind(const TransWeights& weights) = 0;
  /// As Scorer::new_episode.
  virtual void new_episode(std::uint64_t episode_seed) { (void)episode_seed; }
  /// Column `column` of V, L values, for the caller to write before `apply` where V is not projected.
  virtual std::span<float> value_row(int column) = 0;
  /// Writes the l x dV outputs, row-major; numbers beyond +-1e30 are clamped, here and in what the order forms on the way, A V / L
  /// or P A / L. `pixel_offset` is added to pixel values in [0, 1].
  /// @throws Error if no weights are bound, or the image or `out` has the wrong shape.
  virtual void apply(const ImageView& image, float pixel_offset, std::span<float> out) = 0;
  /// How much each of the L patches weighed in the last `apply`: the column sums of |P A| / L, without the residual. Costs about as
  /// much as `apply`. May allocate on its first call.
  virtual void importance(std::span<float> out) = 0;
};

/// Builds the head for the kernel named by option `kernel` (default "relu"), with the options of make_scorer, except that
/// - relu, exp, favor++ and softmax take `normalise_rows` (softmax: true, the others: false): rows of A are divided by their sums,
///   rows that sum to zero stay zero. The features of trig and hybrid may be negative and their sums zero, so they refuse it.
/// - all but softmax take `order`: "auto" (the cheaper one), "values_first" or "queries_first"; not with `brute_force`.
/// @throws Error naming the option.
std::unique_ptr<Trans> make_trans(Options& options, const PatchGrid& grid, const TransShape& shape);

}  // namespace iap
