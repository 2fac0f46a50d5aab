#include "script/training_override.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

import iap.core;
import iap.env;
import iap.envs;
import iap.optim;
import iap.train;
#include "core/nested_names.hpp"
#include "env/record_refusal.hpp"

namespace iap {
namespace {

bool is_env(const std::string& name) { return name == "env" || name == "eval_env"; }

/// How many parts of a path into the policy lead to the first block in Lua on it, whose own options follow; all if there is none.
std::size_t parts_to_lua(const Config& options, const std::vector<std::string_view>& parts) {
  const Config* block = entry_of(options, parts.front());
  for (std::size_t i = 1; i < parts.size() && block; ++i) {
    if (is_lua_block(*block)) return i;
    block = entry_of(*block, parts[i]);
  }
  return parts.size();
}

/// Of a block in Lua; the models of tasks are no matter of blocks.
bool is_text_record(std::string_view option) { return is_file_record(option) && option != "model_files"; }

/// @throws Error for what iap itself writes beside the name of a file.
void check_settable(const Config& options, const std::string& path) {
  const auto parts = path_parts(path);
  const std::string name(parts.front());
  std::string_view refused;
  if (const std::size_t place = name == "curriculum" ? 2 : 1; is_env(name) || name == "curriculum") {
    if (parts.size() > place && is_file_record(parts[place])) refused = parts[place];
  } else if (name == "policy") {
    const std::size_t own = parts_to_lua(options, parts);
    if (own < parts.size() && is_text_record(parts[own])) refused = parts[own];
  }
  if (!refused.empty()) throw Error(text("--set ", path, ": ", record_refusal(refused)));
}

/// Takes out what iap keeps of the file that `path` named before, and reads the text of a block as its constructor does.
void renew_file(Config& options, const std::string& path) {
  const auto parts = path_parts(path);
  const std::string name(parts.front());
  if (is_env(name) && parts.size() == 2) {
    if (Config* env = entry_of(options, name)) forget_file(*env, parts[1]);
    return;
  }
  if (name != "policy" || parts.back() != "file" || parts_to_lua(options, parts) + 1 != parts.size()) return;
  Config* block = entry_at(options, path.substr(0, path.rfind('.')));
  if (!block || !block->map()) return;
  std::erase_if(*block->map(), [](const auto& entry) { return is_text_record(entry.first); });
  if (const Config* file = block->find("file"); file && file->string()) (*block)["source"] = read_file(*file->string());
}

/// `table` with an entry at `path` that is there and holds nothing: readers refuse its name if they do not know it.
Config with_nothing_at(Config table, std::string_view path) {
  Config* place = &table;
  for (const auto part : path_parts(path)) {
    Config* next = entry_of(*place, part);
    place = next ? next : &(*place)[part];
  }
  *place = Config();
  return table;
}

/// Builds what reads `table` with nothing at `inside`, the end of `path`. @throws OptionError where it does not know a name in
/// `path`, or takes no table where one of them would be. What else it finds is told where it is built for good.
void look_for_names(const std::string& path, const Config& table, std::string_view inside, const auto& build) {
  const Config changed = with_nothing_at(table, inside);
  const NestedNamesJudged judged(JudgedNames::files, {std::string(inside)});
  const auto refuse = [&](const Error& error) { throw OptionError(text("--set ", path, "=null: ", error.what())); };
  try {
    build(changed);
  } catch (const UnknownOption& error) {
    const auto parts = path_parts(path);
    if (std::ranges::find(parts, error.option()) != parts.end()) refuse(error);
  } catch (const Error& error) {
    for (auto dot = inside.find('.'); dot != std::string_view::npos; dot = inside.find('.', dot + 1)) {
      const Config* made = entry_at(changed, inside.substr(0, dot));
      if (made && std::string_view(error.what()).ends_with(", got " + made->describe())) refuse(error);
    }
  }
}

/// Of a `path` that takes out what is not there: @throws OptionError for a name in it that nobody knows, or leaves it to its
/// reader.
void judge_names(Config& options, const std::string& path) {
  const std::string name = first_part(path), inside = path.substr(name.size() + 1);
  const Config* own = options.find(name);
  const Config* base = options.find("env");
  const Config table = own && !own->is_null() ? *own : Config(Config::Map{});
  const Config env = base && base->map() ? *base : Config(Config::Map{});
  if (name == "optimizer") {
    const std::vector<float> parameters(2);
    look_for_names(path, table, inside, [&](const Config& changed) { make_optimizer(changed, parameters, 0); });
  } else if (is_env(name)) {
    const Config whole = name == "env" || table.find("name") ? table : with_changes(env, table);
    look_for_names(path, whole, inside, [](const Config& changed) { make_env(changed); });
  } else if (name == "curriculum") {
    const std::size_t dot = inside.find('.');
    const std::string position = inside.substr(0, dot);
    if (position.find_first_not_of("0123456789") != std::string::npos)
      throw OptionError(text("--set ", path, "=null: '", position, "' is no position in a list of stages; positions count from 1"));
    if (dot == std::string::npos) return;
    const std::string option = inside.substr(dot + 1);
    if (changes_of_stage({{first_part(option), Config()}}).empty()) return;
    const Config* stage = entry_at(table, position);
    const Config whole = with_changes(env, changes_of_stage(stage && stage->map() ? *stage->map() : Config::Map{}));
    look_for_names(path, whole, option, [](const Config& changed) { make_env(changed); });
  } else if (own && !own->is_null()) {
    // As far as it is there: tables on the way would not be without effect.
    std::size_t end = path.find('.');
    while (end != std::string::npos && entry_at(std::as_const(options), path.substr(0, end))) end = path.find('.', end + 1);
    options = with_nothing_at(std::move(options), path.substr(0, end));
  } else if (!training_refusal(name, "null")) {
    throw OptionError(
        text("--set ", path, "=null: option '", name, "' is not given, so that it has no '", inside, "' to take out"));
  }
}

}  // namespace

void override_training(Config& options, const std::string& path, const std::string& value) {
  const std::string name = first_part(path);
  if (is_record(name))
    throw Error(text("train: '", name, "' is no option but what iap itself writes into config.json; leave it out"));
  const bool drops = value == "null";
  if (drops && path == "env")
    throw Error("train: option 'env' cannot be taken out: iap.train needs an environment; env=NAME takes another one");
  if (drops && (name == path || !options.find(name))) options[name] = Config();
  if (name == path) {
    if (!drops) set_path(options, path, value);
    return;
  }
  check_settable(options, path);
  // An environment may be its name alone.
  if (is_env(name))
    if (const Config* env = options.find(name); env && env->string()) options[name] = env_table(*env, "--set " + path);
  if (name == "policy" && !options.find(name))
    throw Error(
        text("--set ", path, ": the script has no policy of its own whose options could change; write policy = ... beside init"));
  const bool there = entry_at(std::as_const(options), path) != nullptr;
  set_path(options, path, value);
  if (drops && !there)
    judge_names(options, path);
  else
    renew_file(options, path);
}

std::string place_of_override(const Config& options, const std::string& path) {
  const auto parts = path_parts(path);
  const std::string name(parts.front());
  std::size_t own = parts.size();
  if (is_env(name) || name == "curriculum")
    own = is_env(name) ? 1 : 2;
  else if (name == "policy")
    own = parts_to_lua(options, parts);
  return own < parts.size() ? path.substr(static_cast<std::size_t>(parts[own].data() - path.data())) : "";
}

std::optional<TrainingRefusal> training_refusal(const std::string& path, const std::string& value) {
  Config options = Config::Map{{"env", Config::Map{}}, {"policy", Config::Map{}}};
  const std::string name = first_part(path);
  if (name == "on_iteration") return {};  // it is the script's, and no option of a table
  try {
    // Without a policy a run may still begin at one (init), which is not known here.
    if (name == path && !(path == "policy" && value == "null"))
      override_training(options, path, value);
    else if (!options.find(name))
      options[name] = Config();
    read_train_options(options);
  } catch (const UnknownOption& error) {
    return TrainingRefusal{error.what(), true, error.guessed()};
  } catch (const Error& error) {
    return TrainingRefusal{error.what()};
  }
  return {};
}

}  // namespace iap
