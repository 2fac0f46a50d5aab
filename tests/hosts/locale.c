/* A host that writes 1,5 for 1.5: whatever the library reads and writes is what it is in the C locale, and the locale stays the
 * host's. */
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
static const char* comma;
static char begun[200];
static locale_t of_thread;

static int writes_comma(void) {
  char text[8];
  snprintf(text, sizeof text, "%.1f", 1.5);
  return strcmp(text, "1,5") == 0;
}

static void by_process(void) {
  expect(setlocale(LC_ALL, comma), "there was a locale '%s'", comma);
  snprintf(begun, sizeof begun, "%s", setlocale(LC_ALL, NULL));
}
static void by_thread(void) {
  of_thread = newlocale(LC_ALL_MASK, comma, NULL);
  uselocale(of_thread);
  snprintf(begun, sizeof begun, "%s", setlocale(LC_ALL, NULL));
}
static void compare(void) {
  expect(writes_comma() && strcmp(begun, setlocale(LC_ALL, NULL)) == 0, "the locale was '%s'", begun);
  expect(!of_thread || uselocale(NULL) == of_thread, "the thread's locale is another");
}

/* A host's other thread, which turns the process from one locale to the other all the time. */
static void* turn(void* unused) {
  for (;;) {
    setlocale(LC_ALL, comma);
    const locale_t own = newlocale(LC_ALL_MASK, comma, NULL), before = uselocale(own);
    usleep(200);
    setlocale(LC_ALL, "C");
    uselocale(before);
    freelocale(own);
    usleep(200);
  }
  return unused;
}
static void by_other_thread(void) {
  pthread_t thread;
  expect(pthread_create(&thread, NULL, turn, NULL) == 0, "no thread");
}

int main(void) {
  for (size_t i = 0; i < sizeof names / sizeof *names && !comma; ++i)
    if (setlocale(LC_ALL, names[i])) comma = names[i];
  if (!comma || !writes_comma()) {
    puts("skipped: there is no locale with a comma here (Debian: the package locales)");
    return skipped;
  }
  setlocale(LC_ALL, "C");
  static const struct {
    const char* name;
    struct around around;
  } hosts[] = {{"setlocale before loading", {by_process, NULL, compare}},
               {"setlocale after loading", {NULL, by_process, compare}},
               {"uselocale", {by_thread, NULL, compare}},
               {"another thread", {NULL, by_other_thread, NULL}}};
  struct findings plain, found;
  int wrong = 0, cases = 0;
  expect(use_in_child((struct around){0}, 1, &plain) == 0, "a use in the C locale");
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; ++i)
    for (int threads = 1; threads <= 3; threads += 2, ++cases) {
      const int status = use_in_child(hosts[i].around, threads, &found);
      const char* other = status ? NULL : difference(&plain, &found);
      if (status) printf("%s, %d threads: ended with status %d\n", hosts[i].name, threads, status);
      if (other) printf("%s, %d threads: other bits, first in '%s'\n", hosts[i].name, threads, other);
      wrong += status || other;
    }
  printf("%d of %d hosts found other bits or another locale (%s)\n", wrong, cases, comma);
  return wrong != 0;
}
