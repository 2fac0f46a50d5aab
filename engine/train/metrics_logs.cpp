module;
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.train;
import iap.core;
import :metrics;
import :metrics_logs;
import :run_state;
#include "core/there.hpp"

namespace iap {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Format {
  const char *name, *file;
  std::string (*head)(double start);
  std::string (*row)(const MetricsRow& row, double start);
  double (*start)(std::string_view file);
};

constexpr Format formats[]{
    {"jsonl", "metrics.jsonl", [](double) { return std::string(); }, json_row, [](std::string_view) { return none; }},
    {"tensorboard", "events.out.tfevents.iap", event_head, event_row, event_start},
};

std::vector<std::vector<std::string>> lines_of(std::string_view table) {
  std::vector<std::vector<std::string>> lines;
  for (auto end = table.find('\n'); end != std::string_view::npos; end = table.find('\n')) {
    keep_row(lines, csv_cells(table.substr(0, end)));
    table.remove_prefix(end + 1);
  }
  return lines;
}

double seconds_since_1970() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

const std::vector<std::string>& log_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Format& format : formats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

void check_logs(const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (std::ranges::find(log_names(), name) == log_names().end())
      throw Error(text("train: option 'log': there is no log '", name, "'", did_you_mean(name, log_names())));
}

double MetricsRow::value(std::string_view name) const {
  double number = none;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) read_cell(cells[i], number);
  return number;
}

std::string json_row(const MetricsRow& row, double) {
  std::string line;
  for (std::size_t i = 0; i < row.names.size(); ++i) {
    double number = none;
    const bool finite = read_cell(row.cells[i], number) && std::isfinite(number);
    line += text(line.empty() ? "{" : ",", to_json(row.names[i]), ":", finite ? csv_cell(number) : "null");
  }
  return line + "}\n";
}

MetricsLogs::MetricsLogs(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  const auto is_kept = [&folder](const Format& format) { return is_there(folder / format.file); };
  std::vector<Format> kept;
  for (const Format& format : formats)
    if (is_kept(format) || std::ranges::find(names, format.name) != names.end()) kept.push_back(format);
  if (kept.empty()) return;  // the table of a long run is not read for nothing
  auto lines = lines_of(read_file(run_file(folder, "metrics.csv")));
  columns_ = lines.front();
  std::vector<MetricsRow> rows;
  for (auto& cells : std::span(lines).subspan(1)) rows.push_back({columns_, std::move(cells)});
  for (const Format& format : kept) {
    const auto path = run_file(folder, format.file);
    const bool there = is_kept(format);
    const std::string before = there ? read_file(path) : "";
    double start = format.start(before);
    if (!std::isfinite(start)) {
      const double seconds = rows.empty() ? 0 : rows.back().value("seconds");
      start = seconds_since_1970() - (std::isfinite(seconds) ? seconds : 0);
    }
    std::string content = format.head(start);
    for (const MetricsRow& row : rows) content += format.row(row, start);
    if (!there || content != before) write_file_atomic(path, content);
    logs_.push_back({format.name, format.file, format.row, start, AppendFile(path)});
  }
}

void MetricsLogs::check(const std::filesystem::path& folder) {
  for (const Format& format : formats)
    if (const auto path = run_file(folder, format.file); is_there(path)) AppendFile{path};
}

std::vector<std::string> MetricsLogs::disturbed() const {
  std::vector<std::string> found;
  for (const Log& log : logs_)
    if (log.file.standing() != FileStanding::kept) found.emplace_back(log.file_name);
  return found;
}

std::vector<std::string> MetricsLogs::names() const {
  std::vector<std::string> names;
  for (const Log& log : logs_) names.emplace_back(log.name);
  return names;
}

void MetricsLogs::append(const Columns& columns) {
  if (logs_.empty()) return;
  const MetricsRow row{columns_, cells_of(columns_, columns)};
  for (Log& log : logs_) log.file.append(log.row(row, log.start));
}

void MetricsLogs::sync() {
  for (Log& log : logs_) log.file.sync();
}

}  // namespace iap
