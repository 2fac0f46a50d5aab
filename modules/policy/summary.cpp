module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>
module iap.policy;
import iap.core;

namespace iap {
namespace {

using Row = std::array<std::string, 4>;

/// How many parameters are a block's own and of none inside it, by its path.
using Counts = std::map<std::string_view, std::size_t>;

void add_blocks(const Block& block, Counts& counts) {
  counts.emplace(block.path(), 0);
  for (const auto& child : block.children()) add_blocks(*child, counts);
}

/// An array is of the block with the longest path that its name begins with.
Counts own_parameters(const Block& root, const ParameterLayout& layout) {
  Counts counts;
  add_blocks(root, counts);
  for (const auto& slice : layout.slices()) {
    std::string_view path = slice.name;
    for (auto dot = path.rfind('.'); dot != path.npos; dot = path.rfind('.')) {
      path = path.substr(0, dot);
      const auto found = counts.find(path);
      if (found == counts.end()) continue;
      found->second += slice.size;
      break;
    }
  }
  return counts;
}

void add_rows(const Block& block, const Counts& own, std::size_t depth, std::vector<Row>& rows) {
  const std::string indent(2 * depth, ' ');
  std::string options(block.kind());
  if (const auto described = block.describe(); !described.empty()) options += ": " + described;
  rows.push_back({indent + block.path(), options, text(block.outputs()), text(own.at(block.path()))});
  for (const auto& child : block.children()) add_rows(*child, own, depth + 1, rows);
}

}  // namespace

std::string Policy::summary() const {
  std::vector<Row> rows{{"block", "options", "outputs", "parameters"}};
  add_rows(root(), own_parameters(root(), layout()), 0, rows);
  rows.push_back({"total", "", "", text(size())});
  constexpr std::size_t widest = 240;  // a row that is longer has no other filled up to it
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], std::min(row[column].size(), widest));
  std::string table;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(std::max(widths[column], row[column].size()) - row[column].size(), ' ');
      const bool is_figure = column >= 2;
      table += (column ? "  " : "") + (is_figure ? padding + row[column] : row[column] + padding);
    }
    table += '\n';
  }
  return printable(table);
}

}  // namespace iap
