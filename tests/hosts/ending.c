/* exit() in one thread while others are in calls. Those that need the library's own objects alone have to go on undisturbed, since
 * these stay; `all` adds calls in TBB and MuJoCo, whose objects exit() destroys under them, and tells how often that ends the host
 * otherwise. usage: ending [all] */
#include <iap.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

enum { hosts = 24, users = 3 };

static void* roll(void* unused) {
  char message[400] = "";
  for (;;) {
    iap_rollouts* rollouts = NULL;
    expect(iap_rollouts_make("{ name = 'cartpole-swingup', time_limit = 200 }",
                             "{ kind = 'script', file = '" HOSTS_FOLDER "/block.lua' }", 2, &rollouts, message,
                             sizeof message) == IAP_OK,
           "%s", message);
    const float parameters[8] = {0};
    double returns[8];
    const iap_rollout_options options = {.size = sizeof options, .seed = 1, .episodes = 1};
    expect(iap_rollouts_run(rollouts, parameters, 8, 1, &options, returns, NULL) == IAP_OK, "%s", iap_rollouts_error(rollouts));
    iap_rollouts_free(rollouts);
  }
  return unused;
}

static void* see(void* unused) {
  static uint8_t rgb[200 * 300 * 3];
  for (;;) {
    iap_env* env = NULL;
    expect(iap_env_make("a1-indoor", &env, NULL, 0) == IAP_OK && iap_env_reset(env, 1) == IAP_OK, "no environment");
    expect(iap_env_draw(env, 200, 300, rgb, 0) == IAP_OK, "%s", iap_env_error(env));
    iap_env_free(env);
  }
  return unused;
}

static void* fail(void* unused) {
  char message[400] = "";
  for (;;) {
    iap_env* env = NULL;
    expect(iap_env_make("{ name = 'cartpole-swinup' }", &env, message, sizeof message) == IAP_BAD_ARGUMENT, "%s", message);
  }
  return unused;
}

int main(int count, char** words) {
  (void)words;
  const int used = count > 1 ? users : 1;
  void* (*const uses[users])(void*) = {fail, roll, see};
  int wrong = 0;
  for (int i = 0; i < hosts; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      for (int k = 0; k < used; ++k) expect(pthread_create(&thread, NULL, uses[k], NULL) == 0, "no thread");
      usleep((useconds_t)(15000 * i));
      exit(7);
    }
    int status = 0;
    for (int waited = 0; waitpid(child, &status, WNOHANG) == 0; ++waited) {
      if (waited == 1000) kill(child, SIGKILL);
      usleep(5000);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 7) continue;
    printf("a host that exits after %d ms ended with status %d\n", 15 * i, status);
    ++wrong;
  }
  printf("%d of %d hosts ended otherwise than they said\n", wrong, hosts);
  return wrong != 0;
}
