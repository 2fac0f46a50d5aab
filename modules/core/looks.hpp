// How often loops over what a file made large look whether the user wants them to end: Ctrl-C asks for that, and nothing else ends
// a forward of a policy.
#pragma once
#include <algorithm>
#include <cstddef>

namespace iap {

/// Multiply-adds, or what takes as long, between two calls of check_interrupt: some hundredths of a second.
inline constexpr std::size_t work_between_looks = std::size_t{1} << 26;

/// How many things that cost `work` each make up so much; at least 1.
constexpr std::size_t things_between_looks(std::size_t work) {
  return std::max<std::size_t>(1, work_between_looks / std::max<std::size_t>(1, work));
}

/// For loops whose bodies are too short to look each time.
class Looks {
 public:
  /// Whether it is time to look again, once so much more is done.
  bool due(std::size_t work) {
    done_ += work;
    if (done_ < work_between_looks) return false;
    done_ = 0;
    return true;
  }

 private:
  std::size_t done_ = 0;
};

}  // namespace iap
