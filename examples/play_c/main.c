/* A C host with a world: plays a trained policy for one episode in the environment that it was trained in, prints every action and
 * writes the last picture, drawn for people.
 * usage: play_c POLICY.iap SEED PICTURE.ppm */
#include <iap.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_IMAGES = 4, HEIGHT = 240, WIDTH = 320 };

static int fail(const char* what) {
  fprintf(stderr, "play_c: %s\n", what);
  return 1;
}

static int write_picture(iap_env* env, const char* path) {
  static uint8_t rgb[HEIGHT * WIDTH * 3];
  if (iap_env_draw(env, HEIGHT, WIDTH, rgb, 0) != IAP_OK) return fail(iap_env_error(env));
  FILE* file = fopen(path, "wb");
  if (!file) return fail("cannot write the picture");
  fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT);
  const size_t written = fwrite(rgb, 1, sizeof rgb, file);
  return fclose(file) == 0 && written == sizeof rgb ? 0 : fail("cannot write the picture");
}

static int play(iap_policy* policy, iap_env* env, uint64_t seed, const char* picture) {
  iap_env_spec spec = {.size = sizeof spec};
  if (iap_env_describe(env, &spec) != IAP_OK) return fail(iap_env_error(env));
  if (spec.image_count > MOST_IMAGES) return fail("the environment shows too many pictures");
  iap_image images[MOST_IMAGES];
  for (int i = 0; i < MOST_IMAGES; ++i) images[i] = (iap_image){.size = sizeof(iap_image)};
  const float* vector = NULL;
  float* action = malloc(spec.action_size * sizeof(float));
  if (!action) return fail("out of memory");
  iap_step step = {.size = sizeof step};
  double total = 0;
  long steps = 0;
  int status = iap_env_reset(env, seed) != IAP_OK ? fail(iap_env_error(env)) : 0;
  if (status == 0 && iap_policy_reset(policy, seed) != IAP_OK) status = fail(iap_policy_error(policy));
  while (status == 0 && !step.terminated && !step.truncated) {
    /* Nothing is copied on the way from the environment to the policy. */
    if (iap_env_observe(env, images, spec.image_count, &vector) != IAP_OK) status = fail(iap_env_error(env));
    if (status == 0 &&
        iap_policy_act(policy, images, spec.image_count, vector, spec.vector_size, action, spec.action_size) != IAP_OK)
      status = fail(iap_policy_error(policy));
    if (status != 0) break;
    printf("%ld", steps++);
    for (size_t i = 0; i < spec.action_size; ++i) printf(",%a", (double)action[i]);
    printf("\n");
    /* Policies act in [-1, 1], which is the range of the environments that iap brings; for another one, map the action to it. */
    if (iap_env_step(env, action, spec.action_size, &step) != IAP_OK) status = fail(iap_env_error(env));
    total += step.reward;
  }
  if (status == 0) status = write_picture(env, picture);
  if (status == 0) fprintf(stderr, "return %g in %ld steps of %g s\n", total, steps, spec.control_dt);
  free(action);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: play_c POLICY.iap SEED PICTURE.ppm\n");
    return 2;
  }
  char message[512];
  iap_policy* policy = NULL;
  iap_env* env = NULL;
  int status = 0;
  if (iap_policy_load(argv[1], &policy, message, sizeof message) != IAP_OK ||
      iap_env_make(iap_policy_env(policy), &env, message, sizeof message) != IAP_OK)
    status = fail(message);
  else
    status = play(policy, env, strtoull(argv[2], NULL, 10), argv[3]);
  iap_env_free(env);
  iap_policy_free(policy);
  return status;
}
