#include "cli/interrupts.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
import iap.core;
import iap.script;
#include "core/held_interrupt.hpp"

namespace iap::cli {
namespace {

std::atomic<Script*> running_script = nullptr;
volatile std::sig_atomic_t waiting_for_key = 0, key_interrupted = 0, terminated = 0;
FirstTermination first_termination;

void interrupt_work(int signal) {
  if (auto* script = running_script.load(std::memory_order_relaxed))
    script->interrupt(signal);
  else
    request_interrupt(signal);
}

void on_interrupt(int signal) {
  if (waiting_for_key) {
    key_interrupted = 1;
    return;
  }
  if (interrupt_begun()) return end_by(signal);
  interrupt_work(signal);
}

void on_termination(int signal) {
  if (!interrupt_begun()) first_termination.forget();
  if (signal == SIGTERM && first_termination.long_ago()) return end_by(signal);
  terminated = 1;
  interrupt_work(signal);
}

}  // namespace

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  // In its own handler it would wait for the end of that.
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  std::raise(signal);
  // To the first process of a container, such as iap in its own image, the kernel gives no signal that it does not handle.
  constexpr int ended_by = 128;
  _exit(ended_by + signal);
}

struct sigaction catch_signal(int signal, void (*handler)(int)) {
  struct sigaction before = {}, action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, nullptr, &before);
  if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  return before;
}

void catch_interrupts(Script* script) {
  running_script.store(script, std::memory_order_relaxed);
  catch_signal(SIGINT, on_interrupt);
}

bool FirstTermination::long_ago() noexcept {
  constexpr std::int64_t patience = 5000;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
  std::int64_t first = 0;
  return !at_.compare_exchange_strong(first, now) && now - first >= patience;
}

void catch_termination() {
  for (const int signal : terminating) catch_signal(signal, on_termination);
}

CaughtTermination::CaughtTermination() {
  terminated = 0;
  for (std::size_t i = 0; i < terminating.size(); ++i) before_[i] = catch_signal(terminating[i], on_termination);
}

CaughtTermination::~CaughtTermination() {
  for (std::size_t i = 0; i < terminating.size(); ++i) sigaction(terminating[i], &before_[i], nullptr);
}

bool CaughtTermination::came() const { return terminated != 0; }

bool wait_for_key(int descriptor) {
  // The signal is let in only while ppoll sleeps: none can slip in between the test and the wait.
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  key_interrupted = interrupt_requested();
  clear_interrupt();
  waiting_for_key = 1;
  pollfd key = {descriptor, POLLIN, 0};
  while (!key_interrupted && ppoll(&key, 1, nullptr, &before) < 0) {
  }
  waiting_for_key = 0;
  const bool stopped = key_interrupted != 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !stopped;
}

}  // namespace iap::cli
