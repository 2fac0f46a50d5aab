#pragma once
#include <cstdint>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// What the C library's functions come to, as a number. Where the processor can fuse multiplications with additions, and
/// GLIBC_TUNABLES does not keep it from that, they do, and round one result in a thousand otherwise.
std::uint32_t mathematics();
}
}  // namespace iap
