#pragma once
#include <set>
#include <string_view>

namespace iap::lua {

/// Whether names in Lua have this letter.
bool is_word(char c);
/// The words of `source`, those of its comments too, which they view. @throws Interrupted.
std::set<std::string_view> words_of(std::string_view source);

}  // namespace iap::lua
