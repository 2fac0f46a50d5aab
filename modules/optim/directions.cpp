module;
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
module iap.optim;
import iap.core;
import :directions;
import :memory;

namespace iap {
namespace {

class GaussianDirections : public Directions {
 public:
  explicit GaussianDirections(std::uint64_t seed) : seed_(seed) {}

  void draw(std::uint32_t iteration, std::size_t pair, std::span<float> out) override {
    Random({.seed = seed_, .iteration = iteration, .member = static_cast<std::uint32_t>(pair), .purpose = Purpose::perturbation})
        .fill_normal(out);
  }

 private:
  std::uint64_t seed_;
};

/// Keeps those that were drawn from pair 0 on in the order of the pairs, as a turn's ask draws them: its tell wants the same ones.
class KeptDirections final : public Directions {
 public:
  KeptDirections(std::unique_ptr<Directions> drawn, std::size_t pairs) : drawn_(std::move(drawn)), pairs_(pairs) {}
  /// What many processes may take each.
  static bool few(std::size_t parameters, std::size_t pairs) {
    constexpr std::size_t most = std::size_t{32} << 20;
    return pairs <= most / sizeof(float) / parameters;
  }

  void draw(std::uint32_t iteration, std::size_t pair, std::span<float> out) override {
    if (iteration != iteration_) known_ = 0;
    iteration_ = iteration;
    const std::size_t size = out.size();
    if (pair < known_) {
      std::ranges::copy(std::span(kept_).subspan(pair * size, size), out.begin());
      return;
    }
    drawn_->draw(iteration, pair, out);
    if (pair != known_) return;
    if (kept_.empty()) kept_.reserve(pairs_ * size);
    kept_.resize(std::max(kept_.size(), (pair + 1) * size));
    std::ranges::copy(out, kept_.begin() + static_cast<std::ptrdiff_t>(pair * size));
    ++known_;
  }

 private:
  std::unique_ptr<Directions> drawn_;
  std::size_t pairs_;
  std::vector<float> kept_;
  std::uint32_t iteration_ = 0;
  std::size_t known_ = 0;
};

/// Directions in blocks, of which one at a time is prepared: the next calls mostly ask for the same one.
class BlockDirections : public Directions {
 public:
  BlockDirections(std::size_t rows, std::size_t pairs) : rows_(rows), pairs_(pairs) {}

  void draw(std::uint32_t iteration, std::size_t pair, std::span<float> out) final {
    const std::size_t block = pair / rows_;
    if (iteration != iteration_ || block != block_) {
      prepare(iteration, block, std::min(rows_, pairs_ - block * rows_));
      iteration_ = iteration;
      block_ = block;
    }
    write(pair % rows_, out);
  }

 protected:
  /// Makes the `count` rows of a block ready for `write`.
  virtual void prepare(std::uint32_t iteration, std::size_t block, std::size_t count) = 0;
  virtual void write(std::size_t row, std::span<float> out) = 0;
  std::size_t rows() const { return rows_; }
  /// Of the rows that `write` is asked for.
  std::uint32_t iteration() const { return iteration_; }
  std::size_t first_pair() const { return block_ * rows_; }

 private:
  std::size_t rows_, pairs_;
  std::uint32_t iteration_ = 0;
  std::size_t block_ = std::numeric_limits<std::size_t>::max();
};

/// Sums in eight parts, which a processor adds side by side; their order is fixed.
double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, 8> parts{};
  std::size_t i = 0;
  for (; i + 8 <= a.size(); i += 8)
    for (std::size_t k = 0; k < 8; ++k) parts[k] += a[i + k] * b[i + k];
  for (std::size_t k = 0; i < a.size(); ++i, ++k) parts[k] += a[i] * b[i];
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

/// Of a block in double precision. @throws Error if this machine cannot hold it.
std::size_t checked_size(std::size_t rows, std::size_t parameters) {
  require_memory("optimizer", text("a block of ", rows, " x ", parameters, " orthogonal directions"),
                 sizeof(double) * static_cast<double>(rows) * static_cast<double>(parameters), "lower population");
  return rows * parameters;
}

/// Gram-Schmidt on Gaussian rows. The direction of an orthogonalised row does not depend on the lengths of the drawn ones, and the
/// length of a Gaussian row not on its direction: so each row takes its own length back, which is chi-distributed and independent.
class OrthogonalDirections : public BlockDirections {
 public:
  OrthogonalDirections(std::uint64_t seed, std::size_t parameters, std::size_t pairs)
      : BlockDirections(std::min(parameters, pairs), pairs),
        gaussian_(seed),
        drawn_(parameters),
        lengths_(rows()),
        block_(checked_size(rows(), parameters)) {}

