#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/values.hpp"
import iap.core;
import iap.npz;
import iap.policy;
import iap.train;
#include "core/there.hpp"

namespace iap::cli {
namespace {

/// A place that nobody named takes no file's place but that of an equal one, and makes none where a link leads.
void check_unnamed_place(const std::filesystem::path& file, const std::string& content) {
  if (!is_there(file)) {
    if (!is_link(file)) return;
    throw Error(text("'", file.string(), "' is a link that leads to nothing; name the file to write with --out FILE"));
  }
  std::error_code ignored;
  const bool equal = std::filesystem::is_regular_file(file, ignored) &&
                     std::filesystem::file_size(file, ignored) == content.size() && read_file(file) == content;
  if (!equal) throw Error(text("'", file.string(), "' exists and holds something else; name the file to write with --out FILE"));
}

}  // namespace

int import_agent(const ImportOptions& options) {
  const auto imported = import_attention_agent(options.file, options.env ? Config(*options.env) : Config());
  auto out = options.out.value_or(std::filesystem::path(options.file).replace_extension(".iap"));
  check_outputs({{"--out", out}}, {options.file});
  if (!options.out) check_unnamed_place(out, save_policy(imported.policy, imported.metadata));
  write_policy_file(out, imported.policy, imported.metadata);
  const auto* name = imported.metadata.find("env")->find("name")->string();
  std::cout << "wrote " << one_line(out.string()) << ": " << imported.policy.size() << " parameters, for " << *name << "\n";
  return Exit::success;
}

int export_agent(const std::filesystem::path& policy, const std::filesystem::path& file, Trust trust) {
  check_outputs({{"FILE", file}}, {policy});
  check_data_name(file, "a file of weights");
  const auto opened = open_policy(policy, trust);
  write_file_atomic(file, export_attention_agent(opened.policy));
  std::cout << "wrote " << one_line(file.string()) << ": " << opened.policy.size() << " parameters\n";
  return Exit::success;
}

}  // namespace iap::cli
