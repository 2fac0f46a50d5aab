module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
module iap.report;
import iap.core;
import :axis;
import :html;

namespace iap {
namespace {

/// Without the carriage returns that end lines on Windows.
std::string unix_lines(std::string_view words) {
  std::string lines;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (!words.substr(i).starts_with("\r\n")) lines += words[i];
  return lines;
}

/// value / 10^exponent, also where the reciprocal of that power is beyond all doubles.
double over_power(double value, int exponent) {
  const int first = std::min(-exponent, 300);
  return value * std::pow(10.0, first) * std::pow(10.0, -exponent - first);
}

}  // namespace

std::string escaped(std::string_view words) {
  std::string safe;
  for (const char c : printable(unix_lines(words))) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string data_address(std::string_view media_type, std::string_view bytes) {
  return text("data:", media_type, ";base64,", to_base64(bytes));
}

std::string figure(double value) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const double size = std::abs(value);
  if ((size > 0 && size < 1e-4) || size >= 1e15) {
    const int exponent = static_cast<int>(std::floor(std::log10(size)));
    return text(general_text(over_power(value, exponent), 3), " × ", power_label(exponent));
  }
  constexpr double large = 10000;  // from here on, thousands stand apart, and tenths say nothing
  const bool is_large = std::round(10 * size) >= 10 * large;
  if (size != std::floor(size) && !is_large) return size >= 100 ? fixed_text(value, 1) : general_text(value, 3);
  std::string digits = fixed_text(std::round(size), 0);
  // A space that does not break, which is also narrow.
  for (int at = static_cast<int>(digits.size()) - 3; at > 0 && is_large; at -= 3)
    digits.insert(static_cast<std::size_t>(at), "\u202f");
  return (value < 0 ? "-" : "") + digits;
}

namespace {

/// In three digits, "0.0115" or "3.14 × 10⁻⁹".
std::string three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return figure(value);
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (exponent < -3 || exponent > 5) return text(fixed_text(over_power(value, exponent), 2), " × ", power_label(exponent));
  return fixed_text(value, std::max(0, 2 - exponent));
}

}  // namespace

std::string figures_between(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high)), least = std::min(std::abs(low), std::abs(high));
  constexpr double far_apart = 100;
  if (least > 0 && size > far_apart * least) return three_digits(low) + " to " + three_digits(high);
  const int exponent = size > 0 && std::isfinite(size) ? static_cast<int>(std::floor(std::log10(size))) : 0;
  const bool scaled = exponent < -3 || exponent > 5;
  const int power = scaled ? exponent : 0, digits = scaled ? 2 : std::max(0, 2 - exponent);
  const std::string both = fixed_text(over_power(low, power), digits) + " to " + fixed_text(over_power(high, power), digits);
  return scaled ? text("(", both, ") × ", power_label(exponent)) : both;
}

std::string duration(double seconds) {
  if (std::isnan(seconds)) return "–";
  if (seconds < 120) return fixed_text(seconds, 0) + " s";
  if (seconds < 7200) return fixed_text(seconds / 60, 0) + " min";
  const double hours = seconds / 3600;
  return (hours < 1e4 ? fixed_text(hours, 1) : figure(std::round(hours))) + " h";
}

std::string counted(double count, std::string_view noun) { return text(figure(count), " ", noun, count == 1 ? "" : "s"); }

}  // namespace iap
