#pragma once
#include <cstddef>
#include <string_view>

// Include it after `import iap.core`.
namespace iap {
extern "C++" {

/// Letters that come, go or change, and pairs of neighbours that change places, between two names. Takes time in proportion to both
/// lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);
}
}  // namespace iap
