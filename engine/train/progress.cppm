module;
#include <cstdint>
#include <memory>
#include <string>
/// What a run tells the person who watches it, on stderr.
module iap.train:progress;
import :types;

namespace iap {

class Progress {
 public:
  virtual ~Progress() = default;
  /// The run is at `iteration` of `iterations`, and about to work.
  virtual void start(std::uint32_t iteration, int iterations) = 0;
  virtual void update(const IterationReport& report, double best_eval) = 0;
  /// Nothing more is updated.
  virtual void end() = 0;
  /// One line that stays.
  virtual void note(const std::string& line) = 0;
  /// The same for what nobody should miss: printed where progress is quiet, too.
  virtual void warn(const std::string& line) { note(line); }
};

/// Four significant digits, without an exponent for everyday sizes.
std::string short_number(double value);

/// One updating line on a terminal, plain lines in a pipe, nothing if `quiet`.
std::unique_ptr<Progress> make_progress(bool quiet);

}  // namespace iap
