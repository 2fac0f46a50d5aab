/* A child of fork() makes its own objects, on as many threads as it likes, after the parent's threads have worked; both find the
 * same. So does a child of a moment in which another thread of the parent makes worlds, and be it the first of its kind. */
#include <dlfcn.h>
#include <iap.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

enum { children = 4, patience = 15, most_forks = 200, seconds = 8 };

/* What they make is shared within the process: models, textures, robots' texts, the memory of Lua. */
static const char* const worlds[] = {"{ name = 'cartpole-swingup', pixels = { 8, 8 } }", HOSTS_FOLDER "/world.lua",
                                     "{ name = 'laikago-grid', pixels = { 8, 8 } }"};
enum { world_count = sizeof worlds / sizeof *worlds };

static void make(const char* text) {
  char message[512] = "";
  iap_env* env = NULL;
  iap_env_spec spec = {.size = sizeof spec};
  iap_image images[4] = {{.size = 0}};
  for (int i = 0; i < 4; ++i) images[i].size = sizeof images[i];
  expect(iap_env_make(text, &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_describe(env, &spec) == IAP_OK && spec.image_count <= 4, "%s shows too much", text);
  expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
  expect(iap_env_observe(env, spec.image_count ? images : NULL, spec.image_count, NULL) == IAP_OK, "%s", iap_env_error(env));
  iap_env_free(env);
}

/* In the place of the loader's: whoever makes the first world of a kind asks it whether another library is in the way, and is in
 * the middle of that when a child is made. */
__attribute__((visibility("default"))) int dladdr(const void* address, Dl_info* found) {
  const struct timespec pause = {.tv_nsec = 300000000};
  nanosleep(&pause, NULL);
  int (*own)(const void*, Dl_info*);
  *(void**)&own = dlsym(RTLD_NEXT, "dladdr");
  return own(address, found);
}

static void* make_one(void* text) {
  make(text);
  return NULL;
}

/* Forks while another thread makes the first world of a kind, in a process in which there was none. */
static void fork_at_first(const char* text) {
  const pid_t parent = fork();
  if (parent == 0) {
    make("{\"name\": \"cartpole-balance\"}");  // which no Lua reads
    pthread_t maker;
    expect(pthread_create(&maker, NULL, make_one, (void*)text) == 0, "no thread for %s", text);
    const struct timespec pause = {.tv_nsec = 100000000};
    nanosleep(&pause, NULL);
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      make(text);
      _exit(0);
    }
    int status = 1;
    expect(waitpid(child, &status, 0) == child && status == 0, "a child at the first %s ended with status %d", text, status);
    pthread_join(maker, NULL);
    _exit(0);
  }
  int status = 1;
  expect(waitpid(parent, &status, 0) == parent && status == 0, "its parent ended with status %d", status);
}

static atomic_bool enough;

static void* go_on(void* text) {
  while (!atomic_load(&enough)) make(text);
  return NULL;
}

/* Forks again and again while other threads make worlds, one thread each. */
static int fork_meanwhile(void) {
  pthread_t makers[world_count];
  for (int i = 0; i < world_count; ++i) make(worlds[i]);
  for (int i = 0; i < world_count; ++i)
    expect(pthread_create(&makers[i], NULL, go_on, (void*)worlds[i]) == 0, "no thread for %s", worlds[i]);
  const time_t begin = time(NULL);
  int forks = 0;
  for (; forks < most_forks && time(NULL) - begin < seconds; ++forks) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      make(worlds[forks % world_count]);
      _exit(0);
    }
    int status = 1;
    expect(waitpid(child, &status, 0) == child && status == 0, "fork %d, while worlds were made, ended with status %d", forks,
           status);
    const struct timespec pause = {.tv_nsec = 1000 * (forks % 50) * (forks % 50)};
    nanosleep(&pause, NULL);
  }
  atomic_store(&enough, 1);
  for (int i = 0; i < world_count; ++i) pthread_join(makers[i], NULL);
  return forks;
}

int main(void) {
  struct findings own, found;
  for (int i = 1; i < world_count; ++i) fork_at_first(worlds[i]);
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
  const int forks = fork_meanwhile();
  use_library(3, &found);
  expect(!difference(&own, &found), "the parent's '%s' is another", difference(&own, &found));
  printf("%d children, %d while worlds were made\n", children, forks);
  return 0;
}
