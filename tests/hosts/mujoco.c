/* Simulates with MuJoCo itself, beside the library: its handlers and its allocator stay its own, and so does MuJoCo's way with what
   goes wrong where it set none. */
#include <iap.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "model.h"

enum { header = 64 };

static jmp_buf before_error;
static int errors, warnings;

static void take_error(const char* message) {
  errors += strcmp(message, "the host's") == 0;
  longjmp(before_error, 1);
}

static void take_warning(const char* message) {
  (void)message;
  ++warnings;
}

static int refused; /* the allocation that fails, counted from 1 */

/* No other allocator can free what this one gave. */
static void* allocate(size_t size) {
  if (refused && --refused == 0) return NULL;
  char* block = aligned_alloc(header, (size + 2 * header - 1) / header * header);
  if (!block) return NULL;
  memset(block, 'x', header);
  return block + header;
}

static void release(void* block) {
  if (!block) return;
  char* begin = (char*)block - header;
  expect(*begin == 'x', "a block of somebody else's");
  *begin = 0;
  free(begin);
}

static mjModel* load(void) {
  return load_model("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>");
}

static iap_env* play(void) {
  char message[512] = "";
  iap_env* env = NULL;
  iap_step step = {.size = sizeof step};
  const float action[6] = {0.5F};
  expect(iap_env_make("cheetah-run", &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
  for (int i = 0; i < 3; ++i) expect(iap_env_step(env, action, 6, &step) == IAP_OK, "%s", iap_env_error(env));
  return env;
}

static void with_handlers(void) {
  mju_user_error = take_error;
  mju_user_warning = take_warning;
  mju_user_malloc = allocate;
  mju_user_free = release;
  mjModel* model = load();
  mjData* data = mj_makeData(model);
  char message[512] = "";
  iap_env* none = NULL;
  refused = 1;
  expect(iap_env_make("cartpole-balance", &none, message, sizeof message) != IAP_OK, "made without memory");
  expect(strstr(message, "Could not allocate") != NULL, "%s", message);
  iap_env* env = play();
  expect(warnings == 0, "a warning of the library's");
  if (setjmp(before_error) == 0) mju_error("the host's");
  expect(errors == 1, "%d errors", errors);
  expect(mj_saveLastXML("/dev/null", model, message, sizeof message) == 0, "the library's model was saved as the host's");
  data->qpos[0] = NAN;
  mj_step(model, data);
  expect(warnings == 1, "%d warnings", warnings);
  mj_deleteData(data);
  mj_deleteModel(model);
  iap_env_free(env);
}

static void without_handlers(void) {
  char folder[] = "/tmp/iap-host-XXXXXX", line[100], said[1000] = "";
  expect(mkdtemp(folder) && chdir(folder) == 0, "no folder in /tmp");
  const pid_t child = fork();
  if (child == 0) {
    expect(freopen("/dev/null", "r", stdin) && freopen("/dev/null", "w", stdout), "no /dev/null");
    play();
    mju_warning("the host's warning");
    mju_error("the host's error");
    _exit(2);
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %x", status);
  FILE* log = fopen("MUJOCO_LOG.TXT", "r");
  expect(log, "MuJoCo wrote no log");
  while (fgets(line, sizeof line, log)) strncat(said, line, sizeof said - strlen(said) - 1);
  fclose(log);
  expect(strstr(said, "the host's warning") && strstr(said, "the host's error"), "%s", said);
  expect(unlink("MUJOCO_LOG.TXT") == 0 && chdir("/") == 0 && rmdir(folder) == 0, "more than a log in %s", folder);
}

int main(void) {
  without_handlers();
  with_handlers();
  return 0;
}
