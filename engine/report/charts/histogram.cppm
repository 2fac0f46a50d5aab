module;
#include <string>
#include <vector>
/// Histograms of patches' scores, whatever draws them.
module iap.report:histogram;
import :axis;

namespace iap {

struct ScoreHistogram {
  struct Bar {
    double low = 0, high = 0;  ///< the scores that it counts
    double count = 0;
  };
  struct Slice {
    double low = 0, high = 0;  ///< the scores that have a colour of their own
    int colour = 0;            ///< from 0
  };
  bool logarithmic = false;  ///< the axis of scores; that of counts always is
  double linear = 0;         ///< positive: that of scores is as in `signed_decades`
  std::vector<Bar> bars;     ///< side by side
  std::vector<Slice> slices;
};

/// The axis of scores ends where the bars do, that of counts begins at a half, so that a single patch is seen.
struct HistogramAxes {
  Axis scores, counts;
};
HistogramAxes histogram_axes(const ScoreHistogram& histogram, int score_ticks);
/// What is written at the axis of scores.
std::string scores_label(const ScoreHistogram& histogram);

/// A rectangle from the axis to its bar's count.
struct HistogramPiece {
  double left = 0, right = 0;  ///< from the plot's left end, in the unit of its width
  ScoreHistogram::Bar bar;
  int colour = -1;  ///< -1: neutral
};
/// The bars, and over them their parts in the slices, at least 3 wide, of a plot of this width; bars that count nothing have none.
std::vector<HistogramPiece> histogram_pieces(const ScoreHistogram& histogram, const Axis& scores, double width);

}  // namespace iap
