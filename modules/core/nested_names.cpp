module;
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.core;
#include "core/nested_names.hpp"

namespace iap {
namespace {

thread_local JudgedNames names = JudgedNames::files;
thread_local std::vector<std::string> places;

/// Whether `inner` is `outer` or stands inside.
bool is_inside(std::string_view inner, std::string_view outer) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '.');
}

}  // namespace

extern "C++" {

JudgedNames judged_names() noexcept { return names; }

bool is_set_place(std::string_view place) noexcept {
  return names != JudgedNames::none &&
         std::ranges::any_of(places, [place](const std::string& one) { return is_inside(place, one) || is_inside(one, place); });
}

NestedNamesJudged::NestedNamesJudged(JudgedNames judged) : NestedNamesJudged(judged, places) {}

NestedNamesJudged::NestedNamesJudged(JudgedNames judged, std::vector<std::string> set)
    : names_before_(std::exchange(names, judged)), places_before_(std::exchange(places, std::move(set))) {}

NestedNamesJudged::~NestedNamesJudged() {
  names = names_before_;
  places = std::move(places_before_);
}
}

}  // namespace iap
