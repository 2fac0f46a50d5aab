// The style sheet's classes for colours. Include what declares std::string first, and import iap.core.
#pragma once

namespace iap {

/// Of the `place`-th thing of a page: "c0" to "c7", and what shares its colour with one before differs by its dashes, "c0 d1".
inline std::string colour_class(int place) {
  constexpr int colours = 8, dashes = 2;
  const std::string colour = text("c", place % colours);
  return place < colours ? colour : text(colour, " d", 1 + (place / colours - 1) % dashes);
}

}  // namespace iap
