/* Loads a policy file with and without trust, from its path and from memory, and lets it act once; prints what each try says.
 * usage: trust_host POLICY.iap */
#include <iap.h>
#include <stdio.h>

static char bytes[1 << 16];

static void act(const char* how, iap_status loaded, iap_policy* policy, const char* message) {
  float vector[16] = {0}, action[16];
  if (loaded != IAP_OK) {
    printf("%s: not loaded: %s\n", how, message);
    return;
  }
  const iap_status acted =
      iap_policy_act(policy, NULL, 0, vector, iap_policy_vector_size(policy), action, iap_policy_action_size(policy));
  if (acted == IAP_OK)
    printf("%s: acts %g\n", how, (double)action[0]);
  else
    printf("%s: loaded, then: %s\n", how, iap_policy_error(policy));
  iap_policy_free(policy);
}

int main(int argc, char** argv) {
  char message[512] = "";
  iap_policy* policy = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  iap_status status = iap_policy_load(argv[1], &policy, message, sizeof message);
  act("load", status, policy, message);
  status = iap_policy_load_memory(bytes, size, &policy, message, sizeof message);
  act("load_memory", status, policy, message);
  status = iap_policy_load_trusted(argv[1], &policy, message, sizeof message);
  act("load_trusted", status, policy, message);
  status = iap_policy_load_memory_trusted(bytes, size, &policy, message, sizeof message);
  act("load_memory_trusted", status, policy, message);
  return 0;
}
