#pragma once
#include <set>
#include <string>
#include <string_view>

namespace iap::lua {

/// Whether names in Lua have this letter.
bool is_word(char c);
/// The words of `source`, those of its comments too, which they view. @throws Interrupted.
std::set<std::string_view> words_of(std::string_view source);
/// What stands in quotes in `source`, as it is written there, which the texts view. @throws Interrupted.
std::set<std::string_view> texts_of(std::string_view source);
/// `source` with blanks in the place of comments and of what stands in quotes, unless that is a single word: what is left is done,
/// not told. @throws Interrupted.
std::string code_of(std::string_view source);
/// Whether `code`, as `code_of` gives it, calls something by the name `function`, or hands it on, of whatever table.
/// @throws Interrupted.
bool uses(std::string_view code, std::string_view function);
/// Whether `code`, as `code_of` gives it, has an entry `name` of whatever table. @throws Interrupted.
bool has_entry(std::string_view code, std::string_view name);

}  // namespace iap::lua
