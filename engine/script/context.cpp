#include "script/context.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lua/source_words.hpp"
#include "script/training_override.hpp"
import iap.core;
import iap.script;
import iap.train;

namespace iap {
namespace {

/// Its address is the registry key of the context.
char context_key;

/// Numbers may replace numbers; everything else keeps its type. A default without a type (nil) cannot be in a table, and one that
/// is empty may be a list as well.
bool same_type(const Config& a, const Config& b) {
  if (a.number() && b.number()) return true;
  const auto is_empty = [](const Config& value) {
    return (value.map() && value.map()->empty()) || (value.list() && value.list()->empty());
  };
  if (is_empty(a) || is_empty(b)) return (a.list() || a.map()) && (b.list() || b.map());
  return a.type_name() == b.type_name();
}

bool is_integer(const Config& value) { return value.type_name() == "an integer"; }

/// Reads "inf" and "-inf", as numbers beyond all others are shown and kept, where the script's default has a number.
void read_infinities(const Config& original, Config& changed) {
  constexpr double beyond = std::numeric_limits<double>::infinity();
  if (const auto* written = changed.string(); written && original.number()) {
    if (*written == "inf" || *written == "-inf") changed = written->starts_with('-') ? -beyond : beyond;
  } else if (const auto* items = original.list(); items && !items->empty() && changed.list()) {
    for (std::size_t i = 0; i < changed.list()->size(); ++i)
      read_infinities((*items)[std::min(i, items->size() - 1)], (*changed.list())[i]);
  } else if (original.map() && changed.map()) {
    for (auto& [key, value] : *changed.map())
      if (const Config* own = original.find(key)) read_infinities(*own, value);
  }
}

/// Gives whole numbers the kind of those in the script's default, which Lua tells apart: integers wrap around where floats do not.
/// @throws Error for a whole number beyond the integers.
void follow_numbers(const Config& original, Config& changed, const Override& given) {
  if (const auto number = changed.number(); number && original.number()) {
    if (!is_integer(original)) changed = *number;
    if (!is_integer(original) || is_integer(changed) || std::trunc(*number) != *number) return;
    constexpr double beyond = 9223372036854775808.0;
    if (!(*number >= -beyond && *number < beyond))
      throw Error(text("--set ", given.path, "=", given.value, ": expected an integer like the default ", original.describe(),
                       ", from -2^63 to 2^63 - 1, got ", changed.describe()));
    changed = static_cast<std::int64_t>(*number);
  } else if (const auto* items = original.list(); items && !items->empty() && changed.list()) {
    for (std::size_t i = 0; i < changed.list()->size(); ++i)
      follow_numbers((*items)[std::min(i, items->size() - 1)], (*changed.list())[i], given);
  } else if (original.map() && changed.map()) {
    for (auto& [key, value] : *changed.map())
      if (const Config* own = original.find(key)) follow_numbers(*own, value, given);
  }
}

/// Whether a script with this `text`, or a module of its own, could look at its arguments.
bool may_read_arguments(std::string_view text) {
  const std::string code = lua::code_of(text);
  if (code.find("...") != std::string::npos) return true;
  for (std::string_view word : {"arg", "require", "dofile", "loadfile", "_G", "_ENV"})
    for (std::size_t at = code.find(word); at != code.npos; at = code.find(word, at + 1)) {
      const std::string_view rest = std::string_view(code).substr(at + word.size());
      if ((at > 0 && lua::is_word(code[at - 1])) || (!rest.empty() && lua::is_word(rest.front()))) continue;
      const std::string_view next = rest.substr(std::min(rest.find_first_not_of(" ("), rest.size()));
      const bool harmless = word == "arg" ? rest.starts_with("[0]") : next.starts_with("\"iap\"") || next.starts_with("'iap'");
      if (!harmless) return true;
    }
  return false;
}

/// @throws Error: the script's option `above`, a table with `entries`, has no `part`.
[[noreturn]] void refuse_name(const std::string& set, std::string_view above, std::string_view part, const Config::Map& entries) {
  std::vector<std::string> known;
  for (const auto& [key, value] : entries) known.push_back(key);
  throw Error(text("--set ", set, ": the script's option '", above, "' has no '", part, "'", did_you_mean(part, known)));
}

/// "a number like the default 5"
std::string kind_of(const Config& original) {
  const auto number = original.number();
  return text(number ? "a number" : original.type_name(), " like the default ",
              number && std::isinf(*number) ? text(*number) : original.describe());
}

/// What stands at `path` in a table or a list that is given for the script's own, where it declares any of `defaults`: all elements
/// of its list, or their entries of that name. A table that the script leaves empty takes any names. @throws Error for a name that
/// none of its tables has, and a value of another type than all of them.
void check_inside(const std::vector<const Config*>& defaults, const Config& value, const std::string& path,
                  const std::string& set) {
  if (defaults.empty()) return;
  if (std::ranges::none_of(defaults, [&](const Config* own) { return same_type(*own, value); }))
    throw Error(text("--set ", set, ": '", path, "' must be ", kind_of(*defaults.front()), ", got ", value.describe()));
  std::vector<const Config*> below;
  if (const auto* items = value.list()) {
    for (const Config* own : defaults)
      if (own->list())
        for (const Config& item : *own->list()) below.push_back(&item);
    for (std::size_t i = 0; i < items->size(); ++i) check_inside(below, (*items)[i], text(path, ".", i + 1), set);
  }
  if (!value.map()) return;
  Config::Map known;
  for (const Config* own : defaults) {
    if (own->map() && own->map()->empty()) return;
    if (own->map()) known.insert(own->map()->begin(), own->map()->end());
  }
  for (const auto& [key, inner] : *value.map()) {
    below.clear();
    for (const Config* own : defaults)
      if (const Config* entry = own->find(key)) below.push_back(entry);
    if (below.empty()) refuse_name(set, path, key, known);
    if (!inner.is_null()) check_inside(below, inner, path + "." + key, set);
  }
}

/// A table given for the one that the script declares: what it leaves out keeps its default.
void complete_table(const Config& original, Config& changed) {
  const auto* defaults = original.map();
  if (!defaults || defaults->empty()) return;
  if (changed.list()) changed = Config::Map{};
  if (!changed.map()) return;
  for (auto& [key, value] : *changed.map())
    if (const Config* own = original.find(key)) complete_table(*own, value);
  for (const auto& [key, value] : *defaults) changed.map()->try_emplace(key, value);
}

/// What stands at `path` of what a script declares: of lists, in any of their elements, as all may hold what one holds. Nothing
/// below a table or a list that it leaves empty. @throws Error naming the first part that its tables lack, or that lies below what
/// is no table.
std::vector<const Config*> declared_at(const Config& declared, const std::string& path) {
  std::vector<const Config*> found{&declared};
  for (const auto part : path_parts(path)) {
    const auto begin = static_cast<std::size_t>(part.data() - path.data());
    const std::string above = path.substr(0, begin ? begin - 1 : 0);
    std::vector<const Config*> next;
    Config::Map known;
    for (const Config* own : found) {
      const auto* entries = own->map();
      if (entries && entries->empty()) return {};
      if (entries) known.insert(entries->begin(), entries->end());
      if (const Config* entry = own->find(part)) next.push_back(entry);
      // Whoever sets it says what positions there are.
      if (own->list())
        for (const Config& item : *own->list()) next.push_back(&item);
    }
    if (next.empty() && !known.empty()) refuse_name(path, above, part, known);
    if (next.empty() && !found.front()->list())
      throw Error(text("--set ", path, ": the script's option '", above, "' is no table but ", found.front()->describe()));
    if (next.empty()) return {};
    found = std::move(next);
  }
  return found;
}

/// Hook: fails at every instruction, so that a script's pcall cannot swallow it.
void end_rehearsal(lua_State* state, lua_Debug*) { luaL_error(state, "%s", RunContext::of(state)->last_words()); }

}  // namespace

RunContext::RunContext(RunSettings settings) : settings_(std::move(settings)) {
  if (settings_.out && settings_.out->empty()) throw Error("--out: is empty; name the folder of the run");
  for (const auto& assignment : settings_.overrides) {
    overrides_.push_back({read_override(assignment, "env.action_repeat=2")});
    for (const auto& earlier : overrides_)
      if (earlier.path.starts_with(overrides_.back().path + "."))
        throw Error(
            text("--set ", assignment, " would undo --set ", earlier.path, "=", earlier.value, " before it; change their order"));
    // Whose they are, the script's or iap.train's, they are both; of the others it depends.
    for (const std::string_view name : {"seed", "out"})
      if (first_part(overrides_.back().path) == name) check_set_once(overrides_.back());
  }
}

void RunContext::check_set_once(const Override& entry) const {
  const std::string name = first_part(entry.path);
  const bool twice = (name == "seed" && settings_.seed) || (name == "out" && settings_.out) ||
                     (name == "threads" && settings_.threads) || (name == "resume" && settings_.resume);
  if (twice) throw Error(text("--", name, " and --set ", entry.path, " set the same option; leave one out"));
}

void RunContext::attach(lua_State* state) {
  state_ = state;
  lua::protect(state, 0, 0, [this](lua_State* inner) noexcept {
    lua_pushlightuserdata(inner, this);
    lua_rawsetp(inner, LUA_REGISTRYINDEX, &context_key);
  });
}

RunContext* RunContext::of(lua_State* state) {
  lua::reserve(state, 1);
  lua_rawgetp(state, LUA_REGISTRYINDEX, &context_key);
  auto* context = static_cast<RunContext*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return context;
}

void RunContext::begin_training() {
  if (rehearsal && rehearsal->trainings > 0) {
    rehearsal->trainings = 2;
    end_rehearsal(state_);
    throw Error(last_words());
  }
  if (settings_.single && trained_)
    throw Error("this is the script's second training; iap sweep needs a script that calls iap.train exactly once");
}

void RunContext::end_rehearsal(lua_State* state) const {
  for (lua_State* one : {state, state_}) lua_sethook(one, iap::end_rehearsal, LUA_MASKCOUNT, 1);
}

const char* RunContext::last_words() const {
  return rehearsal->trainings > 0 ? "the rehearsal ends here" : "the script ends itself (os.exit) before it trains";
}

void RunContext::begin_writing(lua_State* state) {
  const auto* context = of(state);
  if (!context || !context->rehearsal || context->rehearsal->trainings == 0) return;
  context->end_rehearsal(state);
  throw Error(context->last_words());
}

std::vector<std::string> RunContext::apply_to_training(Config& options) {
  trained_ = seed_used_ = out_used_ = true;
  check_arguments(true);
  const bool folder_named = settings_.out && !out_taken_by_script_ && !std::exchange(out_given_, true);
  std::vector<std::string> places;
  for (auto& entry : overrides_) {
    if (entry.taken_by_script) continue;
    check_set_once(entry);
    entry.used = true;
    override_training(options, entry.path, entry.value);
    if (auto place = place_of_override(options, entry.path); !place.empty()) places.push_back(std::move(place));
  }
  if (settings_.seed && !seed_taken_by_script_) options["seed"] = static_cast<std::int64_t>(*settings_.seed);
  if (settings_.threads) options["threads"] = *settings_.threads;
  if (folder_named) options["out"] = settings_.out->string();
  if (settings_.resume) options["resume"] = true;
  return places;
}

void RunContext::declare(Config& defaults, bool training) {
  const Config declared = defaults;
  for (const auto& [key, value] : *declared.map()) declared_.insert(key);
  for (auto& entry : overrides_) {
    const Config* original = declared.find(first_part(entry.path));
    if (!original) {
      if (!entry.taken_by_script) check_known(entry, training);
      continue;
    }
    entry.taken_by_script = entry.used = true;
    const bool within = entry.path.find('.') != std::string::npos;
    auto kinds = within ? declared_at(declared, entry.path) : std::vector{original};
    if (within) original = entry_at(declared, entry.path);
    if (!original && !kinds.empty()) original = kinds.front();
    if (original && kinds.empty()) kinds.push_back(original);
    // Where a text is wanted, digits are one.
    const bool is_text = original && original->string() && !entry.value.empty() && entry.value != "null" && entry.value[0] != '"';
    set_path(defaults, entry.path, is_text ? to_json(Config(entry.value)) : entry.value);
    if (!original || (within && entry.value == "null")) continue;
    Config* set = entry_at(defaults, entry.path);
    if (set) read_infinities(*original, *set);
    const Config changed = set ? *set : Config();
    // A list of integers that was written without its brackets; the reader knows what to write instead.
    if (original->list() && changed.string() && std::ranges::all_of(*original->list(), is_integer)) {
      const Config list = Config::Map{{entry.path, changed}};
      Options(text("--set ", entry.path, "=", entry.value), list).integers(entry.path);
    }
    if (std::ranges::none_of(kinds, [&](const Config* kind) { return same_type(*kind, changed); }))
      throw Error(text("--set ", entry.path, "=", entry.value, ": expected ", kind_of(*original), ", got ", changed.describe()));
    if (set) {
      check_inside(kinds, *set, entry.path, text(entry.path, "=", entry.value));
      if (same_type(*original, *set)) complete_table(*original, *set);
      follow_numbers(*original, *set, entry);
    }
  }
  if (settings_.seed && declared.find("seed")) {
    defaults["seed"] = static_cast<std::int64_t>(*settings_.seed);
    seed_used_ = seed_taken_by_script_ = true;
  }
  if (settings_.out && declared.find("out")) {
    defaults["out"] = settings_.out->string();
    out_used_ = out_taken_by_script_ = true;
  }
  for (const auto& [key, value] : *defaults.map())
    if (!shared_.contains(key)) own_options_[key] = value;
  if (!training) check_flags_used();
}

void RunContext::check_known(const GivenOverride& entry, bool training) const {
  const std::string name = first_part(entry.path);
  const std::vector<std::string> known(declared_.begin(), declared_.end());
  const auto refusal = training ? training_refusal(entry.path, entry.value) : std::nullopt;
  if (training && !refusal) return check_set_once(entry);
  if (!training || (refusal->unknown && !nearest_name(name, known).empty()))
    throw Error(text("--set ", entry.path, ": the script has no option '", name, "'",
                     known.empty() ? "; it has none" : did_you_mean(name, known)));
  std::string own;
  if (refusal->unknown && !refusal->guessed)
    for (const auto& option : known) own += (own.empty() ? "; the script's own: " : ", ") + option;
  throw Error(text("--set ", entry.path, "=", entry.value, ": ", refusal->message, own));
}

void RunContext::check_arguments(bool training) const {
  if (may_read_arguments(script)) return;
  for (const auto& argument : settings_.arguments) {
    const auto equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string path = argument.substr(0, equals), name = first_part(path);
    const auto is_of_training = [&] {
      const auto refusal = training_refusal(path, argument.substr(equals + 1));
      return !refusal || !refusal->unknown || refusal->guessed;
    };
    if (declared_.contains(name) || (training && is_of_training()))
      throw Error(text("argument '", argument, "': the script does not read its arguments; to set an option, write --set ",
                       shell_word(argument)));
  }
}

void RunContext::begin_input() {
  at_prompt_ = true;
  input_interrupted_ = false;
}

void RunContext::forgive_interrupt() {
  input_interrupted_ = true;
  clear_interrupt();
  lua_sethook(state_, nullptr, 0, 0);
}

std::string RunContext::experiment(const std::string& out) const {
  std::string overrides;
  for (const auto& entry : overrides_) overrides += text(" --set ", entry.path, "=", entry.value);
  if (settings_.seed) overrides += text(" --seed ", *settings_.seed);
  overrides = one_line(overrides);  // or the rest of a value would be Lua
  const std::string body(script_of(script));
  return folders_.origin(out) + (overrides.empty() ? body : text("-- run with", overrides, "\n", body));
}

std::filesystem::path RunContext::run_folder(const std::string& fallback, const std::vector<std::string>* shared) {
  out_used_ = out_taken_by_script_ = true;
  if (shared) share(*shared);
  if (settings_.out && shared) return *settings_.out;
  if (!shared) {
    // --out names the folder of the script's first run, and with it that of further runs under the same name.
    if (settings_.out && out_name_.empty() && !out_given_) out_name_ = fallback;
    const bool resume = resumes();
    if (settings_.out && out_name_ == fallback) return folders_.next_from(*settings_.out, resume);
    return folders_.next(fallback, resume, experiment(), !rehearsal);
  }
  std::vector<std::pair<std::string, std::string>> telling;
  for (const auto& entry : overrides_)
    if (std::ranges::find(*shared, first_part(entry.path)) == shared->end()) telling.emplace_back(entry.path, entry.value);
  return folder_with_settings(fallback, telling);
}

void RunContext::share(const std::vector<std::string>& options) {
  shared_.insert(options.begin(), options.end());
  if (own_options_.map()) std::erase_if(*own_options_.map(), [this](const auto& entry) { return shared_.contains(entry.first); });
}

bool RunContext::resumes() const {
  return settings_.resume || std::ranges::any_of(overrides_, [](const GivenOverride& entry) {
           return entry.path == "resume" && entry.value == "true" && !entry.taken_by_script;
         });
}

void RunContext::set_trained(Training training) {
  folders_.set_trained(training.out);
  training_ = std::move(training);
}

std::string RunContext::continuation() const {
  if (!training_ || (training_->out.empty() && !training_->interrupted)) return "";
  if (training_->out.empty()) return "the training had no folder (option 'out' of iap.train), so that nothing is left of it";
  const std::string state = training_->interrupted ? text(training_->out, " stopped after iteration ", training_->iteration, " of ",
                                                          training_->iterations, "; ")
                                                   : "";
  const auto again = file_again();
  if (!again)
    return text(state, "continue with the script that came through the pipe as SCRIPT ('", training_->out,
                "' does not have it)\n  ", command("SCRIPT"));
  return text(state, "continue with\n  ", command(shell_word(again->string())));
}

std::optional<std::filesystem::path> RunContext::file_again() const {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) return file;
  // What came through a pipe does not come again; the folder has its text, unless the run had done more by another script.
  try {
    if (is_of_script(read_run_script(training_->out), script)) return std::filesystem::path(training_->out) / "experiment.lua";
  } catch (const Error&) {
  }
  return {};
}

