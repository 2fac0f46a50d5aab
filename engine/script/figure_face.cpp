#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
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

/// A list of numbers; NaN marks what is missing.
std::vector<double> numbers_of(Options& options, std::string_view key) {
  std::vector<double> values;
  for (const Config& item : options.list(key)) {
    if (!item.number()) options.fail(text("option '", key, "' must be a list of numbers, got ", item.describe()));
    values.push_back(*item.number());
  }
  return values;
}

std::filesystem::path target(Options& options) {
  const std::filesystem::path out = options.string("out");
  if (out.has_parent_path()) make_folder(out.parent_path());
  return out;
}

void read_size(Options& options, int& width, int& height) {
  constexpr int least = 200, most = 4000;
  width = static_cast<int>(options.integer_in("width", least, most, width));
  height = static_cast<int>(options.integer_in("height", least, most, height));
}

/// iap.report.line_chart{out, title, x_label, y_label, width, height, series = {{label, x, y, dots, line, colour}, ...}}
int line_chart(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  const auto out = target(options);
  Chart chart{
      .title = options.string("title", ""), .x_label = options.string("x_label", ""), .y_label = options.string("y_label", "")};
  read_size(options, chart.width, chart.height);
  int position = 0;
  for (const Config& one : options.list("series")) {
    Options reader(text(call.name(), ": series ", ++position), one);
    Series series{.label = reader.string("label", ""), .x = numbers_of(reader, "x"), .y = numbers_of(reader, "y")};
    if (series.x.size() != series.y.size())
      reader.fail(text("x has ", series.x.size(), " values and y ", series.y.size(), "; they must be as many"));
    series.dots = reader.boolean("dots", false);
    series.line = reader.boolean("line", true);
    series.colour = static_cast<int>(reader.integer_in("colour", 1, 6, 0)) - 1;
    reader.finish();
    chart.series.push_back(std::move(series));
  }
  options.finish();
  write_chart(out, chart);
  return 0;
}

/// iap.report.bar_chart{out, title, y_label, width, height, bars = {{label, value}, ...}}
int bar_chart(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  const auto out = target(options);
  BarChart chart{.title = options.string("title", ""), .y_label = options.string("y_label", "")};
  read_size(options, chart.width, chart.height);
  int position = 0;
  for (const Config& one : options.list("bars")) {
    Options reader(text(call.name(), ": bar ", ++position), one);
    chart.bars.push_back({reader.string("label"), reader.number_in("value", 0, std::numeric_limits<double>::max())});
    reader.finish();
  }
  options.finish();
  write_bars(out, chart);
  return 0;
}

/// iap.report.heat_maps{out, title, x_label, y_label, value_label, x_range, y_range, value_range, panels_a_row, width,
/// height, panels = {{title, rows = {{...}, ...}}, ...}}: rows from the lowest y
int heat_maps(Call& call) {
  const Config config = call.config(1, "options");
  Options options(call.name(), config);
  const auto out = target(options);
  HeatMaps maps{.title = options.string("title", ""),
                .x_label = options.string("x_label", ""),
                .y_label = options.string("y_label", ""),
                .value_label = options.string("value_label", "")};
  read_size(options, maps.width, maps.height);
  for (auto [key, range] : {std::pair{"x_range", &maps.x}, {"y_range", &maps.y}, {"value_range", &maps.value}}) {
    const auto ends = numbers_of(options, key);
    if (ends.size() != 2 || !(ends[0] < ends[1])) options.fail(text("option '", key, "' must be {lowest, highest}"));
    *range = {ends[0], ends[1]};
  }
  maps.panels_a_row = static_cast<int>(options.integer_in("panels_a_row", 1, 100, 100));
  int position = 0;
  for (const Config& one : options.list("panels")) {
    Options reader(text(call.name(), ": panel ", ++position), one);
    HeatMap panel{.title = reader.string("title", "")};
    for (const Config& row : reader.list("rows")) {
      if (!row.list() || row.list()->empty()) reader.fail("option 'rows' must be a list of lists of numbers");
      if (panel.rows > 0 && static_cast<int>(row.list()->size()) != panel.columns)
        reader.fail(text("row ", panel.rows + 1, " has ", row.list()->size(), " values, the first has ", panel.columns));
      panel.columns = static_cast<int>(row.list()->size());
      ++panel.rows;
      for (const Config& item : *row.list()) panel.values.push_back(item.number().value_or(std::nan("")));
    }
    reader.finish();
    maps.panels.push_back(std::move(panel));
  }
  options.finish();
  write_heat_maps(out, maps);
  return 0;
}

constexpr lua::Function functions[] = {
    {"line_chart", entry<line_chart>}, {"bar_chart", entry<bar_chart>}, {"heat_maps", entry<heat_maps>}};

}  // namespace

void open_figure_face(lua_State* state) {
  lua_getfield(state, -1, "report");
  for (const auto& function : functions) lua::add_function(state, "iap.report", ".", function);
  lua_pop(state, 1);
}

}  // namespace iap
