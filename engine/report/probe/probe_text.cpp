module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>
module iap.report;
import iap.core;
import :figures;
import :probe;
#include "../charts/letters.hpp"

namespace iap {
namespace {

std::string shown(double r2) { return std::isnan(r2) ? "-" : fixed_text(std::max(r2, 0.0), 2); }

std::string padded(const std::string& words, std::size_t width, bool right) {
  const std::string spaces(width - std::min(width, letters(words)), ' ');
  return right ? spaces + words : words + spaces;
}

/// Without the blanks that it begins with, of ASCII and Unicode.
std::string_view without_blanks(std::string_view part) {
  constexpr std::string_view blanks[]{" ", "\u00a0", "\u3000"};
  for (;;) {
    const auto blank = std::ranges::find_if(blanks, [part](std::string_view one) { return part.starts_with(one); });
    if (blank == std::end(blanks)) return part;
    part.remove_prefix(blank->size());
  }
}

/// Whether spreadsheets take it for a formula: some compute signs of full width, too.
bool is_formula(std::string_view part) {
  constexpr std::string_view signs[]{"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  double number = 0;
  return std::ranges::any_of(signs, [part](std::string_view sign) { return part.starts_with(sign); }) && !read_cell(part, number);
}

/// A stranger's name as a cell in which no spreadsheet finds a formula, nor in its parts: where decimals have a comma, cells end at
/// a semicolon.
std::string plain_cell(std::string_view name) {
  std::string cell;
  for (;;) {
    const auto part = name.substr(0, name.find(';'));
    const auto begin = without_blanks(part);
    cell += text(part.substr(0, part.size() - begin.size()), is_formula(begin) ? "'" : "", begin);
    if (part.size() == name.size()) return cell;
    cell += ';';
    name.remove_prefix(part.size() + 1);
  }
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
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::min(letters(row[i]), widest));
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
