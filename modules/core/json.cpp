module;
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
module iap.core;

namespace iap {
namespace {

// The library's trees stay empty: where memory runs out, a tree that unwinds asks for more and ends the process. Its parser's
// events and its text of single values serve without one.
using Json = nlohmann::json;

/// Deeper nesting is refused, because trees are walked recursively and a hostile file must not exhaust the stack.
constexpr std::size_t deepest = 200;

class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view source) : source_(source) {}
  Config take() { return std::move(root_); }

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (std::in_range<std::int64_t>(value)) return put(static_cast<std::int64_t>(value));
    return put(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Config::Map{}); }
  bool start_array(std::size_t) override { return open(Config::List{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    throw Error(text(source_, ": not valid JSON (", error.what(), ")"));
  }

 private:
  Config& place(Config value) {
    // Short texts are read to their end: they belong to what is still done after an interrupt.
    constexpr std::size_t many = std::size_t{1} << 16;
    if (++values_ % many == 0) check_interrupt();
    if (open_.empty()) return root_ = std::move(value);
    if (auto* items = open_.back()->list()) return items->emplace_back(std::move(value));
    return (*open_.back()->map())[key_] = std::move(value);
  }
  bool put(Config value) {
    place(std::move(value));
    return true;
  }
  bool open(Config value) {
    if (open_.size() >= deepest) throw Error(text(source_, ": JSON is nested more than ", deepest, " levels deep"));
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view source_;
  std::string key_;
  Config root_;
  std::size_t values_ = 0;
  std::vector<Config*> open_;  ///< from the root to the innermost; a list grows only while none of its items is open
};

std::string single(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string scalar(const Config& config) {
  if (const auto* flag = config.boolean()) return *flag ? "true" : "false";
  if (const auto* string = config.string()) return single(*string);
  if (config.is_null()) return "null";
  const double number = *config.number();
  if (std::isnan(number)) return "\"nan\"";
  if (std::isinf(number)) return number > 0 ? "\"inf\"" : "\"-inf\"";
  if (config.type_name() == "an integer") return single(*config.integer());
  return single(number);
}

/// On one line for a negative `indent`, else with so many spaces a level.
void write(std::string& to, const Config& config, int indent, int level) {
  const auto* items = config.list();
  const auto* entries = config.map();
  if (!items && !entries) {
    to += scalar(config);
    return;
  }
  const auto begin_line = [&](int depth) {
    if (indent < 0) return;
    to += '\n';
    to.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
  };
  bool empty = true;
  const auto begin_entry = [&] {
    if (!std::exchange(empty, false)) to += ',';
    begin_line(level + 1);
  };
  to += items ? '[' : '{';
  if (items)
    for (const auto& item : *items) {
      begin_entry();
      write(to, item, indent, level + 1);
    }
  else
    for (const auto& [key, value] : *entries) {
      begin_entry();
      to += single(key);
      to += indent < 0 ? ":" : ": ";
      write(to, value, indent, level + 1);
    }
  if (!empty) begin_line(level);
  to += items ? ']' : '}';
}

}  // namespace

std::string to_json(const Config& config, int indent) {
  std::string json;
  write(json, config, indent, 0);
  return json;
}

Config parse_json(std::string_view json, std::string_view source) {
  constexpr double bytes_an_entry = 192;
  const auto entries = std::ranges::count_if(json, [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; });
  check_memory(text(source, ": its table"), bytes_an_entry * static_cast<double>(entries));
  Builder builder(source);
  Json::sax_parse(json, &builder);
  return builder.take();
}

}  // namespace iap
