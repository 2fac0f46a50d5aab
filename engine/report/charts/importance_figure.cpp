module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.env;
import iap.envs;
import iap.policy;
import iap.render;
import :axis;
import :figures;
import :histogram;
import :html;
import :importance;
import :viewer;
#include "canvas.hpp"

namespace iap {
namespace {

constexpr double left = 84, right = 22, histogram_top = 46, histogram_floor = 250, rows_top = 322;
constexpr double tile = 76, gap = 6, heading = 26, row_height = tile + heading + 14;
constexpr int columns = 12;
constexpr int width = static_cast<int>(left + columns * (tile + gap) - gap + right);

const Colour neutral{.72, .72, .72};

const Colour& colour_of(int range) { return range < 0 ? neutral : palette[static_cast<std::size_t>(range) % palette.size()]; }

void draw_histogram(Canvas& canvas, const ScoreHistogram& histogram) {
  const double end = width - right;
  const HistogramAxes axes = histogram_axes(histogram, 8);
  const auto y_at = [&](double count) { return histogram_floor - axes.counts.share(count) * (histogram_floor - histogram_top); };
  for (std::size_t i = 0; i < axes.counts.ticks.size(); ++i) {
    const double y = y_at(axes.counts.ticks[i]);
    canvas.line(left, y, end, y, .88);
    canvas.line(left - 4, y, left, y, .25);
    canvas.write(left - 8, y, axes.counts.labels[i], 1);
  }
  for (const HistogramPiece& piece : histogram_pieces(histogram, axes.scores, end - left)) {
    canvas.colour(colour_of(piece.colour));
    const double top = y_at(piece.bar.count);
    canvas.rectangle(left + piece.left, top, piece.right - piece.left, histogram_floor - top);
  }
  canvas.line(left, histogram_floor, end, histogram_floor, .25);
  for (std::size_t i = 0; i < axes.scores.ticks.size(); ++i) {
    const double x = left + axes.scores.share(axes.scores.ticks[i]) * (end - left);
    canvas.line(x, histogram_floor, x, histogram_floor + 5, .25);
    canvas.write(x, histogram_floor + 17, axes.scores.labels[i], .5);
  }
  canvas.colour({0, 0, 0});
  canvas.write((left + end) / 2, histogram_floor + 40, scores_label(histogram), .5);
  canvas.write_upwards(16, (histogram_top + histogram_floor) / 2, "patches (logarithmic)");
}

void draw_example(Canvas& canvas, const PatchExample& example, double x, double y, const Colour& colour) {
  const int side = example.image.shape().width;
  const auto bytes = example.image.bytes();
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, side, side);
  auto* pixels = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      const std::size_t at = 3 * (static_cast<std::size_t>(row) * side + column);
      reinterpret_cast<std::uint32_t*>(pixels + static_cast<std::ptrdiff_t>(row) * stride)[column] =
          std::uint32_t{bytes[at]} << 16 | std::uint32_t{bytes[at + 1]} << 8 | bytes[at + 2];
    }
  cairo_surface_mark_dirty(surface);
  cairo_t* cairo = canvas.get();
  cairo_save(cairo);
  cairo_translate(cairo, x, y);
  cairo_scale(cairo, tile / side, tile / side);
  cairo_set_source_surface(cairo, surface, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_paint(cairo);
  cairo_restore(cairo);
  cairo_surface_destroy(surface);
  // White around the colour keeps the frame visible on any background.
  for (const bool inner : {false, true}) {
    canvas.colour(inner ? colour : Colour{1, 1, 1});
    cairo_set_line_width(cairo, inner ? 2 : 4);
    cairo_rectangle(cairo, x + example.left * tile, y + example.top * tile, example.size * tile, example.size * tile);
    cairo_stroke(cairo);
  }
}

/// Of several blocks or heads, `importance` is about one.
std::string title_of(const Importance& importance, bool several) {
  const std::string chosen =
      several ? text("it chooses ", importance.chosen, " per frame") : text(importance.chosen, " per frame are chosen");
  return text("Scores ", several ? text("by ", importance.block, " ") : "", "of ", importance.patches, " patches of ",
              importance.patch, " x ", importance.patch, " pixels in ", importance.frames, " frames, ",
              figure(static_cast<double>(importance.scores)), " in all; ", importance.weighs_all ? "all of them count" : chosen);
}

std::string heading_of(const ScoreRange& range) {
  return text(range.label, ": ", figure(static_cast<double>(range.count)), range.count == 1 ? " patch" : " patches", ", scores ",
              figures_between(range.low, range.high));
}

/// "rank, trans, cross, look".
std::string attention_blocks() {
  std::string names;
  for (const auto& row : block_catalog())
    if (is_attention_block(row.name)) names += (names.empty() ? "" : ", ") + row.name;
  return names;
}

}  // namespace

ImportanceInfo write_importance(const std::filesystem::path& png, Policy& policy, const Config& env, int episodes,
                                std::uint64_t seed) {
  check_picture_name(png, "a figure of importance");
  const auto world = make_env(env);
  const Importance importance = sample_importance(policy, *world, episodes, seed);
  if (importance.ranges.empty())
    throw Error(text("importance: the policy scores no patches of its first image; blocks that do are ", attention_blocks()));
  const int height = static_cast<int>(rows_top + static_cast<double>(importance.ranges.size()) * row_height);
  Canvas canvas(width, height);
  canvas.colour({0, 0, 0});
  const std::string title = title_of(importance, shown_views(policy).size() > 1);
  constexpr double title_size = 17, room = width - left - right;
  canvas.write(left, histogram_top / 2, title, 0, title_size * std::min(1.0, room / canvas.width_of(title, title_size)));
  draw_histogram(canvas, importance.histogram);
  for (std::size_t i = 0; i < importance.ranges.size(); ++i) {
    const double top = rows_top + static_cast<double>(i) * row_height;
    canvas.colour(colour_of(static_cast<int>(i)));
    canvas.rectangle(left, top + 2, 14, 14);
    canvas.colour({0, 0, 0});
    canvas.write(left + 22, top + 9, heading_of(importance.ranges[i]), 0);
    const auto& examples = importance.ranges[i].examples;
    for (std::size_t k = 0; k < std::min<std::size_t>(examples.size(), columns); ++k)
      draw_example(canvas, examples[k], left + static_cast<double>(k) * (tile + gap), top + heading,
                   colour_of(static_cast<int>(i)));
  }
  write_png(png, canvas.image().view());
  return {importance.frames, importance.patches, importance.chosen, importance.mean_return};
}

}  // namespace iap
