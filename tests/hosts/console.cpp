// Has handlers of console_bridge, through which the library's reader of URDF speaks: they get what the host logs, at work and
// afterwards, and the one before is still the one before.
#include <console_bridge/console.h>
#include <iap.h>

#include <atomic>
#include <string>
#include <thread>

#include "host.h"

namespace {

class Counter final : public console_bridge::OutputHandler {
 public:
  void log(const std::string&, console_bridge::LogLevel, const char*, int) override { ++lines; }
  std::atomic<int> lines = 0;
};

void make() {
  char message[512] = "";
  iap_env* env = nullptr;
  expect(iap_env_make("{ name = 'legged', engine = 'mujoco' }", &env, message, sizeof message) == IAP_OK, "%s", message);
  iap_env_free(env);
}

}  // namespace

int main() {
  Counter first, second;
  console_bridge::useOutputHandler(&first);
  console_bridge::useOutputHandler(&second);
  std::atomic<bool> over = false;
  int logged = 0;
  std::thread other([&] {
    for (; !over; ++logged) CONSOLE_BRIDGE_logError("line %d", logged);
  });
  for (int i = 0; i < 5; ++i) make();
  over = true;
  other.join();
  expect(first.lines + second.lines == logged, "%d lines of %d", first.lines + second.lines, logged);
  expect(console_bridge::getOutputHandler() == &second, "another handler stayed");
  console_bridge::restorePreviousOutputHandler();
  expect(console_bridge::getOutputHandler() == &first, "another handler is the one before");
}
