/* A host that draws from rand(): its numbers go on as if no world had been made, and one of its threads that draws while a world is
 * made changes no picture. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "iap.h"

static const char* const worlds[] = {"cartpole-swingup", "cheetah-run"};

static volatile int over;
/* Draws, with pauses of so many microseconds. */
static void* draw(void* pause) {
  const struct timespec time = {0, *(const long*)pause * 1000};
  while (!over) {
    rand();
    if (time.tv_nsec) nanosleep(&time, NULL);
  }
  return NULL;
}

/* What is seen at first, as a number; 0 where the world was refused because of the other thread's numbers. */
static uint64_t picture(const char* world) {
  char text[100], message[400];
  snprintf(text, sizeof text, "{ name = '%s', pixels = { 24, 32 } }", world);
  iap_env* env = NULL;
  if (iap_env_make(text, &env, message, sizeof message) != IAP_OK) {
    expect(strstr(message, "another thread of this program calls rand()"), "%s", message);
    return 0;
  }
  expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
  iap_image image = {.size = sizeof image};
  expect(iap_env_observe(env, &image, 1, NULL) == IAP_OK, "%s", iap_env_error(env));
  uint64_t bits = 14695981039346656037u;
  for (int i = 0; i < 24 * 32 * 3; ++i) bits = (bits ^ ((const unsigned char*)image.data)[i]) * 1099511628211u;
  iap_env_free(env);
  return bits;
}

/* `picture` in a process of its own, as a model is compiled once in each. */
static uint64_t picture_beside(const char* world, const long* pause) {
  int ends[2];
  uint64_t bits = 0;
  expect(pipe(ends) == 0, "no pipe");
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    if (pause) expect(pthread_create(&thread, NULL, draw, (void*)pause) == 0, "no thread");
    bits = picture(world);
    over = 1;
    if (pause) pthread_join(thread, NULL);
    _exit(write(ends[1], &bits, sizeof bits) != sizeof bits);
  }
  close(ends[1]);
  const ssize_t got = read(ends[0], &bits, sizeof bits);
  close(ends[0]);
  int status = 1;
  expect(waitpid(child, &status, 0) == child && status == 0 && got == sizeof bits, "%s: a child ended with %d", world, status);
  return bits;
}

int main(void) {
  const long pauses[] = {0, 300000};
  const uint64_t alone = picture_beside(worlds[0], NULL);
  expect(alone, "%s was refused without another thread", worlds[0]);
  const uint64_t beside_all = picture_beside(worlds[0], &pauses[0]), beside_few = picture_beside(worlds[0], &pauses[1]);
  expect(!beside_all || beside_all == alone, "another picture beside a thread that draws all the time");
  expect(!beside_few || beside_few == alone, "another picture beside a thread that draws seldom");
  enum { count = 8 };
  int plain[count];
  srand(7);
  for (int i = 0; i < count; ++i) plain[i] = rand();
  srand(7);
  for (int i = 0; i < count; ++i) {
    expect(rand() == plain[i], "number %d of the host is another", i);
    if (i % 4 == 0) picture(worlds[i / 4 % 2]);
  }
  return 0;
}
