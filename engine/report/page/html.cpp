module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
module iap.report;
import iap.core;
import :axis;
import :html;

namespace iap {
namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

}  // namespace

std::string escaped(std::string_view words) {
  std::string safe;
  for (const char c : words) {
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

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string code;
  code.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) code += i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return code;
}

std::string data_address(std::string_view media_type, std::string_view bytes) {
  return text("data:", media_type, ";base64,", base64(bytes));
}

std::string figure(double value) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  const double size = std::abs(value);
  if (size > 0 && size < 1e-4) {
    const int exponent = static_cast<int>(std::floor(std::log10(size)));
    return text(printed("%.3g", value * std::pow(10.0, -exponent)), " × ", power_label(exponent));
  }
  if (size != std::floor(size) || size >= 1e15) return printed(size >= 100 ? "%.1f" : "%.3g", value);
  std::string digits = printed("%.0f", size);
  // A space that does not break, which is also narrow.
  for (int at = static_cast<int>(digits.size()) - 3; at > 0 && size >= 10000; at -= 3)
    digits.insert(static_cast<std::size_t>(at), "\u202f");
  return (value < 0 ? "−" : "") + digits;
}

std::string figures_between(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high));
  const int exponent = size > 0 && std::isfinite(size) ? static_cast<int>(std::floor(std::log10(size))) : 0;
  const bool scaled = exponent < -3 || exponent > 5;
  const double scale = scaled ? std::pow(10.0, -exponent) : 1;
  const std::string format = text("%.", scaled ? 2 : std::max(0, 2 - exponent), "f");
  const std::string both = printed(format.c_str(), low * scale) + " to " + printed(format.c_str(), high * scale);
  return scaled ? text("(", both, ") × ", power_label(exponent)) : both;
}

std::string duration(double seconds) {
  if (std::isnan(seconds)) return "–";
  if (seconds < 120) return printed("%.0f s", seconds);
  if (seconds < 7200) return printed("%.0f min", seconds / 60);
  return printed("%.1f h", seconds / 3600);
}

std::string counted(double count, std::string_view noun) { return text(figure(count), " ", noun, count == 1 ? "" : "s"); }

}  // namespace iap
