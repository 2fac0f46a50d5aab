/* What hosts share: a host that ends with a line about what it expected, and all that the library does, as fingerprints. */
#ifndef HOST_H
#define HOST_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define expect(condition, ...)                          \
  do {                                                  \
    if (!(condition)) {                                 \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);   \
      fprintf(stderr, __VA_ARGS__);                     \
      fprintf(stderr, " (expected: %s)\n", #condition); \
      exit(1);                                          \
    }                                                   \
  } while (0)

#define SHOWN __attribute__((visibility("default")))

enum { skipped = 77, most_findings = 24 };

/* What came out of one part of the use, and the bits of it. */
struct finding {
  char what[40];
  uint64_t bits;
};
struct findings {
  size_t count;
  struct finding at[most_findings];
};

#ifdef __cplusplus
extern "C" {
#endif

/* ---- use.c, in the module hosts_use or linked ---- */

/* Policies, environments, batches, rollouts, drawings and errors, on `threads` threads where threads can be asked for. */
SHOWN void use_library(int threads, struct findings* found);
/* Called after each part of a use that found something. */
SHOWN extern void (*at_each_finding)(void);
/* Writes a policy file with a block in Lua whose action depends on how numbers become text; `path` gets its name, to be removed. */
SHOWN void write_lua_policy(char path[64]);

/* ---- loaded.c, for hosts that load the library while they run ---- */

/* Loads the module hosts_use, and with it the library, and returns its handle. */
void* load_use(void);
/* What a process of its own calls around its use; each may be null. */
struct around {
  void (*before)(void); /* the library is loaded */
  void (*loaded)(void); /* once it is */
  void (*each)(void);   /* after each finding */
};
/* use_library in a process of its own. Returns what waitpid says of it. */
int use_in_child(struct around around, int threads, struct findings* found);
/* The first part in which two uses differ, or null. */
const char* difference(const struct findings* a, const struct findings* b);

#ifdef __cplusplus
}
#endif

#endif
