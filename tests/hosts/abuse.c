/* Calls that ask for the impossible, beside those that tests/capi makes: each is refused with a line, and none ends the process. */
#include <iap.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host.h"

static char message[512];
static int cases;

static void refused(const char* what, iap_status status, const char* said) {
  ++cases;
  expect(status != IAP_OK && status <= IAP_FAILED, "%s: status %d", what, status);
  expect(said && *said && !strchr(said, '\n'), "%s: '%s'", what, said ? said : "(null)");
}

/* `count` times `part`, and `end`. */
static char* repeated(const char* begin, const char* part, size_t count, const char* end) {
  const size_t width = strlen(part), first = strlen(begin);
  char* text = malloc(first + count * width + strlen(end) + 1);
  expect(text, "no memory for a text");
  memcpy(text, begin, first);
  for (size_t i = 0; i < count; ++i) memcpy(text + first + i * width, part, width);
  strcpy(text + first + count * width, end);
  return text;
}

static void refuse_env(const char* what, const char* text) {
  iap_env* env = NULL;
  refused(what, iap_env_make(text, &env, message, sizeof message), message);
  expect(!env, "%s: something was made", what);
  iap_batch* batch = NULL;
  refused(what, iap_batch_make(text, 2, 2, &batch, message, sizeof message), message);
  iap_rollouts* rollouts = NULL;
  refused(what, iap_rollouts_make(text, "{ kind = 'linear' }", 2, &rollouts, message, sizeof message), message);
  refused(what, iap_rollouts_make("cartpole-swingup", text, 2, &rollouts, message, sizeof message), message);
  expect(!batch && !rollouts, "%s: something was made", what);
}

static void absurd_texts(void) {
  static const struct {
    const char *begin, *part, *end;
    size_t count;
  } texts[] = {
      {"", "[", "", 200000},      {"{\"a\":", "{\"a\":", "1", 50000}, {"", "{", "", 200000},        {"{a=", "{a=", "1", 50000},
      {"{a=", "-", "1}", 200000}, {"{a=", "(", "1", 100000},          {"{a='", "x", "'}", 1 << 18}, {"", "x", "", 1 << 18},
      {"{", "1,", "}", 100000},   {"{\"a\":1", "0", "}", 10000},      {"{a=1", "0", "}", 100000},   {"{a=''", "..''", "}", 100000},
      {"", "\n", "", 200000},     {"{a=", "not ", "1}", 200000},      {"{a=2", "^2", "}", 100000}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    char what[40], *text = repeated(texts[i].begin, texts[i].part, texts[i].count, texts[i].end);
    snprintf(what, sizeof what, "%s%s x %zu", texts[i].begin, texts[i].part, texts[i].count);
    refuse_env(what, text);
    free(text);
  }
  static const char* const options[] = {"{ name = 'cartpole-swingup', pixels = { 1e9, 1e9 } }",
                                        "{ name = 'cartpole-swingup', pixels = { 100000, 100000 } }",
                                        "{ name = 'cartpole-swingup', pixels = { -1, 2^31 } }",
                                        "{ name = 'cartpole-swingup', pixels = { 0/0, 1/0 } }",
                                        "{ name = 'cartpole-swingup', time_limit = 1/0 }",
                                        "{ name = 'cartpole-swingup', time_limit = 0/0 }",
                                        "{ name = 'cartpole-swingup', time_limit = 2^63 }",
                                        "{ name = 'cartpole-swingup', action_repeat = 1e18 }",
                                        "{ name = 'cartpole-swingup', action_repeat = math }",
                                        "{ name = '\\0' }",
                                        "{ name = ('x'):rep(1e9) }",
                                        "{ \"name\": \"cartpole-swingup\", \"time_limit\": 1e999 }",
                                        "\xff\xfe{",
                                        "\x1bLua"};
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i) refuse_env(options[i], options[i]);
}

static void absurd_files(void) {
  iap_policy* policy = NULL;
  static char bytes[1 << 16], path[64];
  write_lua_policy(path);
  FILE* file = fopen(path, "rb");
  const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  expect(size > 100, "no policy file");
  fclose(file);
  for (size_t kept = 0; kept < size; kept += 3) {
    refused("a policy cut short", iap_policy_load_memory(bytes, kept, &policy, message, sizeof message), message);
    char* end = malloc(kept + 1); /* what is read behind the end is seen by valgrind and the address sanitizer */
    memcpy(end, bytes, kept);
    refused("a policy cut short, trusted", iap_policy_load_memory_trusted(end, kept, &policy, message, sizeof message), message);
    free(end);
  }
  for (size_t at = 0; at < size; at += 7) {
    bytes[at] ^= 0x55;
    refused("a policy with a wrong byte", iap_policy_load_memory(bytes, size, &policy, message, sizeof message), message);
    bytes[at] ^= 0x55;
  }
  expect(truncate(path, (off_t)size / 2) == 0, "no half of a file");
  refused("half a file", iap_policy_load(path, &policy, message, sizeof message), message);
  iap_rollouts* rollouts = NULL;
  refused("half a file", iap_rollouts_make(NULL, path, 1, &rollouts, message, sizeof message), message);
  unlink(path);
  static const char* const paths[] = {"/", "/dev", "/proc/self/mem", "/dev/null", "/proc/self/fd", "", "\n", "a\tb"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i)
    refused(paths[i], iap_policy_load(paths[i], &policy, message, sizeof message), message);
  /* What never ends is refused once it is too much, and too much is little here. */
  struct rlimit before;
  const struct rlimit little = {(rlim_t)2 << 30, RLIM_INFINITY};
  expect(getrlimit(RLIMIT_AS, &before) == 0 && setrlimit(RLIMIT_AS, &little) == 0, "no limit");
  refused("/dev/zero", iap_policy_load("/dev/zero", &policy, message, sizeof message), message);
  expect(strstr(message, "memory"), "%s", message);
  expect(setrlimit(RLIMIT_AS, &before) == 0, "no limit");
  char* long_path = repeated("/", "x/", 1 << 20, "");
  refused("a long path", iap_policy_load(long_path, &policy, message, sizeof message), message);
  free(long_path);
  expect(!policy && !rollouts, "something was made");
}

