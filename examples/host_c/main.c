/* A C host: runs a trained policy over recorded frames, prints every action and the time a frame takes.
 * usage: host_c POLICY.iap FRAMES SEED
 * FRAMES holds, step after step, the picture (uint8, height x width x channels) and the vector (float32) that the policy sees. */
#define _POSIX_C_SOURCE 199309L
#include <iap.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int fail(const char* what) {
  fprintf(stderr, "host_c: %s\n", what);
  return 1;
}

static int drive(iap_policy* policy, FILE* frames, uint64_t seed) {
  iap_image_spec spec = {.size = sizeof spec};
  if (iap_policy_image(policy, 0, &spec) != IAP_OK) return fail(iap_policy_error(policy));
  const size_t pixel = spec.pixel == IAP_UINT8 ? 1 : sizeof(float);
  const size_t image_size = (size_t)spec.height * (size_t)spec.width * (size_t)spec.channels * pixel;
  const size_t vector_size = iap_policy_vector_size(policy), action_size = iap_policy_action_size(policy);
  void* pixels = malloc(image_size);
  float* vector = malloc((vector_size + 1) * sizeof(float));
  float* action = malloc(action_size * sizeof(float));
  double spent = 0;
  long steps = 0;
  int status = 0;
  if (!pixels || !vector || !action || iap_policy_reset(policy, seed) != IAP_OK) status = fail("cannot start the episode");
  const iap_image image = {.size = sizeof image,
                           .height = spec.height,
                           .width = spec.width,
                           .channels = spec.channels,
                           .pixel = spec.pixel,
                           .data = pixels};
  while (status == 0 && fread(pixels, 1, image_size, frames) == image_size &&
         fread(vector, sizeof(float), vector_size, frames) == vector_size) {
    const double start = microseconds();
    if (iap_policy_act(policy, &image, 1, vector, vector_size, action, action_size) != IAP_OK) {
      status = fail(iap_policy_error(policy));
      break;
    }
    spent += microseconds() - start;
    printf("%ld", steps++);
    for (size_t i = 0; i < action_size; ++i) printf(",%a", (double)action[i]);
    printf("\n");
  }
  if (status == 0 && steps > 0) {
    iap_patch best;
    size_t count = 0;
    if (iap_policy_patches(policy, &best, 1, &count) == IAP_OK && count > 0)
      fprintf(stderr, "%zu patches attended; the best at row %d, column %d\n", count, (int)best.top, (int)best.left);
    fprintf(stderr, "%ld frames, %.1f microseconds a frame\n", steps, spent / (double)steps);
  }
  free(pixels);
  free(vector);
  free(action);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: host_c POLICY.iap FRAMES SEED\n");
    return 2;
  }
  char message[512];
  iap_policy* policy = NULL;
  if (iap_policy_load(argv[1], &policy, message, sizeof message) != IAP_OK) return fail(message);
  FILE* frames = fopen(argv[2], "rb");
  int status = frames ? drive(policy, frames, strtoull(argv[3], NULL, 10)) : fail("cannot open the frames");
  if (frames) fclose(frames);
  iap_policy_free(policy);
  return status;
}
