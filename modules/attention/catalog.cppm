module;
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
export module iap.attention:catalog;
import iap.core;
import :features;
import :kernel;
import :patch_features;
import :patches;
import :trans;

export namespace iap {

/// Operations that scoring one frame cannot do without; `fma` counts whatever a vector unit does at the rate of multiply-adds:
/// sums, maxima and conversions too.
struct KernelWork {
  double fma = 0, exp = 0, sine_cosine = 0, bytes = 0;
};

/// A kernel and what it can do; functions get the entry itself, so that one function serves many rows.
struct KernelEntry {
  std::string name;
  std::string summary;
  /// Scores of IAP-rank.
  std::unique_ptr<Scorer> (*score)(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d);
  /// As `scorer_bytes`.
  double (*score_bytes)(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d, bool encoded);
  /// Operations of those scores: products of queries and keys with pixels and with projections, functions of features, sums over
  /// features and signs. Bytes of the frame and its scores are added by `kernel_work`.
  KernelWork (*work)(const KernelEntry& entry, Options& options, const PatchGrid& grid, int d);
  /// IAP-trans; null: cannot.
  std::unique_ptr<Trans> (*transform)(const KernelEntry& entry, Options& options, const PatchGrid& grid,
                                      const TransShape& shape) = nullptr;
  /// As `trans_bytes`; there where `transform` is.
  double (*transform_bytes)(const KernelEntry& entry, Options& options, const PatchGrid& grid, const TransShape& shape,
                            bool encoded) = nullptr;
  /// Features of queries and keys apart from each other: cross-attention, drawn patches, the key database; null: cannot.
  MapOptions (*map)(const KernelEntry& entry, Options& options, int c, int d) = nullptr;
  /// Whether there are exact rows of the attention matrix: option `brute_force`, or the kernel itself.
  bool exact = false;
  /// Of kernels of random features.
  std::optional<RandomFeatures> features = std::nullopt;
};

/// Every kernel this build knows.
std::span<const KernelEntry> kernel_catalog();

/// What a kernel can do, in words: "rank, trans, cross, drawn patches, exact rows".
std::string abilities(const KernelEntry& entry);

/// The kernel that option `kernel` names (default "relu"). @throws Error naming the kernels that can, where the named one
/// cannot do what is asked of it, `what` in words.
const KernelEntry& read_kernel(Options& options, std::string_view what, bool (*can)(const KernelEntry&));

/// Builds the scorer named by option `kernel` (default "relu"); reads that kernel's own options from the same table:
/// - all: `threads` (1), at most so many threads share a frame, in bands of some 4096 patches (brute force: of its queries or
///   keys). Scores are the same bits for any number. It pays for single large frames (evaluation, play: from some 20,000 patches
///   on), not where rollouts already keep every core busy.
/// - relu: `epsilon` (0), added to every feature; the Performer's published code has 1e-3.
/// - exp and favor++ (`m` 15), trig (`m` 10), hybrid (`m` 10, `r` 5): numbers of projections; `ensemble` "orthogonal" or "iid";
///   `feature_seed` (0); `redraw` "never", "episode" (see new_episode) or a number n: new projections with every episode and after
///   every n frames of it, a function of `feature_seed`, the episode's seed and the frame's number.
/// - favor++ (`m` 15) also: `spread` (2 sqrt(d)), the squared length of x + y for which its error is least; 0 makes it exp.
/// - exp and favor++ also: `epsilon` (0), added to every feature's Lambda exp(w . x); published code has 1e-6 to 1e-4.
/// - softmax: `normalise_rows` (true).
/// - all but relu: `input` "plain" or "normalised" (v1 eq. 4 or 5); `scale` "d" or "c" (AttentionAgent), the number whose root
///   divides q . k of plain inputs and is the squared length of normalised ones; `temperature` (1) divides x . y.
/// - all but softmax: `brute_force` (false), the exact kernel from the whole attention matrix, for comparison.
/// @throws Error naming the option, or the memory that it would take where that is too much.
std::unique_ptr<Scorer> make_scorer(Options& options, const PatchGrid& grid, int d);

/// Bytes that what `make_scorer` or `make_trans` builds from these options takes, for whoever builds several; `encoded`: with what
/// a position encoding adds when weights are bound. Copied query weights, four bytes a patch, are not in it. @throws Error as they.
double scorer_bytes(Options& options, const PatchGrid& grid, int d, bool encoded);
double trans_bytes(Options& options, const PatchGrid& grid, const TransShape& shape, bool encoded);

/// Operations of one frame of the kernel that `options` name.
KernelWork kernel_work(Options& options, const PatchGrid& grid, int d);

}  // namespace iap
