/* 64 threads at once, each with objects of its own, made, used and freed again and again: each finds what one alone does, and each
 * object keeps its own thread's error. */
#include <iap.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

enum { threads = 64, turns = 3, size = 5 };

static pthread_barrier_t all_at_once;
static char path[64];
static uint8_t bytes[1 << 16];
static size_t byte_count;

struct seen {
  float actions[8];
  double rewards[8];
  float state[size];
  double returns[2];
};

/* Everything but what went before depends on `seed` alone. */
static void play(uint64_t seed, struct seen* seen) {
  char message[200], expected[200];
  iap_policy* policy = NULL;
  iap_env* env = NULL;
  memset(seen, 0, sizeof *seen);
  const iap_status loaded = seed % 2 ? iap_policy_load(path, &policy, message, sizeof message)
                                     : iap_policy_load_memory(bytes, byte_count, &policy, message, sizeof message);
  expect(loaded == IAP_OK, "%s", message);
  snprintf(expected, sizeof expected, "/nowhere/%d.iap", (int)seed);
  iap_policy* none = NULL;
  expect(iap_policy_load(expected, &none, message, sizeof message) == IAP_BAD_FILE && strstr(message, expected), "%s", message);
  expect(iap_env_make("cartpole-swingup", &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, seed) == IAP_OK, "%s", iap_env_error(env));
  const float* vector = NULL;
  for (int i = 0; i < 8; ++i) {
    iap_step step = {.size = sizeof step};
    expect(iap_env_observe(env, NULL, 0, &vector) == IAP_OK, "%s", iap_env_error(env));
    expect(iap_policy_act(policy, NULL, 0, vector, size, &seen->actions[i], 1) == IAP_OK, "%s", iap_policy_error(policy));
    expect(iap_env_step(env, &seen->actions[i], 1, &step) == IAP_OK, "%s", iap_env_error(env));
    seen->rewards[i] = step.reward;
    float action = 0;
    expect(iap_policy_act(policy, NULL, 0, vector, 1000 + seed, &action, 1) == IAP_BAD_ARGUMENT, "a vector of %d", (int)seed);
    snprintf(expected, sizeof expected, "'vector_size' is %d;", (int)(1000 + seed));
    expect(strstr(iap_policy_error(policy), expected), "%s", iap_policy_error(policy));
  }
  expect(iap_env_observe(env, NULL, 0, &vector) == IAP_OK, "%s", iap_env_error(env));
  memcpy(seen->state, vector, sizeof seen->state);
  iap_env_free(env);
  iap_policy_free(policy);

  iap_rollouts* rollouts = NULL;
  expect(iap_rollouts_make("{ name = 'cartpole-swingup', time_limit = 5 }", path, 2, &rollouts, message, sizeof message) == IAP_OK,
         "%s", message);
  float parameters[2] = {1, 0.5F};
  const iap_rollout_options options = {.size = sizeof options, .seed = seed, .episodes = 1};
  expect(iap_rollouts_parameter_count(rollouts) == 1, "%d parameters", (int)iap_rollouts_parameter_count(rollouts));
  expect(iap_rollouts_run(rollouts, parameters, 2, 1, &options, seen->returns, NULL) == IAP_OK, "%s", iap_rollouts_error(rollouts));
  iap_rollouts_free(rollouts);
}

static struct seen alone[threads], together[threads];
static int differ[threads];

static void* work(void* number) {
  const size_t i = (size_t)number;
  pthread_barrier_wait(&all_at_once);
  for (int turn = 0; turn < turns; ++turn) {
    play(i, &together[i]);
    differ[i] += memcmp(&alone[i], &together[i], sizeof alone[i]) != 0;
  }
  return NULL;
}

int main(void) {
  write_lua_policy(path);
  FILE* file = fopen(path, "rb");
  expect(file && (byte_count = fread(bytes, 1, sizeof bytes, file)) > 0, "no policy");
  fclose(file);
  for (size_t i = 0; i < threads; ++i) play(i, &alone[i]);
  pthread_barrier_init(&all_at_once, NULL, threads);
  pthread_t started[threads];
  for (size_t i = 0; i < threads; ++i) expect(pthread_create(&started[i], NULL, work, (void*)i) == 0, "no thread %d", (int)i);
  for (size_t i = 0; i < threads; ++i) pthread_join(started[i], NULL);
  unlink(path);
  int wrong = 0;
  for (size_t i = 0; i < threads; ++i) wrong += differ[i];
  expect(wrong == 0, "%d of %d found something else", wrong, threads * turns);
  printf("%d threads, %d turns\n", threads, turns);
  return 0;
}
