// The picture that all charts are drawn on. Include <cairo.h> and the standard headers first, then import iap.core.
#pragma once

namespace iap {

using Colour = std::array<double, 3>;
// Okabe and Ito's palette, which colour-blind readers can tell apart.
inline constexpr std::array<Colour, 6> palette{
    {{0, .447, .698}, {.835, .369, 0}, {0, .620, .451}, {.8, .475, .655}, {.902, .624, 0}, {.337, .706, .914}}};

/// The colour of a heat map for `share` in [0, 1].
Colour heat_map_colour(double share);

class Canvas {
 public:
  Canvas(int width, int height);
  cairo_t* get();
  /// Pixels.
  int width() const;
  int height() const;

  void colour(const Colour& rgb);
  /// `align` 0 puts the text's left end at x, 0.5 its middle, 1 its right end; y is the middle of its height. Line feeds and tabs
  /// are written as spaces.
  void write(double x, double y, const std::string& words, double align, double size = 14);
  /// Words that run upwards; `align` 0 puts their beginning at y, 0.5 their middle, 1 their end; x is the middle of their height.
  void write_upwards(double x, double y, const std::string& words, double align = .5);
  /// The room that `write` takes from the left end to the right one.
  double width_of(const std::string& words, double size = 14);
  /// `words`, or as much of their beginning and their end as fits into `width`, and an ellipsis between: names of files and
  /// settings often begin alike.
  std::string shortened(const std::string& words, double width, double size = 14);
  /// Words in lines that are no wider than `width`; of more than `most` lines, the last one that is kept ends in an ellipsis.
  std::vector<std::string> wrapped(const std::string& words, double width, double size, std::size_t most = 1000);
  /// The colours of a heat map, lowest to the left; of one that is higher than wide, lowest below.
  void colour_bar(double x, double y, double width, double height);
  void rectangle(double x, double y, double width, double height);
  /// One pixel wide.
  void line(double x0, double y0, double x1, double y1, double grey);

  Image image();

 private:
  /// `words`, or as much of their beginning as fits into `width`, and an ellipsis.
  std::string beginning_of(const std::string& words, double width, double size);

  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> cairo_;
};

}  // namespace iap
