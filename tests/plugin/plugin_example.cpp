#include "plugin_example.hpp"

#include "plugin/plugin.h"

namespace {

[[maybe_unused]] const ExampleTable table{[](int value) { return 2 * value; }};

}  // namespace

#if defined(PLUGIN_RIGHT)
const iap_plugin_head iap_plugin{"example", 7, &table};
#elif defined(PLUGIN_OLD)
const iap_plugin_head iap_plugin{"example", 6, &table};
#elif defined(PLUGIN_OTHER)
const iap_plugin_head iap_plugin{"another", 7, &table};
#endif