std::string RunContext::command(const std::string& script_word) const {
  std::string line = text(shell_word(settings_.program), " run ", script_word);
  for (const auto& entry : overrides_) line += " --set " + shell_word(entry.path + "=" + entry.value);
  if (settings_.seed) line += text(" --seed ", *settings_.seed);
  if (settings_.threads) line += text(" --threads ", *settings_.threads);
  if (settings_.out)
    line += " --out " + shell_word(settings_.out->string());
  else if (folders_.given().size() == 1 && !folders_.trained_elsewhere())
    line += " --out " + shell_word(folders_.given().front().string());
  if (!settings_.instructions.empty()) line += " --instructions " + settings_.instructions;
  line += " --resume";
  for (std::size_t i = 0; i < settings_.arguments.size(); ++i) line += (i ? " " : " -- ") + shell_word(settings_.arguments[i]);
  return line;
}

void RunContext::check_all_used() const {
  std::vector<std::string> known(declared_.begin(), declared_.end());
  const std::string remedy = known.empty() ? "the script calls neither iap.train nor iap.options" : "";
  for (const auto& entry : overrides_)
    if (!entry.used)
      throw Error(text("--set ", entry.path, ": nothing in the script used it",
                       remedy.empty() ? did_you_mean(entry.path, known) : "; ", remedy));
  if (trained_) return;
  check_flags_used();
  check_arguments(false);
}

void RunContext::check_flags_used() const {
  if (settings_.seed && !seed_used_)
    throw Error("--seed: nothing in the script uses it; the script has no option 'seed' and does not call iap.train");
  if (settings_.out && !out_used_)
    throw Error("--out: nothing in the script uses it; the script has no option 'out' and does not call iap.train");
  if (settings_.resume) throw Error("--resume: nothing in the script uses it; the script does not call iap.train");
}

}  // namespace iap