 private:
  void prepare(std::uint32_t iteration, std::size_t block, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<double> row = block_row(i);
      gaussian_.draw(iteration, block * rows() + i, drawn_);
      std::ranges::copy(drawn_, row.begin());
      lengths_[i] = std::sqrt(dot(row, row));
      // Twice, because once loses digits where a row is nearly dependent on those before it.
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t j = 0; j < i; ++j) {
          const std::span<const double> other = block_row(j);
          const double overlap = dot(row, other);
          for (std::size_t k = 0; k < row.size(); ++k) row[k] -= overlap * other[k];
        }
      const double left = std::sqrt(dot(row, row));
      for (double& value : row) value = left > 0 ? value / left : 0;
    }
  }

  void write(std::size_t row, std::span<float> out) override {
    const std::span<const double> unit = block_row(row);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(lengths_[row] * unit[i]);
  }

  std::span<double> block_row(std::size_t row) { return std::span(block_).subspan(row * drawn_.size(), drawn_.size()); }

  GaussianDirections gaussian_;
  std::vector<float> drawn_;
  std::vector<double> lengths_, block_;
};

/// Replaces `values`, N of them, by H values: the fast Walsh-Hadamard transform, in N log2 N additions.
void transform(std::span<double> values) {
  for (std::size_t half = 1; half < values.size(); half *= 2)
    for (std::size_t begin = 0; begin < values.size(); begin += 2 * half)
      for (std::size_t i = begin; i < begin + half; ++i) {
        const double a = values[i], b = values[i + half];
        values[i] = a + b;
        values[i + half] = a - b;
      }
}

/// Row i of H D_1 H D_2 H D_3 is D_3 H D_2 H D_1 h_i, h_i being row i of H. Until the division by N all values are whole numbers up
/// to N^2, so that they are exact for all N that fit into a machine.
class HadamardDirections : public BlockDirections {
 public:
  HadamardDirections(std::uint64_t seed, std::size_t parameters, std::size_t pairs, Norms norms)
      : BlockDirections(parameters, pairs), seed_(seed), norms_(norms), values_(std::bit_ceil(parameters)) {
    for (auto& diagonal : signs_) diagonal.resize(values_.size());
  }

 private:
  void prepare(std::uint32_t iteration, std::size_t block, std::size_t) override {
    Random random(
        {.seed = seed_, .iteration = iteration, .member = static_cast<std::uint32_t>(block), .purpose = Purpose::perturbation});
    for (auto& diagonal : signs_)
      for (std::size_t begin = 0; begin < diagonal.size(); begin += 32) {
        const std::uint32_t bits = random.bits();
        for (std::size_t k = 0; k < 32 && begin + k < diagonal.size(); ++k) diagonal[begin + k] = (bits >> k & 1U) != 0 ? -1 : 1;
      }
  }

  void write(std::size_t row, std::span<float> out) override {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = std::popcount(row & i) % 2 != 0 ? -1 : 1;
    multiply(signs_[0]);
    transform(values_);
    multiply(signs_[1]);
    transform(values_);
    multiply(signs_[2]);
    const double size = static_cast<double>(values_.size()), stretch = norms_ == Norms::chi ? chi(row, out.size()) : 1;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(stretch * values_[i] / size);
  }

  /// chi(P) / sqrt(P) of a row. Its normal numbers are those of an episode of their own, as the signs are drawn in episode 0.
  double chi(std::size_t row, std::size_t parameters) const {
    Random random({.seed = seed_,
                   .iteration = iteration(),
                   .member = static_cast<std::uint32_t>(first_pair() + row),
                   .episode = 1,
                   .purpose = Purpose::perturbation});
    double square = 0;
    for (std::size_t i = 0; i < parameters; ++i) {
      const double value = random.normal();
      square += value * value;
    }
    return std::sqrt(square / static_cast<double>(parameters));
  }

  void multiply(const std::vector<std::int8_t>& diagonal) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] *= diagonal[i];
  }

  std::uint64_t seed_;
  Norms norms_;
  std::array<std::vector<std::int8_t>, 3> signs_;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<Directions> make_directions(Options& options, std::uint64_t seed, std::size_t parameters, std::size_t pairs,
                                            Norms norms) {
  const std::string kind = options.choice("directions", {"gaussian", "orthogonal", "hadamard"}, "gaussian");
  // The values of a row of two are alike in size: with norms that count, it would say the same of both parameters.
  const bool rows_say_little = kind == "hadamard" && norms == Norms::chi && parameters == 2;
  if (kind == "orthogonal" || rows_say_little) return std::make_unique<OrthogonalDirections>(seed, parameters, pairs);
  std::unique_ptr<Directions> drawn;
  if (kind == "hadamard")
    drawn = std::make_unique<HadamardDirections>(seed, parameters, pairs, norms);
  else
    drawn = std::make_unique<GaussianDirections>(seed);
  if (!KeptDirections::few(parameters, pairs)) return drawn;
  return std::make_unique<KeptDirections>(std::move(drawn), pairs);
}

}  // namespace iap
