#include "script/lua_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
import iap.core;
import iap.policy;

namespace iap {
namespace {

std::string write(const Config& config, const std::string& indent);

bool is_block_kind(std::string_view kind) {
  return std::ranges::any_of(block_catalog(), [kind](const auto& entry) { return entry.name == kind; });
}

constexpr std::array<std::string_view, 22> keywords{"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                                    "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                                    "repeat",   "return", "then", "true", "until",  "while"};

bool is_identifier(std::string_view key) {
  return !key.empty() && !std::isdigit(static_cast<unsigned char>(key[0])) && std::ranges::find(keywords, key) == keywords.end() &&
         std::ranges::all_of(key, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// `string` as Lua reads it; of one that would steer a terminal all bytes beyond ASCII are written as numbers.
std::string quote(std::string_view string) {
  const bool plain = printable(string) == string;
  std::string quoted = "\"";
  for (const char c : string) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (c == '\n')
      quoted += "\\n";
    else if (byte < ' ' || (byte >= 0x7F && !plain))
      quoted += "\\" + zero_padded(byte, 3);
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string write_number(const Config& config) {
  if (config.type_name() == "an integer") return text(*config.integer());
  const double number = *config.number();
  if (std::isnan(number)) return "0/0";
  if (std::isinf(number)) return number > 0 ? "math.huge" : "-math.huge";
  std::array<char, 32> digits{};
  const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  std::string shortest(digits.data(), end);
  return shortest.find_first_of(".en") == std::string::npos ? shortest + ".0" : shortest;
}

/// What stands between the braces; `skip` names entries that are written elsewhere.
std::string write_entries(const Config::Map& entries, std::string_view skip_a, std::string_view skip_b, const std::string& indent) {
  std::string joined;
  for (const auto& [key, value] : entries) {
    if (key == skip_a || key == skip_b || key == "source" || key == "required_modules" || key == "model_files") continue;
    joined += (joined.empty() ? "" : ", ") + (is_identifier(key) ? key : "[" + quote(key) + "]") + " = " + write(value, indent);
  }
  return joined;
}

std::string braces(const std::string& content) { return content.empty() ? "{}" : "{ " + content + " }"; }

std::string write_block(const std::string& kind, const Config::Map& entries, const std::string& indent) {
  const auto found = entries.find("blocks");
  const auto* blocks = found == entries.end() ? nullptr : found->second.list();
  std::string written = block_constructor(kind) + " ";
  if (!blocks) return written + braces(write_entries(entries, "kind", "", indent));
  const std::string inner = indent + "  ", options = write_entries(entries, "kind", "blocks", inner);
  written += "{\n";
  for (const auto& block : *blocks) written += inner + write(block, inner) + ",\n";
  if (!options.empty()) written += inner + options + ",\n";
  return written + indent + "}";
}

std::string write(const Config& config, const std::string& indent) {
  if (config.is_null()) return "nil";
  if (const auto* flag = config.boolean()) return *flag ? "true" : "false";
  if (const auto* string = config.string()) return quote(*string);
  if (const auto* items = config.list()) {
    std::string joined;
    for (const auto& item : *items) joined += (joined.empty() ? "" : ", ") + write(item, indent);
    return braces(joined);
  }
  if (const auto* entries = config.map()) {
    const auto* kind = config.find("kind");
    if (kind && kind->string() && is_block_kind(*kind->string())) return write_block(*kind->string(), *entries, indent);
    return braces(write_entries(*entries, "", "", indent));
  }
  return write_number(config);
}

}  // namespace

std::string block_constructor(std::string_view kind) {
  return text(is_attention_block(kind) ? "iap.attention." : "iap.policy.", kind);
}

std::string to_lua(const Config& config) { return write(config, ""); }

std::string optimizer_to_lua(const Config& config) {
  const auto* kind = config.find("kind");
  return "iap.optim." + (kind && kind->string() ? *kind->string() : "") + " " +
         braces(config.map() ? write_entries(*config.map(), "kind", "", "") : "");
}

}  // namespace iap
