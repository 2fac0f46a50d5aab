module;
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
/// What the blocks share: dense layers, and the functions that the catalog lists.
module iap.policy:internal;
import iap.core;
import :block;

namespace iap {

enum class Activation { none, tanh, relu, elu, sigmoid };

/// Reads option `key`, one of none, tanh, relu, elu, sigmoid.
Activation read_activation(Options& options, std::string_view key, Activation fallback);
std::string name_of(Activation activation);
void activate(Activation activation, std::span<float> values);

/// tanh(x), and the logistic function 1 / (1 + exp(-x)), which never overflows. Like all activations they are computed in double
/// precision and rounded, which leaves nothing to the C library: in single precision, tanh of glibc 2.36 and 2.41 differ in last
/// bits.
float hyperbolic_tangent(float x);
float sigmoid(float x);

/// a . b in eight lanes that are summed pairwise: the order of additions is fixed, and compilers can use vector registers.
float dot(std::span<const float> a, const float* b);

/// One dense map y = W x + b inside the flat parameter vector. W is rows x columns, row-major, as in PyTorch.
class Affine {
 public:
  Affine() = default;
  /// Declares `<path>.<weight>` and, if `bias` is not empty, `<path>.<bias>`.
  Affine(ParameterLayout& layout, const std::string& path, const std::string& weight, const std::string& bias, int rows,
         int columns);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  void bind(std::span<const float> parameters);
  /// The weights' and the bias's parts of the whole vector.
  std::span<float> weight(std::span<float> parameters) const { return parameters.subspan(weight_offset_, weight_size()); }
  std::span<float> bias(std::span<float> parameters) const;
  /// The bound weights and bias (0 where there is none) of one row.
  std::pair<std::span<const float>, float> row(int index) const {
    const auto columns = static_cast<std::size_t>(columns_);
    return {weight_.subspan(index * columns, columns), has_bias_ ? bias_[index] : 0.0F};
  }
  /// out = W in + b.
  void apply(std::span<const float> in, std::span<float> out) const;
  /// out += W in + b.
  void add(std::span<const float> in, std::span<float> out) const;

 private:
  std::size_t weight_size() const { return static_cast<std::size_t>(rows_) * columns_; }

  int rows_ = 0, columns_ = 0;
  bool has_bias_ = false;
  std::size_t weight_offset_ = 0, bias_offset_ = 0;
  std::span<const float> weight_, bias_;
};

/// Draws N(0, deviation^2) for every value.
void fill_normal(std::span<float> values, double deviation, Random& random);

/// The number of outputs of a block that can end a policy: option `units`, by default the action size when it is the last.
int read_units(Options& options, const BlockContext& context);
/// `count` as the size of a block's output. @throws Error if it is beyond what a block may write, or would take too much memory.
int checked_outputs(const Options& options, std::int64_t count);
/// @throws Error naming option `key` unless all of `numbers` count, from 1, one of the `size` numbers of `what`.
void check_numbers(const Options& options, std::string_view key, std::span<const std::int64_t> numbers, std::int64_t size,
                   std::string_view what);
/// @throws Error unless the block before hands over at least one value.
void require_inputs(const Options& options, const BlockContext& context);

/// Blocks that a policy may have.
inline constexpr int most_blocks = 1 << 12;
/// Bytes that `config` takes as a tree.
double tree_bytes(const Config& config);
/// Before a block's table takes in those of the blocks inside it, which are of so many bytes. @throws Error if there is no room.
void check_tables(const Options& options, double bytes);

using MadeBlock = std::unique_ptr<Block>;
/// The block that option `key` describes, built in `context`. @throws Error naming the option.
MadeBlock make_inside(Options& options, std::string_view key, const BlockContext& context, ParameterLayout& layout);
/// Blocks one after the other, as the children of the block at `context.path`. `kind` must be a literal.
MadeBlock make_chain(std::string_view kind, const Config::List& blocks, const BlockContext& context, ParameterLayout& layout);

}  // namespace iap
