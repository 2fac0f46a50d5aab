module;
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
export module iap.report:figures;
import iap.core;

export namespace iap {

/// Of the library behind the charts' door.
LibraryVersions report_versions();

/// Charts and strips are PNGs. @throws Error naming `path` and `thing` ("a chart") where its name has another ending than .png.
void check_picture_name(const std::filesystem::path& path, std::string_view thing);

struct Bar {
  std::string label;
  double value = 0;  ///< not negative
};

/// Bars from zero, each with its value above it where values have room. Labels that are wider than bars are broken into lines,
/// stand upright, are shortened, or stand below every nth bar alone.
struct BarChart {
  std::string title, y_label;
  std::vector<Bar> bars;
  int width = 900, height = 540;  ///< pixels
};

/// Draws `chart` as a PNG, atomically. @throws Error naming the path, or when there is no bar or a value is not finite.
void write_bars(const std::filesystem::path& path, const BarChart& chart);

/// Bars that lie in groups, a bar of each series in every group; the groups from top to bottom. Series that share one of the six
/// colours differ by their hatching.
struct BarGroups {
  struct Group {
    std::string label;
    std::vector<double> values;  ///< one for each series, not negative; NaN: no bar, a dash in its place
  };
  std::string title, x_label;
  std::string caption = {};  ///< under the chart, in lines as they fit
  std::vector<std::string> series = {};
  std::vector<Group> groups = {};
  double most = 0;  ///< where the axis ends; 0: on a tick beyond the longest bar
  int width = 900;  ///< pixels; the height follows from the number of bars
};

/// Draws `chart` as a PNG, atomically. @throws Error naming the path, when there is no bar, and for a group that has another number
/// of values than there are series or a negative or infinite one.
void write_bar_groups(const std::filesystem::path& path, const BarGroups& chart);

struct Interval {
  double low = 0, high = 1;
};

/// A function of two variables on a regular grid, ends included: `values` row by row, the row of the lowest y first; NaN is left
/// white.
struct HeatMap {
  std::string title;
  int rows = 0, columns = 0;
  std::vector<double> values;
};

/// Heat maps that share their axes and colours, from left to right, then from top to bottom.
struct HeatMaps {
  std::string title, x_label, y_label, value_label;
  Interval x, y, value;  ///< values outside their interval have the colour of its nearer end
  std::vector<HeatMap> panels;
  int panels_per_row = 100;
  int width = 1100, height = 400;  ///< pixels
};

/// Draws `maps` as a PNG, atomically. @throws Error naming the path, or when there is no panel or one does not hold rows x columns
/// values.
void write_heat_maps(const std::filesystem::path& path, const HeatMaps& maps);

}  // namespace iap
