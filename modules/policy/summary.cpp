module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;

namespace iap {
namespace {

using Row = std::array<std::string, 4>;

std::size_t parameters_below(const ParameterLayout& layout, const std::string& path) {
  std::size_t count = 0;
  for (const auto& slice : layout.slices())
    if (slice.name.starts_with(path + ".")) count += slice.size;
  return count;
}

/// Those of a block that are of none inside it.
std::size_t own_parameters(const Block& block, const ParameterLayout& layout) {
  std::size_t count = parameters_below(layout, block.path());
  for (const auto& child : block.children())
    if (child->path().starts_with(block.path() + ".")) count -= parameters_below(layout, child->path());
  return count;
}

void add_rows(const Block& block, const ParameterLayout& layout, std::size_t depth, std::vector<Row>& rows) {
  const std::size_t own = own_parameters(block, layout);
  const std::string indent(2 * depth, ' ');
  std::string options(block.kind());
  if (const auto described = block.describe(); !described.empty()) options += ": " + described;
  rows.push_back({indent + block.path(), options, text(block.outputs()), text(own)});
  for (const auto& child : block.children()) add_rows(*child, layout, depth + 1, rows);
}

}  // namespace

std::string Policy::summary() const {
  std::vector<Row> rows{{"block", "options", "outputs", "parameters"}};
  add_rows(root(), layout(), 0, rows);
  rows.push_back({"total", "", "", text(size())});
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column) widths[column] = std::max(widths[column], row[column].size());
  std::string table;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - row[column].size(), ' ');
      const bool is_figure = column >= 2;
      table += (column ? "  " : "") + (is_figure ? padding + row[column] : row[column] + padding);
    }
    table += '\n';
  }
  return printable(table);
}

}  // namespace iap
