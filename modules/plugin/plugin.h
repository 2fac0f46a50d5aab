#pragma once
#include <stdint.h>

/// What a plugin looks like from outside: a shared library libiap-NAME.so that exports one object, `iap_plugin`. Functions of its
/// table let no exception out.
extern "C" {

struct iap_plugin_head {
  const char* name;   ///< "live" of libiap-live.so
  uint32_t version;   ///< of the table: raised with each change of its functions
  const void* table;  ///< functions, in the struct that plugin and user share
};

__attribute__((visibility("default"))) extern const struct iap_plugin_head iap_plugin;
}
