#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

import iap.core;

/// The values of command line options. What cannot be read is refused with the option's name, the value and what is allowed.
namespace iap::cli {

/// All of `value` as a decimal integer in [low, high]. @throws Error.
std::int64_t read_integer(const std::string& option, const std::string& value, std::int64_t low, std::int64_t high);
/// All of `value` as the seed of an episode: a decimal integer below 2^64, as they are printed. @throws Error.
std::uint64_t read_seed(const std::string& option, const std::string& value);
/// All of `value` as a decimal number in [low, high]. @throws Error.
double read_number(const std::string& option, const std::string& value, double low, double high);
/// `value` if it is one of `names`; an empty `option` is left out of the message. @throws Error with the nearest of them.
std::string read_choice(const std::string& option, const std::string& value, const std::vector<std::string>& names);

/// A file that a command is going to write, and the option that asked for it.
struct Output {
  std::string option;
  std::optional<std::filesystem::path> file;
};

/// Checks before long work that files can be written in their places, and that none of them takes the place of another one, of
/// `read`, which the command reads, or of what a run keeps in its folder. @throws Error naming path and reason.
void check_outputs(const std::vector<Output>& outputs, const std::vector<std::filesystem::path>& read = {});

/// A return for people: two digits behind the point, and three significant ones where those would all be zeros or the others too
/// many.
std::string return_text(double value);

}  // namespace iap::cli
