/* Simulates with MuJoCo itself and has it call functions of its own: worlds of the library know none of them, and the host's know
   them all the while, in other threads, too. */
#include <iap.h>
#include <mujoco/mujoco.h>
#include <pthread.h>
#include <stdatomic.h>

#include "host.h"
#include "model.h"

static const mjModel* mine; /* the host's model */
static atomic_int calls, foreign;

static void count(const mjModel* model) { ++*(model == mine ? &calls : &foreign); }

static void control(const mjModel* model, mjData* data) {
  count(model);
  if (model->nu > 0) data->ctrl[0] = 0.3;
}

static void passive(const mjModel* model, mjData* data) {
  count(model);
  for (int i = 0; i < model->nv; ++i) data->qfrc_passive[i] -= 0.1 * data->qvel[i];
}

static int filter(const mjModel* model, mjData* data, int a, int b) {
  (void)data, (void)a, (void)b;
  count(model);
  return 1;
}

static void sensor(const mjModel* model, mjData* data, int stage) {
  (void)data, (void)stage;
  count(model);
}

static mjtNum act(const mjModel* model, const mjData* data, int id) {
  (void)data, (void)id;
  count(model);
  return 5;
}

static mjtNum tick(void) {
  ++foreign;
  return 0;
}

static int none(const mjModel* model, const mjData* data, mjContact* contacts, int a, int b, mjtNum margin) {
  (void)data, (void)contacts, (void)a, (void)b, (void)margin;
  count(model);
  return 0;
}

static mjModel* load(void) {
  return load_model(
      "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 .09'><joint name='x' type='slide'/><geom size='.1'/>"
      "</body></worldbody><actuator><motor joint='x'/></actuator></mujoco>");
}

enum { steps = 60, rounds = 3 };

static double play(const char* what) {
  char message[512] = "";
  iap_env* env = NULL;
  iap_env_spec spec = {.size = sizeof spec};
  iap_step step = {.size = sizeof step};
  float action[12];
  double total = 0;
  expect(iap_env_make(what, &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, 1) == IAP_OK && iap_env_describe(env, &spec) == IAP_OK, "%s", iap_env_error(env));
  expect(spec.action_size <= 12, "%zu actions", spec.action_size);
  for (int n = 0; n < steps && !step.terminated; ++n) {
    for (int i = 0; i < 12; ++i) action[i] = (float)((n / 7 + i) % 3 - 1);
    expect(iap_env_step(env, action, spec.action_size, &step) == IAP_OK, "%s", iap_env_error(env));
    total += step.reward;
  }
  iap_env_free(env);
  return total;
}

static const char* const worlds[] = {"cheetah-run", "{ name = 'legged', engine = 'mujoco' }"};
static double alone[2];

static void same_as_alone(const char* what) {
  foreign = 0;
  for (int i = 0; i < 2; ++i) {
    const double total = play(worlds[i]);
    expect(total == alone[i], "%s: return %a with the host's %s, %a alone", worlds[i], total, what, alone[i]);
  }
  expect(foreign == 0, "%s was called %d times for worlds of the library", what, foreign);
}

static atomic_int players;

static void* play_aside(void* unused) {
  for (int round = 0; round < rounds; ++round) same_as_alone("threads");
  --players;
  return unused;
}

/* Steps of the host's model while others play. */
static void step_meanwhile(mjData* data, int calls_a_step) {
  pthread_t threads[2];
  players = 2;
  for (int i = 0; i < 2; ++i) expect(pthread_create(&threads[i], NULL, play_aside, NULL) == 0, "no thread");
  calls = 0;
  int done = 0;
  for (; players > 0; ++done) {
    if (done % 1000 == 0) mj_resetData(mine, data); /* which falls */
    mj_step(mine, data);
  }
  expect(calls == done * calls_a_step, "%d calls of the host's in %d steps", calls, done);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

int main(void) {
  for (int i = 0; i < 2; ++i) alone[i] = play(worlds[i]);
  mine = load();
  mjData* data = mj_makeData(mine);

  mjcb_control = control;
  same_as_alone("mjcb_control");
  expect(mjcb_control == control, "another mjcb_control stayed");
  step_meanwhile(data, 1);
  expect(mjcb_control == control, "another mjcb_control stayed after threads");
  expect(data->ctrl[0] == 0.3, "the host's control is %g", data->ctrl[0]);
  mjcb_control = NULL;
  mjcb_passive = passive;
  same_as_alone("mjcb_passive");
  mjcb_passive = NULL;
  mjcb_contactfilter = filter;
  same_as_alone("mjcb_contactfilter");
  mj_step(mine, data);
  expect(data->ncon == 0, "%d contacts that the host's filter forbids", data->ncon);
  mjcb_contactfilter = NULL;
  mj_step(mine, data);
  expect(data->ncon == 1, "%d contacts without it", data->ncon);
  mjcb_sensor = sensor;
  mjcb_act_dyn = mjcb_act_gain = mjcb_act_bias = act;
  same_as_alone("mjcb_sensor and mjcb_act_*");
  expect(mjcb_sensor == sensor && mjcb_act_dyn == act && mjcb_act_gain == act && mjcb_act_bias == act, "others stayed");
  mjcb_time = tick;
  same_as_alone("mjcb_time");
  mj_resetCallbacks();

  mjfCollision* const place = &mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_SPHERE];
  const mjfCollision before = *place, capsules = mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_CAPSULE];
  mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_CAPSULE] = none;
  *place = none;
  same_as_alone("mjCOLLISIONFUNC");
  expect(*place == none, "another collision stayed");
  step_meanwhile(data, 1);
  expect(*place == none && data->ncon == 0, "%d contacts that the host's table forbids", data->ncon);
  mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_CAPSULE] = *place = NULL;
  same_as_alone("missing collisions");
  step_meanwhile(data, 0);
  expect(data->ncon == 0, "%d contacts of kinds that the host took out", data->ncon);
  mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_CAPSULE] = capsules;
  *place = before;
  same_as_alone("own table");
  mj_step(mine, data);
  expect(data->ncon == 1, "%d contacts as it was", data->ncon);
  mj_deleteData(data);
  mj_deleteModel((mjModel*)mine);
  return 0;
}
