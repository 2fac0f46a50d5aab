/* A host with an OpenGL or OpenGL ES context of its own: what it had current, and the API that it chose, are the same whenever a
 * call that draws through OpenGL returns, and what it cleared is still there. */
#include <dlfcn.h>
#include <string.h>

#include "host.h"
#include "iap.h"

/* EGL's and OpenGL's stable interfaces in numbers: a machine that builds this need not have their headers. */
enum {
  no_more = 0x3038,
  surface_type = 0x3033,
  pbuffer = 1,
  renderable_type = 0x3040,
  width_of = 0x3057,
  height_of = 0x3056,
  client_version = 0x3098,
  surfaceless = 0x31DD,
  drawn_to = 0x3059,
  read_from = 0x305A,
  colour = 0x4000,
  rgba = 0x1908,
  bytes = 0x1401
};

static void* egl;
static void* symbol(const char* name) {
  void* found = dlsym(egl, name);
  expect(found, "no %s", name);
  return found;
}
#define EGL(result, name, ...) ((result(*)(__VA_ARGS__))symbol(name))

/* What the host's calls go by. */
struct current {
  size_t api; /* no padding: what is current is compared as memory */
  void *context, *display, *drawn_to, *read_from;
};

static struct current look(void) {
  return (struct current){EGL(unsigned, "eglQueryAPI", void)(), EGL(void*, "eglGetCurrentContext", void)(),
                          EGL(void*, "eglGetCurrentDisplay", void)(), EGL(void*, "eglGetCurrentSurface", int)(drawn_to),
                          EGL(void*, "eglGetCurrentSurface", int)(read_from)};
}

static struct current begun;
static int clears;
static void* function(const char* name) { return EGL(void*, "eglGetProcAddress", const char*)(name); }

static void still_mine(const char* when) {
  const struct current now = look();
  expect(memcmp(&now, &begun, sizeof now) == 0, "another API, context or surface is current %s", when);
  if (!clears) return;
  unsigned char pixel[4] = {0};
  ((void (*)(int, int, int, int, unsigned, unsigned, void*))function("glReadPixels"))(0, 0, 1, 1, rgba, bytes, pixel);
  expect(pixel[0] == 255 && pixel[1] == 0 && pixel[2] == 255, "the host's picture is another %s", when);
}

static void draw(void) {
  char message[400];
  iap_env* env = NULL;
  const char* text = "{ name = 'cartpole-swingup', pixels = { 12, 16 }, render = { path = 'gl' } }";
  expect(iap_env_make(text, &env, message, sizeof message) == IAP_OK, "%s", message);
  still_mine("once an environment is made");
  expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
  still_mine("after a reset");
  const float action = 0;
  iap_step step = {.size = sizeof step};
  expect(iap_env_step(env, &action, 1, &step) == IAP_OK, "%s", iap_env_error(env));
  still_mine("after a step");
  iap_env_free(env);
  still_mine("once the environment is gone");
  iap_batch* batch = NULL;
  expect(iap_batch_make(text, 3, 2, &batch, message, sizeof message) == IAP_OK, "%s", message);
  const uint64_t seeds[] = {1, 2, 3};
  expect(iap_batch_reset(batch, seeds, 3) == IAP_OK, "%s", iap_batch_error(batch));
  still_mine("after a batch's reset");
  iap_batch_free(batch);
  still_mine("once the batch is gone");
}

/* With a context of `api`, of which `bit` says that surfaces take it, then without one. Returns whether this machine has it. */
static int use_beside(void* display, unsigned api, int bit) {
  const int wanted[] = {surface_type, pbuffer, renderable_type, bit, no_more};
  const int size[] = {width_of, 8, height_of, 8, no_more}, version[] = {client_version, 2, no_more};
  void* config = NULL;
  int count = 0;
  if (!EGL(unsigned, "eglBindAPI", unsigned)(api) ||
      !EGL(unsigned, "eglChooseConfig", void*, const int*, void**, int, int*)(display, wanted, &config, 1, &count) || count < 1)
    return 0;
  const int embedded = api == 0x30A0;
  void* context = EGL(void*, "eglCreateContext", void*, void*, void*, const int*)(display, config, NULL, embedded ? version : NULL);
  void* surface = EGL(void*, "eglCreatePbufferSurface", void*, void*, const int*)(display, config, size);
  unsigned (*make_current)(void*, void*, void*, void*) = EGL(unsigned, "eglMakeCurrent", void*, void*, void*, void*);
  if (!context || !surface || !make_current(display, surface, surface, context)) return 0;
  ((void (*)(float, float, float, float))function("glClearColor"))(1, 0, 1, 1);
  ((void (*)(unsigned))function("glClear"))(colour);
  clears = 1;
  begun = look();
  draw();
  make_current(display, NULL, NULL, NULL);
  clears = 0;
  begun = look();
  draw();
  return 1;
}

int main(void) {
  egl = dlopen("libEGL.so.1", RTLD_NOW);
  if (!egl) return skipped;
  void* (*get_display)(unsigned, void*, const int*) = function("eglGetPlatformDisplayEXT");
  void* display = get_display ? get_display(surfaceless, NULL, NULL) : NULL;
  if (!display || !EGL(unsigned, "eglInitialize", void*, int*, int*)(display, NULL, NULL)) return skipped;
  const int plain = use_beside(display, 0x30A2, 8), embedded = use_beside(display, 0x30A0, 4);
  printf("beside OpenGL: %d, beside OpenGL ES: %d\n", plain, embedded);
  return plain || embedded ? 0 : skipped;
}
