// The style sheet's classes for colours. Include what declares std::string first, and import iap.core.
#pragma once

namespace iap {

inline constexpr int colours = 8, dashes = 5;
/// How many things of a page look each in its own way.
inline constexpr int looks = colours * (1 + dashes);

/// Of the `place`-th thing of a page: "c0" to "c7", and what shares its colour with one before differs by its dashes, "c0 d1".
inline std::string colour_class(int place) {
  const std::string colour = text("c", place % colours);
  const int dash = place / colours % (1 + dashes);
  return dash == 0 ? colour : text(colour, " d", dash);
}

}  // namespace iap
