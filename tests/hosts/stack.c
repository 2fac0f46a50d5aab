/* A host whose threads have little stack: calls make do with it, the first ones of the process too. */
#include <pthread.h>

#include "host.h"
#include "iap.h"

enum { stack_size = 64 * 1024 };

static void* use(void* found) {
  use_library(1, found);
  return NULL;
}

static void* try_worlds(void* unused) {
  static const char* const worlds[] = {"{ name = 'cheetah-run', pixels = { 24, 32 } }", "a1-obstacle-course", "take-cover"};
  static uint8_t drawn[24 * 32 * 3];
  for (size_t i = 0; i < sizeof worlds / sizeof *worlds; ++i) {
    char message[512] = "";
    iap_env* env = NULL;
    expect(iap_env_make(worlds[i], &env, message, sizeof message) == IAP_OK, "%s", message);
    expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
    expect(iap_env_draw(env, 24, 32, drawn, 0) == IAP_OK, "%s", iap_env_error(env));
    iap_env_free(env);
  }
  return unused;
}

static void in_thread(void* (*work)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  expect(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, stack_size) == 0, "no such stack");
  expect(pthread_create(&thread, &attributes, work, argument) == 0, "no thread");
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

int main(void) {
  static struct findings here, there;
  in_thread(use, &there);
  in_thread(try_worlds, NULL);
  use_library(1, &here);
  const char* const other = difference(&here, &there);
  expect(!other, "other bits with a small stack: %s", other);
  return 0;
}
