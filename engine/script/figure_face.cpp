#include <algorithm>
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

Config read_table(const Call& call) {
  if (call.absent(1)) call.refuse(1, "options", "a table");
  Config config = call.config(1, "options");
  if (!config.map()) call.refuse(1, "options", "a table with named entries");
  return config;
}

/// A list of numbers; NaN marks what is missing.
std::vector<double> numbers_of(Options& options, std::string_view key) {
  std::vector<double> values;
  for (const Config& item : options.list(key)) {
    if (!item.number()) options.fail(text("option '", key, "' must be a list of numbers, got ", item.describe(), " in it"));
    values.push_back(*item.number());
  }
  return values;
}

std::filesystem::path target(Options& options) {
  const std::filesystem::path out = options.string("out");
  check_picture_name(out, "a chart");
  if (out.has_parent_path()) make_folder(out.parent_path());
  return out;
}

void read_size(Options& options, int& width, int& height) {
  constexpr int least = 200, most = 4000;
  width = static_cast<int>(options.integer_in("width", least, most, width));
  height = static_cast<int>(options.integer_in("height", least, most, height));
}

/// @lua options report.series
/// A line of iap.report.line_chart.
/// @option label string = "" - in the legend
/// @option x number[] - where
/// @option y number[] - what; a point whose x or y is not finite leaves a gap, and one between gaps is marked
/// @option low number[] ? - lower end of a band, or of whiskers where `line` is false, as long as x; `caption` is to
/// say what they are
/// @option high number[] ? - upper end
/// @option dots boolean = false - a dot at each point
/// @option line boolean = true - from point to point
/// @option colour integer 1..6 = (the next one) - number of a colour
Series read_series(Options& options) {
  Series series{.label = options.string("label", ""),
                .x = numbers_of(options, "x"),
                .y = numbers_of(options, "y"),
                .low = numbers_of(options, "low"),
                .high = numbers_of(options, "high"),
                .dots = options.boolean("dots", false),
                .line = options.boolean("line", true),
                .colour = static_cast<int>(options.integer_in("colour", 1, 6, 0)) - 1};
  options.finish();
  const auto size = series.x.size();
  if (series.y.size() != size || series.low.size() != series.high.size() || (!series.low.empty() && series.low.size() != size))
    options.fail(text("x, y and, where there is a band, low and high must be equally long, got ", size, ", ", series.y.size(), ", ",
                      series.low.size(), " and ", series.high.size(), " numbers"));
  return series;
}

/// @lua function iap.report.line_chart
/// Draws lines as a .png. A long title is broken into two lines, what else has no room is shortened.
/// @option out string - the .png to write; its folder is made
/// @option title string = "" - above
/// @option x_label string = "" - of the axis
/// @option y_label string = "" - of the axis
/// @option caption string = "" - below
/// @option width integer 200..4000 = 900 - pixels
/// @option height integer 200..4000 = 540 - pixels
/// @option from_zero boolean = false - the x axis begins at 0
/// @option log_x boolean = false - a logarithmic x axis
/// @option y_from_zero boolean = true - the y axis begins at 0
/// @option series {report.series}[] - the lines; 36 of them look each in its own way, by six colours and as many kinds of dashes
/// and points
/// @example iap.report.line_chart {
///   out = "chart.png", series = { { label = "a", x = { 1, 2, 3 }, y = { 1, 4, 9 } } },
/// }
int line_chart(Call& call) {
  const Config config = read_table(call);
  Options options(call.name(), config);
  const auto out = target(options);
  Chart chart{.title = options.string("title", ""),
              .x_label = options.string("x_label", ""),
              .y_label = options.string("y_label", ""),
              .caption = options.string("caption", "")};
  read_size(options, chart.width, chart.height);
  chart.from_zero = options.boolean("from_zero", false);
  chart.log_x = options.boolean("log_x", false);
  chart.y_from_zero = options.boolean("y_from_zero", true);
  for (const Config& one : options.list("series")) {
    Options reader(text(call.name(), ": series ", chart.series.size() + 1), one);
    chart.series.push_back(read_series(reader));
  }
  options.finish();
  write_chart(out, chart);
  return 0;
}

/// @lua function iap.report.bar_chart
/// Draws bars from zero as a .png, with their values where those have room. Labels wider than bars are broken into lines or written
/// upwards.
/// @option out string - the .png to write; its folder is made
/// @option title string = "" - above
/// @option y_label string = "" - of the axis
/// @option width integer 200..4000 = 900 - pixels
/// @option height integer 200..4000 = 540 - pixels
/// @option bars {report.bar}[] - from left to right
/// @example iap.report.bar_chart {
///   out = "bars.png", bars = { { label = "one", value = 1 }, { label = "two", value = 2 } },
/// }

