#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lua/lua.hpp"
import iap.core;
import iap.legged;

namespace iap {

/// Option `key`, a list of `count` finite numbers. @throws Error naming it.
std::vector<double> read_numbers(Options& options, std::string_view key, std::size_t count,
                                 std::optional<std::vector<double>> fallback = {});
/// As three numbers; zeros if missing and not `required`.
legged::Vector3 read_vector(Options& options, std::string_view key, bool required = false);
/// One number for each leg, or one for all of them.
legged::PerLeg<double> read_per_leg(Options& options, std::string_view key, const legged::PerLeg<double>& fallback);
/// Four times true or false.
legged::PerLeg<bool> booleans(const Config::List& items, std::string_view what);

/// An argument that is a finite number.
double finite_at(const lua::Call& call, int argument, const char* what);
/// An argument of three finite numbers.
legged::Vector3 vector_at(const lua::Call& call, int argument, const char* what);

Config to_list(std::span<const double> values);

}  // namespace iap
