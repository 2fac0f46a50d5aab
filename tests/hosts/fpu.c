/* A host that computes in other floating-point modes: the library gives the same bits, also where it was loaded in these modes, and
 * leaves the modes and the exceptions that were raised as they were. */
#include <fenv.h>
#include <string.h>

#include "host.h"

#if !defined(__x86_64__)
int main(void) { return skipped; }
#else
#include <xmmintrin.h>

enum { subnormals_are_zero = 0x8040, raised = 0x3f };

struct modes {
  unsigned sse;
  unsigned short x87;
};
static struct modes begun;

static struct modes modes_now(void) {
  struct modes now = {_mm_getcsr() & ~(unsigned)raised, 0};
  __asm__ volatile("fnstcw %0" : "=m"(now.x87));
  return now;
}

static void in_zeros(void) { _mm_setcsr(_mm_getcsr() | subnormals_are_zero); }
static void in_upward(void) { fesetround(FE_UPWARD); }
static void in_downward(void) { fesetround(FE_DOWNWARD); }
static void toward_zero(void) { fesetround(FE_TOWARDZERO); }
static void in_traps(void) { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }
static void in_all_traps(void) {
  feenableexcept(FE_ALL_EXCEPT);
  in_zeros();
}
/* The x87 in single precision, as Direct3D once set it. */
static void in_single(void) {
  const unsigned short control = 0x007f;
  __asm__ volatile("fldcw %0" : : "m"(control));
}

static void (*set)(void);
static void begin(void) {
  set();
  begun = modes_now();
}
static void compare(void) {
  const struct modes now = modes_now();
  expect(now.sse == begun.sse && now.x87 == begun.x87, "the modes were %x and %x, and are %x and %x", begun.sse, begun.x87, now.sse,
         now.x87);
}

int main(void) {
  static const struct {
    const char* name;
    void (*set)(void);
    int late; /* others' libraries divide while they are loaded, inexactly */
  } hosts[] = {{"subnormal numbers are zero", in_zeros, 0}, {"rounds upward", in_upward, 0},
               {"rounds downward", in_downward, 0},         {"rounds toward zero", toward_zero, 0},
               {"traps what is wrong", in_traps, 0},        {"traps everything", in_all_traps, 1},
               {"x87 in single precision", in_single, 0}};
  struct findings plain, found;
  int wrong = 0, cases = 0;
  expect(use_in_child((struct around){0}, 1, &plain) == 0, "a use in the modes that everybody has");
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; ++i)
    for (int threads = 1; threads <= 3; threads += 2, ++cases) {
      set = hosts[i].set;
      const struct around around = {hosts[i].late ? NULL : begin, hosts[i].late ? begin : NULL, compare};
      const int status = use_in_child(around, threads, &found);
      const char* other = status ? NULL : difference(&plain, &found);
      if (status) printf("%s, %d threads: ended with status %d\n", hosts[i].name, threads, status);
      if (other) printf("%s, %d threads: other bits, first in '%s'\n", hosts[i].name, threads, other);
      wrong += status || other;
    }
  printf("%d of %d hosts found other bits or modes\n", wrong, cases);
  return wrong != 0;
}
#endif
