module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>
module iap.report;
import iap.core;
import :axis;
import :histogram;
import :html;

namespace iap {

HistogramAxes histogram_axes(const ScoreHistogram& histogram, int score_ticks) {
  double most = 1;
  for (const auto& bar : histogram.bars) most = std::max(most, bar.count);
  HistogramAxes axes{.counts = logarithmic_axis({1, most})};
  axes.counts.range.low = 0.5;
  for (std::size_t i = 0; i < axes.counts.ticks.size(); ++i) axes.counts.labels[i] = figure(axes.counts.ticks[i]);
  const Range range{histogram.bars.front().low, histogram.bars.back().high};
  if (histogram.linear > 0) {
    axes.scores = signed_axis(range, histogram.linear, score_ticks);
  } else if (histogram.logarithmic) {
    const Axis around = logarithmic_axis(range);
    // More decades than there is room for have a tick at every so many of them.
    const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(std::log10(range.high / range.low) / score_ticks)));
    axes.scores.logarithmic = true;
    for (std::size_t i = 0; i < around.ticks.size(); i += every) {
      if (around.ticks[i] < range.low * (1 - 1e-9) || around.ticks[i] > range.high * (1 + 1e-9)) continue;
      axes.scores.ticks.push_back(around.ticks[i]);
      axes.scores.labels.push_back(around.labels[i]);
    }
  } else {
    axes.scores.ticks = ticks(range, score_ticks);
    axes.scores.labels = tick_labels(axes.scores.ticks);
  }
  axes.scores.range = range;
  return axes;
}

std::string scores_label(const ScoreHistogram& histogram) {
  if (histogram.linear > 0) {
    const auto exponent = static_cast<int>(std::lround(std::log10(histogram.linear)));
    const std::string end = exponent < -4 || exponent > 6 ? power_label(exponent) : tick_label(histogram.linear);
    return text("score of a patch (logarithmic; linear from -", end, " to ", end, ")");
  }
  return histogram.logarithmic ? "score of a patch (logarithmic)" : "score of a patch";
}

std::vector<HistogramPiece> histogram_pieces(const ScoreHistogram& histogram, const Axis& scores, double width) {
  constexpr double least_width = 3;
  std::vector<HistogramPiece> pieces;
  for (const auto& bar : histogram.bars) {
    if (bar.count <= 0) continue;
    const double left = scores.share(bar.low) * width, right = scores.share(bar.high) * width;
    pieces.push_back({left, std::max(right - 1, left + 0.5), bar});
  }
  for (const auto& slice : histogram.slices)
    for (const auto& bar : histogram.bars) {
      // Bars hold their lower edge, and the last one the end of the axis, too.
      const bool is_last = &bar == &histogram.bars.back();
      if (bar.count <= 0 || slice.high < bar.low || (slice.low >= bar.high && !is_last)) continue;
      const double begin = scores.share(bar.low) * width, end = scores.share(bar.high) * width - 1;
      double left = scores.share(slice.low) * width, right = scores.share(slice.high) * width;
      if (right - left < least_width) {
        left = std::clamp((left + right - least_width) / 2, begin, std::max(begin, end - least_width));
        right = left + least_width;
      }
      left = std::max(begin, left);
      right = std::min(end, right);
      if (right - left >= 1) pieces.push_back({left, right, bar, slice.colour});
    }
  return pieces;
}

}  // namespace iap
