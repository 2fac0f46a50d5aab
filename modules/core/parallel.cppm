module;
#include <cstddef>
#include <functional>
export module iap.core:parallel;

export namespace iap {

/// The number of hardware threads this process may use.
int hardware_threads();

/// Calls `body(index, worker)` once for every index in [0, count), on at most `threads` threads (0: all hardware threads).
/// `worker` is in [0, threads) and no two calls with the same worker overlap, so it can name per-thread state. Calls start in
/// unspecified order: write results by index. If calls throw, the exception of the lowest index that threw is rethrown once all
/// running calls have ended; indices not yet started are skipped.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t index, int worker)>& body);

}  // namespace iap
