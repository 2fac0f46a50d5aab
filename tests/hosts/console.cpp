// Has handlers of console_bridge, through which the library's reader of URDF speaks: they get what the host logs, at work and
// afterwards, and the one before is still the one before. A level that silences the library changes no error of the reader's.
#include <console_bridge/console.h>
#include <iap.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
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

/// A robot whose toe cannot be read is refused, and another thread's errors stay as silent as the host wants them.
void silenced(Counter& counter) {
  console_bridge::setLogLevel(console_bridge::CONSOLE_BRIDGE_LOG_NONE);
  char path[] = "/tmp/iap-host-XXXXXX";
  const int file = mkstemp(path);
  constexpr char robot[] =
      "<robot name='r'><link name='toe'><collision><geometry><sphere radius='2cm'/></geometry></collision></link></robot>";
  expect(write(file, robot, sizeof robot - 1) == sizeof robot - 1 && close(file) == 0, "no file in /tmp");
  const std::string world = std::string("{ name = 'legged', urdf = '") + path + "' }";
  counter.lines = 0;
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) CONSOLE_BRIDGE_logError("nobody reads this");
  });
  for (int i = 0; i < 20; ++i) {
    char message[512] = "";
    iap_env* env = nullptr;
    expect(iap_env_make(world.c_str(), &env, message, sizeof message) != IAP_OK, "a robot without its toe was made");
    expect(std::strstr(message, "radius [2cm]"), "%s", message);
  }
  over = true;
  other.join();
  unlink(path);
  expect(counter.lines == 0, "%d lines in spite of the level", counter.lines.load());
  expect(console_bridge::getLogLevel() == console_bridge::CONSOLE_BRIDGE_LOG_NONE, "another level stayed");
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
  silenced(second);
  console_bridge::restorePreviousOutputHandler();
  expect(console_bridge::getOutputHandler() == &first, "another handler is the one before");
}