/// @lua options report.bar
/// A bar of iap.report.bar_chart.
/// @option label string - below it
/// @option value number 0.. - not negative
int bar_chart(Call& call) {
  const Config config = read_table(call);
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

/// @lua function iap.report.heat_maps
/// Draws functions of two variables in colours as a .png.
/// @option out string - the .png to write; its folder is made
/// @option title string = "" - above
/// @option x_label string = "" - of the axis
/// @option y_label string = "" - of the axis
/// @option value_label string = "" - of the colours
/// @option x_range number[] - {lowest, highest}
/// @option y_range number[] - {lowest, highest}
/// @option value_range number[] - {lowest, highest}; what is outside has the colour of the nearer end
/// @option panels_per_row integer 1..100 = 100 - before the next row begins
/// @option width integer 200..4000 = 1100 - pixels
/// @option height integer 200..4000 = 400 - pixels
/// @option panels {report.panel}[] - the maps, from left to right
/// @example iap.report.heat_maps {
///   out = "map.png", x_range = { 0, 1 }, y_range = { 0, 1 }, value_range = { 0, 4 },
///   panels = { { rows = { { 1, 2 }, { 3, 4 } } } },
/// }

/// @lua options report.panel
/// A map of iap.report.heat_maps.
/// @option title string = "" - above it
/// @option rows number[][] - rows of equal length, that of the lowest y first; anything but a number is left white
int heat_maps(Call& call) {
  const Config config = read_table(call);
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
  maps.panels_per_row = static_cast<int>(options.integer_in("panels_per_row", 1, 100, 100));
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

/// @lua options report.group
/// A line of iap.report.compare.
/// @option label string - in the legend
/// @option runs string[] - folders of runs of one environment, each named once, of which no two have the same settings and the same
/// seed; where they differ in other settings, too, the picture says in which
CurveGroup read_group(Options& options) {
  CurveGroup group{.label = options.string("label"), .runs = {}};
  for (const auto& run : options.list("runs")) {
    if (!run.string()) options.fail(text("option 'runs' must be a list of folders, got ", run.describe(), " in it"));
    group.runs.emplace_back(*run.string());
  }
  options.finish();
  return group;
}

/// @lua function iap.report.compare
/// Draws the mean learning curves of groups of runs as a .png, with bands.
/// @option out string - the .png to write; its folder is made
/// @option title string = "Learning curves" - above
/// @option column string = "eval_mean" - of metrics.csv
/// @option band "range"|"error"|"deviation" = "range" - from the lowest to the highest run, or one standard error or deviation to
/// either side
/// @option groups {report.group}[] - what is compared
/// @return table[] ends - {label, iteration, mean, deviation} of each curve; a single run has no deviation
int compare(Call& call) {
  const Config config = read_table(call);
  Options options(call.name(), config);
  const auto title = options.string("title", "Learning curves"), column = options.string("column", "eval_mean");
  const auto band =
      static_cast<Band>(std::ranges::find(band_names(), options.choice("band", band_names(), "range")) - band_names().begin());
  std::vector<CurveGroup> groups;
  for (const auto& item : options.list("groups")) {
    Options entry_options(text(call.name(), ": group ", groups.size() + 1), item);
    groups.push_back(read_group(entry_options));
  }
  if (groups.empty()) options.fail("option 'groups' must name at least one group of runs");
  const auto out = target(options);
  options.finish();
  write_comparison(out, groups, column, title, band);
  Config::List ends;
  for (const auto& group : groups) {
    const Series curve = mean_curve(group, column, Band::deviation);
    Config::Map end{{"label", curve.label}, {"iteration", curve.x.back()}, {"mean", curve.y.back()}};
    if (!curve.high.empty()) end.emplace("deviation", curve.high.back() - curve.y.back());
    ends.push_back(std::move(end));
  }
  return call.give(Config(std::move(ends)));
}

constexpr lua::Function functions[] = {{"line_chart", entry<line_chart>},
                                       {"bar_chart", entry<bar_chart>},
                                       {"heat_maps", entry<heat_maps>},
                                       {"compare", entry<compare>}};

}  // namespace

void open_figure_face(lua_State* state) {
  lua_getfield(state, -1, "report");
  for (const auto& function : functions) lua::add_function(state, "iap.report", ".", function);
  lua_pop(state, 1);
}

}  // namespace iap
