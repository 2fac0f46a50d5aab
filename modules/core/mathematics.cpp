module;
#include <cmath>
#include <cstdint>
#include <initializer_list>
module iap.core;
#include "core/mathematics.hpp"

namespace iap {

extern "C++" std::uint32_t mathematics() {
  constexpr int arguments = 1 << 13;
  Writer results;
  for (int i = 0; i < arguments; ++i) {
    const double x = 0.00244140123 * i - 10;
    for (const double y : {std::exp(x), std::sin(x), std::cos(x)}) results.put(y);
  }
  return crc32(results.bytes());
}

}  // namespace iap
