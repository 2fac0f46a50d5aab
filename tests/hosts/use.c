#include <iap.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static const char* const pole = "{ name = 'cartpole-swingup', pixels = { 24, 32 }, state = true, time_limit = 0.5e1 }";
static const char* const looks =
    "{ kind = 'sequence', blocks = { { kind = 'concat', blocks = { { kind = 'rank', patch = 4, d = 4, top = 3 },"
    " { kind = 'observation' } } }, { kind = 'lstm', units = 4 }, { kind = 'linear', activation = 'tanh' } } }";

static uint64_t mix(uint64_t bits, const void* bytes, size_t size) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < size; ++i) bits = (bits ^ at[i]) * 1099511628211u;
  return bits;
}

void (*at_each_finding)(void);

static void find(struct findings* found, const char* what, const void* bytes, size_t size) {
  size_t i = 0;
  while (i < found->count && strcmp(found->at[i].what, what) != 0) ++i;
  expect(i < most_findings, "too many findings");
  if (i == found->count) {
    snprintf(found->at[i].what, sizeof found->at[i].what, "%s", what);
    found->at[found->count++].bits = 14695981039346656037u;
  }
  found->at[i].bits = mix(found->at[i].bits, bytes, size);
  if (at_each_finding) at_each_finding();
}

static void find_text(struct findings* found, const char* what, const char* text) { find(found, what, text, strlen(text)); }

/* A policy file of blocks on an environment, with parameters as training begins with. */
static void write_policy(const char* env, const char* blocks, char path[64]) {
  char message[512] = "";
  iap_rollouts* rollouts = NULL;
  strcpy(path, "/tmp/iap-host-XXXXXX");
  const int file = mkstemp(path);
  expect(file >= 0 && close(file) == 0, "no file in /tmp");
  expect(iap_rollouts_make(env, blocks, 1, &rollouts, message, sizeof message) == IAP_OK, "%s", message);
  const size_t count = iap_rollouts_parameter_count(rollouts);
  float* parameters = calloc(count + 1, sizeof *parameters);
  expect(iap_rollouts_initial(rollouts, 3, parameters, count) == IAP_OK, "%s", iap_rollouts_error(rollouts));
  expect(iap_rollouts_save(rollouts, path, parameters, count) == IAP_OK, "%s", iap_rollouts_error(rollouts));
  free(parameters);
  iap_rollouts_free(rollouts);
}

void write_lua_policy(char path[64]) {
  write_policy("cartpole-swingup", "{ kind = 'script', file = '" HOSTS_FOLDER "/block.lua' }", path);
}

static void use_lua(struct findings* found) {
  char path[64], message[512] = "";
  write_lua_policy(path);
  iap_policy* policy = NULL;
  expect(iap_policy_load(path, &policy, message, sizeof message) == IAP_OK, "%s", message);
  unlink(path);
  float seen[5] = {0, 1.5F, -1, 1e-40F, 0}, action = 0;
  static const float firsts[] = {0.3F, -1.2345F, 1e-3F, 1e-39F};
  expect(iap_policy_vector_size(policy) == 5, "the pole has another state");
  for (int i = 0; i < 4; ++i) {
    seen[0] = firsts[i];
    expect(iap_policy_act(policy, NULL, 0, seen, 5, &action, 1) == IAP_OK, "%s", iap_policy_error(policy));
    find(found, "a block in Lua", &action, sizeof action);
  }
  find_text(found, "metadata", iap_policy_metadata(policy));
  iap_policy_free(policy);

  iap_env* env = NULL;
  iap_step step = {.size = sizeof step};
  expect(iap_env_make(HOSTS_FOLDER "/world.lua", &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, 4) == IAP_OK, "%s", iap_env_error(env));
  for (int i = 0; i < 6; ++i) {
    expect(iap_env_step(env, &action, 1, &step) == IAP_OK, "%s", iap_env_error(env));
    find(found, "an environment in Lua", &step.reward, sizeof step.reward);
  }
  iap_env_free(env);
}

static void use_pictures(struct findings* found) {
  char path[64], message[512] = "";
  write_policy(pole, looks, path);
  iap_policy* policy = NULL;
  iap_env* env = NULL;
  expect(iap_policy_load(path, &policy, message, sizeof message) == IAP_OK, "%s", message);
  unlink(path);
  find_text(found, "metadata", iap_policy_metadata(policy));
  expect(iap_env_make(iap_policy_env(policy), &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, 7) == IAP_OK, "%s", iap_env_error(env));
  for (int i = 0; i < 4; ++i) {
    iap_image image = {.size = sizeof image};
    const float* vector = NULL;
    float action = 0;
    iap_step step = {.size = sizeof step};
    expect(iap_env_observe(env, &image, 1, &vector) == IAP_OK, "%s", iap_env_error(env));
    find(found, "pictures", image.data, (size_t)(image.height * image.width * image.channels));
    find(found, "states", vector, iap_policy_vector_size(policy) * sizeof *vector);
    expect(iap_policy_act(policy, &image, 1, vector, iap_policy_vector_size(policy), &action, 1) == IAP_OK, "%s",
           iap_policy_error(policy));
    find(found, "actions", &action, sizeof action);
    expect(iap_env_step(env, &action, 1, &step) == IAP_OK, "%s", iap_env_error(env));
    find(found, "rewards", &step.reward, sizeof step.reward);
  }
  iap_scores scores = {.size = sizeof scores};
  expect(iap_policy_scores(policy, 0, &scores) == IAP_OK, "%s", iap_policy_error(policy));
  find(found, "scores", scores.values, (size_t)(scores.rows * scores.columns) * sizeof *scores.values);
  static const float fine[24 * 32 * 3];
  iap_image other = {.size = sizeof other, .height = 48, .width = 50, .channels = 3, .fit = IAP_RESIZE, .data = fine};
  float action = 0;
  const float nothing[5] = {1e-39F, 0};
  expect(iap_policy_act(policy, &other, 1, nothing, 5, &action, 1) == IAP_OK, "%s", iap_policy_error(policy));
  find(found, "a picture resized", &action, sizeof action);
  static uint8_t drawn[40 * 60 * 3];
  expect(iap_env_draw(env, 40, 60, drawn, 0) == IAP_OK, "%s", iap_env_error(env));
  find(found, "a drawing", drawn, sizeof drawn);
  iap_env_free(env);
  iap_policy_free(policy);
}

