module;
#include <filesystem>
#include <string>
#include <vector>
export module iap.report:figures;
import iap.core;

export namespace iap {

struct Bar {
  std::string label;
  double value = 0;  ///< not negative
};

/// Bars from zero, each with its value above it.
struct BarChart {
  std::string title, y_label;
  std::vector<Bar> bars;
  int width = 900, height = 540;  ///< pixels
};

/// Draws `chart` as a PNG, atomically. @throws Error naming the path, or when there is no bar or a value is not finite.
void write_bars(const std::filesystem::path& path, const BarChart& chart);

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
