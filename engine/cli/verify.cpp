#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/commands.hpp"
import iap.core;
import iap.script;

namespace iap::cli {
namespace {

namespace fs = std::filesystem;

/// The experiments that came with this program: of the installation, or of the tree that it was built in.
fs::path own_scripts() {
  std::error_code failure;
  const auto program = fs::read_symlink("/proc/self/exe", failure);
  if (failure) throw Error(text("cannot tell where this program lies (/proc/self/exe): ", failure.message()));
  const auto installed = (program.parent_path() / IAP_SCRIPTS_FROM_PROGRAMS).lexically_normal();
  const auto built = program.parent_path().parent_path().parent_path() / "scripts";
  for (const auto& folder : {installed, built})
    if (fs::exists(folder / "verify.lua", failure)) return folder;
  throw Error(text("found no policies that came with this program: there is no ", (installed / "verify.lua").string(),
                   "; install iap as a whole, or call iap run with the path of scripts/verify.lua"));
}

}  // namespace

int verify(const VerifyCommand& command, bool verbose) {
  RunSettings settings = command.run;
  if (command.list) settings.overrides = {"list=true"};
  return run(own_scripts() / "verify.lua", std::move(settings), verbose, 0);
}

}  // namespace iap::cli
