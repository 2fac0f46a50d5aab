/* Makes and uses one of each object; any allocation may fail. A call that fails says so, and succeeds when it is
 * made again. Exit code 0: nothing failed; 3: something did, and was told.
 * usage: exhausted POLICY.iap, with tests/faults/shim.c before it */
#include <iap.h>
#include <string.h>

#include "host.h"

enum { size = 2 };

static int failures;

/* Whether a call succeeded; it may fail once. */
static int done(iap_status status, const char* message, int tries) {
  if (status == IAP_OK) return 1;
  ++failures;
  expect(*message, "status %d without a word", status);
  expect(!strchr(message, '\n') && strlen(message) < 500, "not one line: %s", message);
  fprintf(stderr, "%s\n", message);
  expect(tries < 2, "it fails again: %s", message);
  return 0;
}
#define again(object, call, message) \
  for (int tries = 0; !done((call), (message), tries); ++tries) expect(!(object), "a failed call made something")
#define on(call, message) for (int tries = 0; !done((call), (message), tries); ++tries)

static const float seen[size] = {0.25F, -0.5F};
static float parameters[64];

int main(int count, char** words) {
  static char message[512];
  if (count != 2) return 2;
  const char* world = HOSTS_FOLDER "/world.lua";
  iap_policy* policy = NULL;
  again(policy, iap_policy_load(words[1], &policy, message, sizeof message), message);
  float action = 0;
  on(iap_policy_act(policy, NULL, 0, seen, size, &action, 1), iap_policy_error(policy));
  printf("%a\n", (double)action);

  iap_env* env = NULL;
  again(env, iap_env_make(world, &env, message, sizeof message), message);
  iap_step step = {.size = sizeof step};
  for (int episode = 0, left = 3; left > 0 && episode < 4; ++episode) {
    on(iap_env_reset(env, 1), iap_env_error(env));
    for (left = 3; left > 0 && iap_env_step(env, &action, 1, &step) == IAP_OK; --left) continue;
    if (left > 0) done(IAP_FAILED, iap_env_error(env), episode);
  }
  printf("%a\n", step.reward);

  iap_batch* batch = NULL;
  const float actions[2] = {0.5F, -0.5F};
  const uint64_t seeds[2] = {1, 2};
  double rewards[2] = {0};
  uint8_t flags[2][2];
  again(batch, iap_batch_make(world, 2, 1, &batch, message, sizeof message), message);
  for (int turn = 0, over = 0; !over; ++turn) {
    on(iap_batch_reset(batch, seeds, 2), iap_batch_error(batch));
    over = done(iap_batch_step(batch, actions, 2, rewards, flags[0], flags[1], NULL), iap_batch_error(batch), turn);
  }
  printf("%a %a\n", rewards[0], rewards[1]);

  iap_rollouts* rollouts = NULL;
  const iap_rollout_options options = {.size = sizeof options, .seed = 1, .episodes = 1};
  double returns[2] = {0};
  const char* blocks = "{ kind = 'sequence', blocks = { { kind = 'mlp', hidden = { 3 } } } }";
  again(rollouts, iap_rollouts_make(world, blocks, 1, &rollouts, message, sizeof message), message);
  const size_t parameter_count = iap_rollouts_parameter_count(rollouts);
  expect(2 * parameter_count <= sizeof parameters / sizeof *parameters, "%d parameters", (int)parameter_count);
  for (size_t i = 0; i < 2; ++i)
    on(iap_rollouts_initial(rollouts, i, parameters + i * parameter_count, parameter_count), iap_rollouts_error(rollouts));
  on(iap_rollouts_run(rollouts, parameters, 2, parameter_count, &options, returns, NULL), iap_rollouts_error(rollouts));
  printf("%a %a\n", returns[0], returns[1]);

  iap_rollouts_free(rollouts);
  iap_batch_free(batch);
  iap_env_free(env);
  iap_policy_free(policy);
  return failures ? 3 : 0;
}
