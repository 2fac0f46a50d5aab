/* Loads the library and lets go of it 1000 times, with a use in every hundredth: memory, threads and file handles stay as many. The
 * library stays where it is (-z nodelete): its worker threads, TBB's, outlive every call. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include "host.h"

enum { turns = 1000, warm = 200, most_growth = 4 << 20 };

static int entries(const char* folder) {
  int count = 0;
  DIR* open = opendir(folder);
  expect(open, "no %s", folder);
  while (readdir(open)) ++count;
  closedir(open);
  return count - 3;
}

static long resident(void) {
  malloc_trim(0);
  long pages = 0, all = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  expect(file && fscanf(file, "%ld %ld", &all, &pages) == 2, "no /proc/self/statm");
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(void) {
  struct findings first, found;
  long memory = 0;
  mallopt(M_ARENA_MAX, 1); /* how many heaps threads happen to share is no growth */
  int threads = 0, handles = 0;
  for (int turn = 0; turn < turns; ++turn) {
    void* loaded = load_use();
    if (turn % 100 == 0) {
      ((void (*)(int, struct findings*))dlsym(loaded, "use_library"))(2, turn ? &found : &first);
      const char* other = turn ? difference(&first, &found) : NULL;
      expect(!other, "loaded for the %dth time, '%s' is another", turn + 1, other);
    }
    expect(dlclose(loaded) == 0, "%s", dlerror());
    if (turn == warm) memory = resident(), threads = entries("/proc/self/task"), handles = entries("/proc/self/fd");
  }
  const long grown = resident() - memory;
  const int more_threads = entries("/proc/self/task") - threads, more_handles = entries("/proc/self/fd") - handles;
  printf("%d turns: %ld KiB, %d threads, %d handles more than after %d; %s\n", turns, grown / 1024, more_threads, more_handles,
         warm, dlopen(IAP_LIBRARY, RTLD_NOW | RTLD_NOLOAD) ? "the library is still there" : "the library is gone");
  expect(grown <= most_growth, "%ld bytes more", grown);
  expect(more_threads <= 0 && more_handles <= 0, "%d threads and %d handles more", more_threads, more_handles);
  return 0;
}
