#pragma once
#include <span>
#include <string>
#include <string_view>

namespace iap::lua {

/// Which of `names` was probably meant where `given` was written, or "". Names that stand beside each other on purpose, of which
/// one may well be there without the other ("gain1" and "gain2", "hip_l" and "hip_r", "min_speed" and "max_speed"), are no slips of
/// each other, nor are long texts. @throws Interrupted.
std::string likely_meant(std::string_view given, std::span<const std::string> names);

}  // namespace iap::lua
