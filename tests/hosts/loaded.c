#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

void* load_use(void) {
  void* loaded = dlopen(HOSTS_USE, RTLD_NOW | RTLD_LOCAL);
  expect(loaded, "%s", dlerror());
  return loaded;
}

int use_in_child(struct around around, int threads, struct findings* found) {
  int ends[2], status = 1;
  memset(found, 0, sizeof *found);
  expect(pipe(ends) == 0, "no pipe");
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    if (around.before) around.before();
    void* loaded = load_use();
    if (around.loaded) around.loaded();
    *(void (**)(void))dlsym(loaded, "at_each_finding") = around.each;
    ((void (*)(int, struct findings*))dlsym(loaded, "use_library"))(threads, found);
    _exit(write(ends[1], found, sizeof *found) == (ssize_t)sizeof *found ? 0 : 1);
  }
  close(ends[1]);
  size_t had = 0;
  for (ssize_t part; had < sizeof *found && (part = read(ends[0], (char*)found + had, sizeof *found - had)) > 0;)
    had += (size_t)part;
  close(ends[0]);
  expect(waitpid(child, &status, 0) == child, "the child is not to be waited for");
  return status;
}
