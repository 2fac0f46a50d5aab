/* Exports a function of another libccd, as a program does that has one inside. */
#include <iap.h>
#include <string.h>

#include "host.h"

SHOWN int ccdMPRPenetration(const void* first, const void* second, const void* how, void* depth, void* direction, void* place);
int ccdMPRPenetration(const void* first, const void* second, const void* how, void* depth, void* direction, void* place) {
  (void)first, (void)second, (void)how, (void)depth, (void)direction, (void)place;
  expect(0, "MuJoCo called it");
  return -1;
}

int main(void) {
  char message[512] = "";
  iap_env* env = NULL;
  expect(iap_env_make("cheetah-run", &env, message, sizeof message) != IAP_OK, "it was made");
  expect(strstr(message, "another library is in the way: ccdMPRPenetration of '") && strstr(message, "RTLD_DEEPBIND"), "%s",
         message);
  return 0;
}
