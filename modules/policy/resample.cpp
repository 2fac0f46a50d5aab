module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>
module iap.policy;
import iap.core;
import :block;
import :resample;

namespace iap {
namespace {

constexpr const char* what = "policy: bringing it to another size";

/// A matrix row by row, without its zeros: of some thousand patches an axis, all numbers would take gigabytes.
class SparseRows {
 public:
  struct Entry {
    int column;
    double weight;
  };
  std::span<const Entry> row(std::size_t index) const {
    return std::span(entries_).subspan(ends_[index], ends_[index + 1] - ends_[index]);
  }
  std::size_t rows() const { return ends_.size() - 1; }
  /// Numbers that are not 0.
  std::size_t size() const { return entries_.size(); }
  void add(int column, double weight) {
    reserve_growing(entries_, 1, what);
    entries_.push_back({column, weight});
  }
  /// The entries added so far that are of no row yet become the next, each divided by `divisor`.
  void end_row(double divisor) {
    for (Entry& entry : std::span(entries_).subspan(ends_.back())) entry.weight /= divisor;
    reserve_growing(ends_, 1, what);
    ends_.push_back(entries_.size());
  }
  /// Entries of a row are by column, as here.
  SparseRows transposed(int columns) const {
    check_memory(what, sizeof(Entry) * static_cast<double>(entries_.size()) + 2.0 * sizeof(std::size_t) * columns);
    SparseRows turned;
    turned.ends_.assign(static_cast<std::size_t>(columns) + 1, 0);
    for (const Entry& entry : entries_) ++turned.ends_[static_cast<std::size_t>(entry.column) + 1];
    std::partial_sum(turned.ends_.begin(), turned.ends_.end(), turned.ends_.begin());
    turned.entries_.resize(entries_.size());
    std::vector<std::size_t> next = turned.ends_;
    for (std::size_t i = 0; i < rows(); ++i)
      for (const Entry& entry : row(i))
        turned.entries_[next[static_cast<std::size_t>(entry.column)]++] = {static_cast<int>(i), entry.weight};
    return turned;
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::size_t> ends_{0};
};

/// Values at the patches of `to` from values at those of `from`, to.count x from.count: triangles as wide as the coarser step, so
/// that a finer grid interpolates linearly and a coarser one averages. Rows sum to 1.
SparseRows interpolation(const PatchAxis& from, const PatchAxis& to) {
  const double width = std::max(1.0, to.step / from.step), last = from.count - 1.0;
  SparseRows matrix;
  Looks looks;
  for (int i = 0; i < to.count; ++i) {
    const double place = std::clamp((to.first + i * to.step - from.first) / from.step, 0.0, last);
    // Whatever rounding does, beyond these everything is zero.
    const int begin = static_cast<int>(std::max(0.0, std::floor(place - width) - 1));
    const int end = static_cast<int>(std::min(last, std::ceil(place + width) + 1));
    if (looks.due(static_cast<std::size_t>(end - begin) + 1)) check_interrupt();
    double sum = 0;
    for (int j = begin; j <= end; ++j) {
      const double weight = std::max(0.0, 1 - std::abs(j - place) / width);
      if (weight == 0) continue;
      matrix.add(j, weight);
      sum += weight;
    }
    matrix.end_row(sum);
  }
  return matrix;
}

/// The matrix that takes a table along one axis to the new grid: R, or R^T for weights of a sum.
SparseRows axis_map(const PatchAxis& from, const PatchAxis& to, bool weights) {
  return weights ? interpolation(to, from).transposed(to.count) : interpolation(from, to);
}

}  // namespace

std::vector<float> resample(std::span<const float> table, const GridParameters& from, const GridParameters& to) {
  if (from.rows == to.rows && from.columns == to.columns) return {table.begin(), table.end()};
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  const std::size_t tables = size(from.tables), values = size(from.values), row_size = size(from.columns.count) * values;
  const SparseRows down = axis_map(from.rows, to.rows, from.weights), along = axis_map(from.columns, to.columns, from.weights);
  const double patches = static_cast<double>(from.rows.count) * from.columns.count,
               patches_now = static_cast<double>(to.rows.count) * to.columns.count;
  const double factor = from.weights ? std::sqrt(patches_now / patches) : 1;
  const std::size_t count = tables * down.rows() * along.rows() * values;
  check_memory(what, sizeof(float) * static_cast<double>(count) + sizeof(double) * static_cast<double>(row_size + values));
  std::vector<float> result;
  result.reserve(count);
  // Row by row of the result: of one that is wide and one that is tall, what lies between would be the square of both.
  std::vector<double> row(row_size), patch(values);
  Looks looks;
  for (std::size_t t = 0; t < tables; ++t)
    for (std::size_t i = 0; i < down.rows(); ++i) {
      if (looks.due(down.row(i).size() * row_size + along.size() * values)) check_interrupt();
      std::ranges::fill(row, 0.0);
      for (const auto& [j, weight] : down.row(i)) {
        const auto in = table.subspan((t * size(from.rows.count) + size(j)) * row_size, row_size);
        for (std::size_t a = 0; a < row_size; ++a) row[a] += weight * static_cast<double>(in[a]);
      }
      for (std::size_t k = 0; k < along.rows(); ++k) {
        std::ranges::fill(patch, 0.0);
        for (const auto& [j, weight] : along.row(k))
          for (std::size_t v = 0; v < values; ++v) patch[v] += weight * row[size(j) * values + v];
        for (const double value : patch) result.push_back(static_cast<float>(factor * value));
      }
    }
  return result;
}

}  // namespace iap
