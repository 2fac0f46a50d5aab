/* A child of fork() makes its own objects, on as many threads as it likes, after the parent's threads have worked; both find the
 * same. */
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

enum { children = 4, patience = 15 };

int main(void) {
  struct findings own, found;
  use_library(3, &own);
  int ends[2];
  expect(pipe(ends) == 0, "no pipe");
  for (int i = 0; i < children; ++i) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      use_library(1 + i, &found);
      _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    int status = 1;
    expect(waitpid(child, &status, 0) == child && status == 0, "child %d ended with status %d", i, status);
    expect(read(ends[0], &found, sizeof found) == (ssize_t)sizeof found, "child %d found nothing", i);
    const char* other = difference(&own, &found);
    expect(!other, "child %d: '%s' is another", i, other);
  }
  use_library(3, &found);
  expect(!difference(&own, &found), "the parent's '%s' is another", difference(&own, &found));
  printf("%d children\n", children);
  return 0;
}
