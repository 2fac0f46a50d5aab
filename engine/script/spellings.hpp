// Include <filesystem>, <string>, <string_view> and <vector> first.
#pragma once

/// What values of options say, however they are spelled, and which of them a folder's name tells.
namespace iap {

/// Whether 1 and 1.0 say the same, as to an option that takes fractions, or not, as to a script.
enum class WholeNumbers : bool { same_as_fractions, apart };

/// What `values`, as --set takes them, are read as: a JSON list, in which 0.10 and 0.1 are the same.
std::string meaning_of(const std::vector<std::string>& values, WholeNumbers numbers);

/// What the values in a folder's name are read as, in the same form, where it is `begin` and then each of `labels` with a value as
/// `append_plain` writes it; "" for another name.
std::string meaning_in_name(std::string_view name, std::string_view begin, const std::vector<std::string>& labels,
                            WholeNumbers numbers);

/// Whether no other value has the same `append_plain`, but for other spellings: of values of one plain name it is the word or the
/// number, or else the list of numbers.
bool has_plain_name(const std::string& value);

/// The names in `folder`, in alphabetical order; none where they cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace iap
