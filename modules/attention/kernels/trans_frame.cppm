module;
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>
module iap.attention:trans_frame;
import iap.core;
import :features;
import :internal;
import :kernel;
import :patches;
import :projector;
import :trans;

namespace iap {

/// What all kernels of IAP-trans do alike: holds a frame's kernel inputs x, V and P as rows of L floats at one pitch, and adds up
/// the output.
class TransFrame {
 public:
  /// `n` numbers a query or key.
  TransFrame(const PatchGrid& grid, int n, const TransShape& shape, InputForm form);
  /// Bytes that it takes; `encoded` as of PatchProjector::bytes.
  static double bytes(const PatchGrid& grid, int n, const TransShape& shape, bool encoded);

  const PatchGrid& grid() const { return projector_.grid(); }
  const TransShape& shape() const { return shape_; }
  int count() const { return grid().count(); }
  int inputs() const { return projector_.d(); }
  std::size_t pitch() const { return pitch_; }

  /// `head` may be a reduced one; sizes have been checked.
  void bind(const HeadWeights& head, std::span<const float> value, std::span<const float> compression);
  /// A new frame: fills queries, keys and, if projected, V; the output begins at zero. @throws Error on a wrong image or size of
  /// out.
  void project(const ImageView& image, float pixel_offset, std::size_t out_size);

  float* queries(int first) { return queries_.data() + first; }  ///< inputs() rows
  float* keys(int first) { return keys_.data() + first; }        ///< inputs() rows
  float* values(int first) { return values_.data() + first; }    ///< dV rows, then a row of ones
  const float* ones(int first) { return values(first) + shape_.values * pitch_; }
  const float* compression(int first) const { return compression_.data() + first; }  ///< l rows
  /// What products of a query and a key were divided by, as their parameters were too large for floats.
  double product_scale() const { return projector_.query_scale() * projector_.key_scale(); }
  /// A sum of weights of P, which was divided for the same reason, as it would have been; at most 1e38.
  float own_size(double sum) const { return static_cast<float>(std::min(sum / compression_scale_, 1e38)); }
  /// The largest ||x||^2 of all queries and keys.
  float largest_square() const { return largest_square_; }

  /// Rows of A V of up to simd::block patches from `first` on, dV rows: adds P times them, and times V with the residual.
  void add_attended(float* rows, int first, int count);
  /// Columns of P A of patches from `first` on, l rows: adds them times V, and P times V with the residual.
  void add_votes(float* rows, int first, int count);
  void write(std::span<float> out) const;

 private:
  static std::size_t pitch_of(const PatchGrid& grid);
  void scale_values();

  PatchProjector projector_;
  TransShape shape_;
  InputForm form_;
  std::size_t pitch_;
  FloatBuffer queries_, keys_, values_, compression_;
  std::vector<double> sums_;  // l x dV
  float largest_square_ = 0;
  double value_scale_ = 1, compression_scale_ = 1;
};

/// What the options of a linear kernel say.
struct LinearOptions {
  std::string_view name = "relu";  ///< the catalog's
  bool relu = true;                ///< of `features` only epsilon counts
  FeatureOptions features;
  bool normalise_rows = false;
  std::optional<TransOrder> order;  ///< empty: the cheaper one
};

/// Option `order`.
std::optional<TransOrder> read_trans_order(Options& options);
std::unique_ptr<Trans> make_linear_trans(const LinearOptions& options, const PatchGrid& grid, const TransShape& shape);
std::unique_ptr<Trans> make_exact_trans(std::string_view name, ExactKernel kernel, bool normalise_rows, InputForm form,
                                        float epsilon, const PatchGrid& grid, const TransShape& shape);
double linear_trans_bytes(const LinearOptions& options, const PatchGrid& grid, const TransShape& shape, bool encoded);
double exact_trans_bytes(ExactKernel kernel, const PatchGrid& grid, const TransShape& shape, bool encoded);

}  // namespace iap
