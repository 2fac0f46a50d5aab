#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
import iap.core;

namespace iap::embedded {
extern const std::string_view cli_templates_lua_NAME_lua, cli_templates_lua_task_lua, cli_templates_lua_test_lua,
    cli_templates_lua_README_md;
extern const std::string_view cli_templates_mujoco_NAME_lua, cli_templates_mujoco_task_lua, cli_templates_mujoco_task_xml,
    cli_templates_mujoco_test_lua, cli_templates_mujoco_README_md;
}  // namespace iap::embedded

namespace iap::cli {
namespace {

namespace fs = std::filesystem;

/// What stands for the folder's name in the templates' texts and file names.
constexpr std::string_view placeholder = "NAME";

struct Template {
  std::string file;
  std::string_view content;
};

std::vector<Template> templates(const std::string& task) {
  using namespace embedded;
  if (task == "mujoco")
    return {{"NAME.lua", cli_templates_mujoco_NAME_lua},
            {"task.lua", cli_templates_mujoco_task_lua},
            {"task.xml", cli_templates_mujoco_task_xml},
            {"test.lua", cli_templates_mujoco_test_lua},
            {"README.md", cli_templates_mujoco_README_md}};
  return {{"NAME.lua", cli_templates_lua_NAME_lua},
          {"task.lua", cli_templates_lua_task_lua},
          {"test.lua", cli_templates_lua_test_lua},
          {"README.md", cli_templates_lua_README_md}};
}

std::string filled(std::string_view content, const std::string& name) {
  std::string text(content);
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos; at += name.size())
    text.replace(at, placeholder.size(), name);
  return text;
}

/// A folder in the making: beside its place under another name until it is whole, and gone if it never is.
class PartFolder {
 public:
  explicit PartFolder(const std::string& name) : name_(name), part_(text(".", name, ".part-", getpid())) {
    std::error_code failure;
    const bool created = fs::create_directory(part_, failure);
    std::error_code unknown;
    if (!created)
      throw Error(text("cannot make the folder '", name, "' in '", fs::current_path(unknown).string(),
                       "': ", failure ? failure.message() : "another process makes it", "; go to a folder of your own"));
  }
  ~PartFolder() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(part_, ignored);
  }
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  const fs::path& path() const { return part_; }

  /// Takes the place, which may be an empty folder.
  void commit() {
    std::error_code failure;
    fs::rename(part_, name_, failure);
    if (failure) throw Error(text("cannot make the folder '", name_.string(), "': ", failure.message()));
    committed_ = true;
  }

 private:
  fs::path name_, part_;
  bool committed_ = false;
};

void check_free(const std::string& name) {
  std::error_code ignored;
  const auto kind = fs::symlink_status(name, ignored).type();
  if (kind == fs::file_type::not_found || kind == fs::file_type::none) return;
  if (kind != fs::file_type::directory) throw Error(text("'", name, "' exists and is no folder; choose another name"));
  if (!fs::is_empty(name, ignored)) throw Error(text("the folder '", name, "' exists and is not empty; choose another name"));
}

}  // namespace

std::string read_new_name(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  constexpr std::size_t longest = 100;
  if (name.empty() || name.size() > longest || !std::ranges::all_of(name, plain) || name[0] == '.' || name[0] == '-')
    throw Error(text("'", name, "' is no plain name; use up to ", longest,
                     " letters, digits, '-', '_' and '.', such as 'my-task'; the folder is made where you are"));
  if (const fs::path path(name); path.extension() == ".lua")
    throw Error(text("'", name, "' is to be a folder, not a script; did you mean '", path.stem().string(), "'?"));
  if (name == "task" || name == "test") throw Error(text("'", name, "' is the name of a file inside; choose another name"));
  return name;
}

int make_new(const NewCommand& command) {
  check_free(command.name);
  PartFolder folder(command.name);
  for (const auto& [file, content] : templates(command.task))
    write_file_atomic(folder.path() / filled(file, command.name), filled(content, command.name));
  folder.commit();
  const std::string here = "iap run " + command.name + "/";
  std::cout << "made the folder " << command.name << "; about a minute of training, then the rest:\n"
            << "  iap check " << command.name << "/task.lua\n"
            << "  " << here << command.name << ".lua\n"
            << "  " << here << "test.lua\n"
            << command.name << "/README.md says what is what.\n";
  return Exit::success;
}

}  // namespace iap::cli
