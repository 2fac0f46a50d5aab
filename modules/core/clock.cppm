module;
#include <chrono>
/// Time that only goes forward, whatever happens to the machine's date.
export module iap.core:clock;

export namespace iap {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace iap
