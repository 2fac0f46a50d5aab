module;
#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"

namespace iap {
namespace {

// MuJoCo is built with unwind tables, so the exception passes its C frames; its default handler would prompt and exit.
void throw_error(const char* message) { throw Error(text("MuJoCo: ", message)); }

// mjData counts warnings itself; the default handler would write a log file into the working folder.
void ignore_warning(const char*) {}

}  // namespace

void install_mujoco_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    mju_user_error = throw_error;
    mju_user_warning = ignore_warning;
  });
}

}  // namespace iap
