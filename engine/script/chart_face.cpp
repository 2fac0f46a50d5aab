#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "script/faces.hpp"
import iap.core;
import iap.report;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr std::int64_t largest_side = 8192;

Config read_table(const Call& call) {
  if (call.absent(1)) call.refuse(1, "options", "a table");
  Config config = call.config(1, "options");
  if (!config.map()) call.refuse(1, "options", "a table with named entries");
  return config;
}

std::filesystem::path read_out(Options& options) {
  const std::filesystem::path out = options.string("out");
  if (out.has_parent_path()) make_folder(out.parent_path());
  return out;
}

std::vector<double> read_numbers(Options& options, const char* key) {
  std::vector<double> numbers;
  for (const auto& item : options.list(key)) {
    const auto number = item.number();
    if (!number) options.fail(text("option '", key, "' must be a list of numbers, got ", item.describe(), " in it"));
    numbers.push_back(*number);
  }
  return numbers;
}

Series read_series(Options& options) {
  Series series{.label = options.string("label", ""),
                .x = read_numbers(options, "x"),
                .y = read_numbers(options, "y"),
                .low = read_numbers(options, "low"),
                .high = read_numbers(options, "high"),
                .dots = options.boolean("dots", false)};
  options.finish();
  const auto size = series.x.size();
  if (series.y.size() != size || series.low.size() != series.high.size() || (!series.low.empty() && series.low.size() != size))
    options.fail(text("x, y and, where there is a band, low and high must be equally long, got ", size, ", ", series.y.size(), ", ",
                      series.low.size(), " and ", series.high.size(), " numbers"));
  return series;
}

/// iap.report.chart{out, title, x_label, y_label, width, height, from_zero, series = {{label, x, y, low, high, dots}, ...}}: a PNG
/// of lines.
int chart(Call& call) {
  const Config config = read_table(call);
  Options options(call.name(), config);
  Chart wanted{.title = options.string("title", ""),
               .x_label = options.string("x_label", ""),
               .y_label = options.string("y_label", ""),
               .series = {}};
  wanted.from_zero = options.boolean("from_zero", false);
  wanted.width = static_cast<int>(options.integer_in("width", 200, largest_side, wanted.width));
  wanted.height = static_cast<int>(options.integer_in("height", 200, largest_side, wanted.height));
  for (const auto& item : options.list("series")) {
    Options entry_options(text(call.name(), ": series ", wanted.series.size() + 1), item);
    wanted.series.push_back(read_series(entry_options));
  }
  const auto out = read_out(options);
  options.finish();
  write_chart(out, wanted);
  return 0;
}

CurveGroup read_group(Options& options) {
  CurveGroup group{.label = options.string("label"), .runs = {}};
  for (const auto& run : options.list("runs")) {
    if (!run.string()) options.fail(text("option 'runs' must be a list of folders, got ", run.describe(), " in it"));
    group.runs.emplace_back(*run.string());
  }
  options.finish();
  return group;
}

/// iap.report.compare{out, title, column, groups = {{label, runs = {folder, ...}}, ...}} -> {{label, iteration, mean, deviation},
/// ...}: a PNG of the mean of `column` (default "eval_mean") over each group's runs, with bands of one standard deviation; returns
/// the ends of the curves.
int compare(Call& call) {
  const Config config = read_table(call);
  Options options(call.name(), config);
  const auto title = options.string("title", "Learning curves"), column = options.string("column", "eval_mean");
  std::vector<CurveGroup> groups;
  for (const auto& item : options.list("groups")) {
    Options entry_options(text(call.name(), ": group ", groups.size() + 1), item);
    groups.push_back(read_group(entry_options));
  }
  if (groups.empty()) options.fail("option 'groups' must name at least one group of runs");
  const auto out = read_out(options);
  options.finish();
  write_comparison(out, groups, column, title);
  Config::List ends;
  for (const auto& group : groups) {
    const Series curve = mean_curve(group, column);
    ends.push_back(Config::Map{{"label", curve.label},
                               {"iteration", curve.x.back()},
                               {"mean", curve.y.back()},
                               {"deviation", curve.high.empty() ? 0 : curve.high.back() - curve.y.back()}});
  }
  return call.give(Config(std::move(ends)));
}

constexpr lua::Function functions[] = {{"chart", entry<chart>}, {"compare", entry<compare>}};

}  // namespace

void open_chart_face(lua_State* state) {
  lua_getfield(state, -1, "report");
  for (const auto& function : functions) lua::add_function(state, "iap.report", ".", function);
  lua_pop(state, 1);
}

}  // namespace iap
