module;
#include <cmath>
module iap.policy;
import iap.core;

namespace iap {

void Moment::merge(const Moment& other) {
  if (other.count == 0) return;
  const double all = count + other.count, difference = other.mean - mean;
  mean += difference * (other.count / all);
  squares += other.squares + difference * difference * (count * other.count / all);
  count = all;
}

}  // namespace iap
