module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>
module iap.policy;
import iap.core;
import :block;
import :resample;

namespace iap {
namespace {

/// Values at the patches of `to` from values at those of `from`, to.count x from.count: triangles as wide as the coarser step, so
/// that a finer grid interpolates linearly and a coarser one averages. Rows sum to 1.
std::vector<double> interpolation(const PatchAxis& from, const PatchAxis& to) {
  const double width = std::max(1.0, to.step / from.step);
  const auto columns = static_cast<std::size_t>(from.count);
  std::vector<double> matrix(static_cast<std::size_t>(to.count) * columns);
  for (int i = 0; i < to.count; ++i) {
    const double place = std::clamp((to.first + i * to.step - from.first) / from.step, 0.0, from.count - 1.0);
    const auto row = std::span(matrix).subspan(static_cast<std::size_t>(i) * columns, columns);
    double sum = 0;
    for (int j = 0; j < from.count; ++j) sum += row[static_cast<std::size_t>(j)] = std::max(0.0, 1 - std::abs(j - place) / width);
    for (double& weight : row) weight /= sum;
  }
  return matrix;
}

std::vector<double> transposed(const std::vector<double>& matrix, int rows, int columns) {
  std::vector<double> turned(matrix.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) turned[j * rows + i] = matrix[i * columns + j];
  return turned;
}

/// The matrix that takes a table along one axis to the new grid: R, or R^T for weights of a sum.
std::vector<double> axis_map(const PatchAxis& from, const PatchAxis& to, bool weights) {
  return weights ? transposed(interpolation(to, from), from.count, to.count) : interpolation(from, to);
}

/// `matrix` (rows x columns) times the middle index of `in` (before x columns x after).
std::vector<double> apply(const std::vector<double>& matrix, std::size_t rows, std::size_t columns, std::span<const double> in,
                          std::size_t before, std::size_t after) {
  std::vector<double> out(before * rows * after);
  for (std::size_t b = 0; b < before; ++b)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const double weight = matrix[i * columns + j];
        if (weight == 0) continue;
        for (std::size_t a = 0; a < after; ++a) out[(b * rows + i) * after + a] += weight * in[(b * columns + j) * after + a];
      }
  return out;
}

}  // namespace

std::vector<float> resample(std::span<const float> table, const GridParameters& from, const GridParameters& to) {
  if (from.rows == to.rows && from.columns == to.columns) return {table.begin(), table.end()};
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  const std::vector<double> exact(table.begin(), table.end());
  const auto tall = apply(axis_map(from.rows, to.rows, from.weights), size(to.rows.count), size(from.rows.count),
                          std::span<const double>(exact), size(from.tables), size(from.columns.count) * size(from.values));
  const auto wide = apply(axis_map(from.columns, to.columns, from.weights), size(to.columns.count), size(from.columns.count),
                          std::span<const double>(tall), size(from.tables) * size(to.rows.count), size(from.values));
  const double patches = static_cast<double>(from.rows.count) * from.columns.count,
               patches_now = static_cast<double>(to.rows.count) * to.columns.count;
  const double factor = from.weights ? std::sqrt(patches_now / patches) : 1;
  std::vector<float> result;
  for (const double value : wide) result.push_back(static_cast<float>(factor * value));
  return result;
}

}  // namespace iap
