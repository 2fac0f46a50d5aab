/* A host with signal handlers, a mask and a stack for signals: they are the same after loading, using and unloading the library,
 * and a timer that interrupts every call meanwhile changes nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "host.h"

static const int handled[] = {SIGINT, SIGTERM, SIGSEGV, SIGFPE, SIGCHLD, SIGPIPE, SIGXFSZ, SIGALRM,
                              SIGBUS, SIGILL,  SIGABRT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU};
enum { count = sizeof handled / sizeof *handled, all = 64 };

static volatile sig_atomic_t ticks, others;
static void tick(int number) {
  (void)number;
  ++ticks;
}
static void other(int number) {
  (void)number;
  ++others;
}

static int same_mask(const sigset_t* a, const sigset_t* b) {
  for (int number = 1; number <= all; ++number)
    if (sigismember(a, number) != sigismember(b, number)) return 0;
  return 1;
}

struct state {
  struct sigaction actions[all + 1];
  sigset_t mask;
  stack_t stack;
};

static void look(struct state* state) {
  memset(state, 0, sizeof *state);
  for (int number = 1; number <= all; ++number) sigaction(number, NULL, &state->actions[number]);
  pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
  sigaltstack(NULL, &state->stack);
}

static void compare(const struct state* before, const char* when) {
  struct state now;
  look(&now);
  for (int number = 1; number <= all; ++number) {
    const struct sigaction *then = &before->actions[number], *is = &now.actions[number];
    expect(then->sa_handler == is->sa_handler && then->sa_flags == is->sa_flags && same_mask(&then->sa_mask, &is->sa_mask),
           "signal %d is handled otherwise %s", number, when);
  }
  expect(same_mask(&before->mask, &now.mask), "the mask is another %s", when);
  expect(memcmp(&before->stack, &now.stack, sizeof now.stack) == 0, "the stack is another %s", when);
}

static struct state begun;
static void still_mine(void) { compare(&begun, "in use"); }

int main(void) {
  struct findings plain, found;
  expect(use_in_child((struct around){0}, 2, &plain) == 0, "a use without signals");

  static char room[1 << 16];
  const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  expect(sigaltstack(&stack, NULL) == 0 && pthread_sigmask(SIG_BLOCK, &mask, NULL) == 0, "no stack or mask");
  for (int i = 0; i < count; ++i) {
    struct sigaction action = {.sa_handler = handled[i] == SIGALRM ? tick : other, .sa_flags = i % 2 ? SA_ONSTACK : 0};
    expect(sigaction(handled[i], &action, NULL) == 0, "signal %d takes no handler", handled[i]);
  }
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  look(&begun);
  expect(setitimer(ITIMER_REAL, &often, NULL) == 0, "no timer");
  void* loaded = load_use();
  compare(&begun, "after loading");
  *(void (**)(void))dlsym(loaded, "at_each_finding") = still_mine;
  for (int turn = 0; turn < 3; ++turn) {
    ((void (*)(int, struct findings*))dlsym(loaded, "use_library"))(2, &found);
    const char* changed = difference(&plain, &found);
    expect(!changed, "interrupted, '%s' is another", changed);
  }
  compare(&begun, "after use");
  expect(dlclose(loaded) == 0, "%s", dlerror());
  compare(&begun, "after unloading");
  setitimer(ITIMER_REAL, &never, NULL);
  expect(ticks > 50, "the timer came %d times", (int)ticks);
  expect(others == 0, "the library raised %d signals", (int)others);
  printf("%d signals, %d interruptions\n", count, (int)ticks);
  return 0;
}
