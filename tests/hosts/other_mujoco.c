/* Exports functions of another MuJoCo, as a program does that is linked with it. */
#include <iap.h>
#include <string.h>

#include "host.h"

SHOWN int mj_version(void);
int mj_version(void) { return 9999; }

SHOWN void* mj_loadXML(const char* path, const void* files, char* message, int size);
void* mj_loadXML(const char* path, const void* files, char* message, int size) {
  (void)path, (void)files, (void)message, (void)size;
  expect(0, "the library called it");
  return NULL;
}

int main(void) {
  char message[512] = "";
  iap_env* env = NULL;
  expect(iap_env_make("cheetah-run", &env, message, sizeof message) != IAP_OK, "it was made");
  expect(strstr(message, "another MuJoCo is in the way: version 9999") && strstr(message, "RTLD_DEEPBIND"), "%s", message);
  return 0;
}
