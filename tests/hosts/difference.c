#include "host.h"

const char* difference(const struct findings* a, const struct findings* b) {
  if (a->count != b->count) return "the number of findings";
  for (size_t i = 0; i < a->count; ++i)
    if (a->at[i].bits != b->at[i].bits) return a->at[i].what;
  return NULL;
}
