module;
#include <string>
#include <string_view>
#include <vector>
/// Pieces of HTML and SVG.
module iap.report:html;
import iap.core;
import :histogram;

namespace iap {

/// `words` with the characters that mean something in HTML made harmless, in text and in quoted attributes.
std::string escaped(std::string_view words);
/// A file as the address of itself.
std::string data_address(std::string_view media_type, std::string_view bytes);

/// A number as a reader wants it: four digits or so, thousands apart ("12 800", "60.4", "0.00312"); a dash for NaN.
std::string figure(double value);
/// "0.0115 to 0.0300", "(0.70 to 3.14) × 10⁻⁴": two numbers with the same digits behind the point; each with its own where that
/// would leave one hardly any, "-4.60 × 10¹⁶ to 12.3".
std::string figures_between(double low, double high);
/// "48 s", "12 min", "3.4 h".
std::string duration(double seconds);
/// "1 step", "2 steps".
std::string counted(double count, std::string_view noun);

/// A curve of a chart. Its colour is the style sheet's: class c0, c1, ...
struct Curve {
  std::string label;  ///< shown when pointed at
  int colour = 0;
  std::vector<double> x, y;       ///< points whose y is NaN are skipped
  std::vector<double> low, high;  ///< a band, or empty
  bool dots = false, thin = false;
};

struct Frame {
  int width = 900, height = 340;  ///< of the drawing, in units that are pixels when it is not scaled
  std::string x_label, y_label, description;
  std::vector<double> marks = {};  ///< of curves: places on the x axis at which something begins
};

/// An SVG element. @throws Error if no curve has a finite point.
std::string svg_curves(const std::vector<Curve>& curves, const Frame& frame);

/// An SVG element. @throws Error if there is no bar.
std::string svg_histogram(const ScoreHistogram& histogram, const Frame& frame);

}  // namespace iap
