module;
#include <algorithm>
module iap.bench;
import iap.core;
import iap.attention;
#include "attention_bound.hpp"

namespace iap {

double least_time(const KernelWork& work, const MachineRates& rates) {
  const double arithmetic = work.fma / rates.fma + work.exp / rates.exp + work.sine_cosine / rates.sine_cosine;
  return 1e3 * std::max(arithmetic, work.bytes / rates.bytes);
}

}  // namespace iap
