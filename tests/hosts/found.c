/* Prints what a use finds: what hosts with more in them are compared with. */
#include "host.h"

int main(void) {
  struct findings found;
  use_library(2, &found);
  for (size_t i = 0; i < found.count; ++i) printf("%s %llx\n", found.at[i].what, (unsigned long long)found.at[i].bits);
  return 0;
}
