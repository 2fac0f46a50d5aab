module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import :figures;
import :probe;

namespace iap {
namespace {

std::string shown(double r2) { return std::isnan(r2) ? "-" : fixed_text(std::max(r2, 0.0), 2); }

std::string padded(const std::string& words, std::size_t width, bool right) {
  const std::string spaces(width - std::min(width, words.size()), ' ');
  return right ? spaces + words : words + spaces;
}

/// A stranger's name as a cell that no spreadsheet takes for a formula.
std::string plain_cell(const std::string& name) {
  double number = 0;
  return name.find_first_of("=+-@") == 0 && !read_cell(name, number) ? "'" + name : name;
}

/// "1.rank (20)": the number is that of the outputs.
std::string heading(const ProbedBlock& block) { return text(block.path, " (", block.outputs, ")"); }

}  // namespace

std::string probe_table(const ProbeResult& result) {
  std::vector<std::vector<std::string>> rows{{"state"}};
  for (const ProbedBlock& block : result.blocks) rows[0].push_back(heading(block));
  for (std::size_t i = 0; i < result.variables.size(); ++i) {
    auto& row = rows.emplace_back(1, result.variables[i]);
    for (const ProbedBlock& block : result.blocks) row.push_back(shown(block.r2[i]));
  }
  auto& means = rows.emplace_back(1, "mean");
  for (const ProbedBlock& block : result.blocks) means.push_back(shown(block.mean));
  constexpr std::size_t widest = 240;  // a row that is longer has no other filled up to it
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::min(row[i].size(), widest));
  std::string table;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) table += (i ? "  " : "") + padded(row[i], widths[i], i > 0);
    table += "\n";
  }
  return table;
}

std::string probe_csv(const ProbeResult& result) {
  std::string csv = csv_line({"block", "outputs", "state", "r2", "ridge"});
  for (const ProbedBlock& block : result.blocks)
    for (std::size_t i = 0; i < result.variables.size(); ++i)
      csv += csv_line(
          {block.path, text(block.outputs), plain_cell(result.variables[i]), csv_cell(block.r2[i]), csv_cell(block.ridge[i])});
  return csv;
}

void write_probe_chart(const std::filesystem::path& png, const ProbeResult& result, const std::string& title) {
  BarGroups chart{.title = title,
                  .x_label = "explained variance on held-out episodes (R²)",
                  .caption = text("Ridge regression from what a block hands over; ", result.fitted_episodes, " episodes fitted, ",
                                  result.tested_episodes, " tested", result.per_episode ? ", each less its mean." : "."),
                  .most = 1};
  for (const ProbedBlock& block : result.blocks) chart.series.push_back(heading(block));
  for (std::size_t i = 0; i < result.variables.size(); ++i) {
    auto& group = chart.groups.emplace_back();
    group.label = result.variables[i];
    for (const ProbedBlock& block : result.blocks)
      group.values.push_back(std::isnan(block.r2[i]) ? block.r2[i] : std::max(block.r2[i], 0.0));
  }
  write_bar_groups(png, chart);
}

}  // namespace iap