static void absurd_numbers(void) {
  iap_env* env = NULL;
  iap_batch* batch = NULL;
  iap_rollouts* rollouts = NULL;
  const char* pole = "cartpole-swingup";
  static uint8_t rgb[64];
  static float values[64];
  static double returns[64];
  static uint64_t seeds[4];
  refused("batch of all", iap_batch_make(pole, SIZE_MAX, 1, &batch, message, sizeof message), message);
  refused("threads", iap_batch_make(pole, 1, INT32_MIN, &batch, message, sizeof message), message);
  refused("threads", iap_rollouts_make(pole, "{ kind = 'linear' }", INT32_MAX, &rollouts, message, sizeof message), message);
  expect(iap_env_make(pole, &env, message, sizeof message) == IAP_OK && iap_env_reset(env, UINT64_MAX) == IAP_OK, "%s", message);
  refused("a high drawing", iap_env_draw(env, INT32_MAX, 1, rgb, 0), iap_env_error(env));
  refused("a drawing of less", iap_env_draw(env, INT32_MIN, -1, rgb, 0), iap_env_error(env));
  refused("short rows", iap_env_draw(env, 2, 2, rgb, 1), iap_env_error(env));
  iap_step step = {.size = SIZE_MAX};
  refused("a large struct", iap_env_step(env, values, 1, &step), iap_env_error(env));
  step.size = sizeof step;
  refused("many actions", iap_env_step(env, values, SIZE_MAX, &step), iap_env_error(env));
  iap_image_spec spec = {.size = sizeof spec};
  refused("a late image", iap_env_image(env, SIZE_MAX, &spec), iap_env_error(env));
  iap_image image = {.size = sizeof image};
  refused("many images", iap_env_observe(env, &image, SIZE_MAX, NULL), iap_env_error(env));
  iap_env_free(env);
  expect(iap_batch_make(pole, 4, 2, &batch, message, sizeof message) == IAP_OK, "%s", message);
  refused("many seeds", iap_batch_reset(batch, seeds, SIZE_MAX), iap_batch_error(batch));
  expect(iap_batch_reset(batch, seeds, 4) == IAP_OK, "%s", iap_batch_error(batch));
  refused("many actions", iap_batch_step(batch, values, SIZE_MAX / 4 + 2, returns, rgb, rgb, NULL), iap_batch_error(batch));
  iap_batch_free(batch);
  expect(iap_rollouts_make(pole, "{ kind = 'linear' }", 2, &rollouts, message, sizeof message) == IAP_OK, "%s", message);
  const size_t count = iap_rollouts_parameter_count(rollouts);
  iap_rollout_options options = {.size = sizeof options, .episodes = UINT32_MAX};
  refused("many episodes", iap_rollouts_run(rollouts, values, 1, count, &options, returns, NULL), iap_rollouts_error(rollouts));
  options.episodes = 1;
  refused("many members", iap_rollouts_run(rollouts, values, SIZE_MAX, count, &options, returns, NULL),
          iap_rollouts_error(rollouts));
  refused("members that wrap", iap_rollouts_run(rollouts, values, SIZE_MAX / count + 2, count, &options, returns, NULL),
          iap_rollouts_error(rollouts));
  options.size = SIZE_MAX;
  refused("a large struct", iap_rollouts_run(rollouts, values, 1, count, &options, returns, NULL), iap_rollouts_error(rollouts));
  refused("NaN", (values[0] = NAN, iap_rollouts_save(rollouts, "/tmp/none.iap", values, count)), iap_rollouts_error(rollouts));
  values[0] = 0;
  refused("a folder", iap_rollouts_save(rollouts, "/", values, count), iap_rollouts_error(rollouts));
  refused("no path", iap_rollouts_save(rollouts, "", values, count), iap_rollouts_error(rollouts));
  refused("a script's name", iap_rollouts_save(rollouts, "/tmp/none.lua", values, count), iap_rollouts_error(rollouts));
  refused("a device", iap_rollouts_save(rollouts, "/dev/null/x", values, count), iap_rollouts_error(rollouts));
  struct rlimit before;
  const struct rlimit none = {10, RLIM_INFINITY};
  char path[64] = "/tmp/iap-host-XXXXXX";
  const int file = mkstemp(path);
  expect(file >= 0 && getrlimit(RLIMIT_FSIZE, &before) == 0 && setrlimit(RLIMIT_FSIZE, &none) == 0, "no limit");
  refused("a file that may not grow", iap_rollouts_save(rollouts, path, values, count), iap_rollouts_error(rollouts));
  expect(setrlimit(RLIMIT_FSIZE, &before) == 0, "no limit");
  close(file);
  unlink(path);
  iap_rollouts_free(rollouts);
}

int main(void) {
  absurd_texts();
  absurd_files();
  absurd_numbers();
  printf("%d calls refused\n", cases);
  return 0;
}