static void use_world(struct findings* found, const char* text) {
  char message[512] = "";
  iap_env* env = NULL;
  iap_env_spec spec = {.size = sizeof spec};
  iap_step step = {.size = sizeof step};
  float action[32] = {0.25F};
  static uint8_t drawn[24 * 32 * 3];
  expect(iap_env_make(text, &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_describe(env, &spec) == IAP_OK && spec.action_size <= 32, "%s", iap_env_error(env));
  find_text(found, text, spec.config);
  expect(iap_env_reset(env, 5) == IAP_OK, "%s", iap_env_error(env));
  for (int i = 0; i < 3; ++i) {
    expect(iap_env_step(env, action, spec.action_size, &step) == IAP_OK, "%s", iap_env_error(env));
    find(found, text, &step.reward, sizeof step.reward);
  }
  expect(iap_env_draw(env, 24, 32, drawn, 0) == IAP_OK, "%s", iap_env_error(env));
  find(found, text, drawn, sizeof drawn);
  iap_env_free(env);
}

static void use_batch(int threads, struct findings* found) {
  enum { count = 4 };
  char message[512] = "";
  iap_batch* batch = NULL;
  uint64_t seeds[count] = {1, 2, 3, 4};
  float actions[count] = {0.5F, -0.25F, 1e-41F, 1};
  double rewards[count];
  uint8_t flags[3][count];
  expect(iap_batch_make(pole, count, threads, &batch, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_batch_reset(batch, seeds, count) == IAP_OK, "%s", iap_batch_error(batch));
  for (int i = 0; i < 8; ++i) {
    expect(iap_batch_step(batch, actions, count, rewards, flags[0], flags[1], flags[2]) == IAP_OK, "%s", iap_batch_error(batch));
    find(found, "a batch", rewards, sizeof rewards);
  }
  iap_batch_free(batch);
}

static void use_rollouts(int threads, struct findings* found) {
  enum { members = 6 };
  char message[512] = "";
  iap_rollouts* rollouts = NULL;
  const char* blocks = "{ kind = 'sequence', blocks = { { kind = 'script', file = '" HOSTS_FOLDER
                       "/block.lua' },"
                       " { kind = 'mlp', hidden = { 4 } } } }";
  expect(iap_rollouts_make("{ name = 'cartpole-swingup', time_limit = 20 }", blocks, threads, &rollouts, message, sizeof message) ==
             IAP_OK,
         "%s", message);
  const size_t count = iap_rollouts_parameter_count(rollouts);
  float* parameters = calloc(members * count, sizeof *parameters);
  for (size_t i = 0; i < members; ++i)
    expect(iap_rollouts_initial(rollouts, i, parameters + i * count, count) == IAP_OK, "%s", iap_rollouts_error(rollouts));
  iap_rollout_options options = {.size = sizeof options, .seed = 1, .episodes = 1, .seeds = IAP_SEEDS_OWN};
  double returns[members];
  expect(iap_rollouts_run(rollouts, parameters, members, count, &options, returns, NULL) == IAP_OK, "%s",
         iap_rollouts_error(rollouts));
  find(found, "rollouts", returns, sizeof returns);
  free(parameters);
  iap_rollouts_free(rollouts);
}

static void use_errors(struct findings* found) {
  char message[512] = "";
  iap_policy* policy = NULL;
  iap_env* env = NULL;
  expect(iap_policy_load("/nowhere/x.iap", &policy, message, sizeof message) == IAP_BAD_FILE, "a policy out of nowhere");
  find_text(found, "errors", message);
  expect(iap_policy_load_memory("IAP", 3, &policy, message, sizeof message) == IAP_BAD_FILE, "a policy of three bytes");
  find_text(found, "errors", message);
  expect(iap_env_make("{ name = 'cartpole-swingup', time_limit = -2.5 }", &env, message, sizeof message) == IAP_BAD_ARGUMENT,
         "a negative time limit");
  find_text(found, "errors", message);
  expect(iap_env_make("cartpole-swingup", &env, message, sizeof message) == IAP_OK, "%s", message);
  const float bad = NAN;
  iap_step step = {.size = sizeof step};
  expect(iap_env_step(env, &bad, 1, &step) == IAP_BAD_ARGUMENT, "NaN is no action");
  find_text(found, "errors", iap_env_error(env));
  iap_env_free(env);
}

void use_library(int threads, struct findings* found) {
  found->count = 0;
  use_lua(found);
  use_pictures(found);
  use_world(found, "car-racing");
  use_world(found, "a1-indoor");
  use_world(found, "laikago-grid");
  use_batch(threads, found);
  use_rollouts(threads, found);
  use_errors(found);
}
