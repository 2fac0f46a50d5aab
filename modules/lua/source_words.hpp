#pragma once
#include <set>
#include <string_view>

namespace iap::lua {

/// Whether names in Lua have this letter.
bool is_word(char c);
/// The words of `source`, those of its comments too, which they view. @throws Interrupted.
std::set<std::string_view> words_of(std::string_view source);
/// Whether `source` calls something by the name `function`, or hands it on, of whatever table. @throws Interrupted.
bool uses(std::string_view source, std::string_view function);

}  // namespace iap::lua
