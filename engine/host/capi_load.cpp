#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "host/policy.hpp"
import iap.core;
import iap.envs;
import iap.policy;
import iap.script;
#include "policy/handed_on.hpp"

using iap::Trust;
using namespace iap::host;

iap_policy::iap_policy(iap::PolicyFile file) : policy(std::move(file.policy)), images(policy.observation().images.size()) {
  const iap::Config handed_on = iap::metadata_handed_on(std::move(file.metadata));
  metadata = iap::to_json(handed_on);
  if (const iap::Config* own = iap::recorded_env(handed_on)) env = iap::to_json(*own);
  for (const auto& image : policy.observation().images) readers.emplace_back(image);
}

namespace {

/// `function`, `input` and `name`: the function, its first argument and what that is called.
template <typename Read>
iap_status load(const char* function, const void* input, const char* name, iap_policy** out, char* message, std::size_t size,
                Read read) noexcept {
  return making(message, size, [&] {
    require(input, function, ": '", name, "' is null");
    require(out, function, ": 'policy' is null; it receives the policy");
    iap::register_lua();
    try {
      *out = new iap_policy(read());
    } catch (const iap::Error& error) {
      throw BadFile(error.what());
    }
  });
}

iap_status load_path(const char* function, const char* path, iap_policy** policy, char* message, std::size_t size,
                     Trust trust) noexcept {
  return load(function, path, "path", policy, message, size, [path, trust] { return iap::read_policy_file(path, trust); });
}

iap_status load_memory(const char* function, const void* bytes, std::size_t count, iap_policy** policy, char* message,
                       std::size_t size, Trust trust) noexcept {
  return load(function, bytes, "bytes", policy, message, size, [bytes, count, trust] {
    return iap::load_policy({static_cast<const char*>(bytes), count}, "policy in memory", trust);
  });
}

}  // namespace

extern "C" {

const char* iap_version(void) { return IAP_VERSION_STRING; }
uint32_t iap_abi_version(void) { return IAP_ABI_VERSION; }

iap_status iap_policy_load(const char* path, iap_policy** policy, char* message, size_t message_size) {
  return load_path("iap_policy_load", path, policy, message, message_size, Trust::no);
}

iap_status iap_policy_load_trusted(const char* path, iap_policy** policy, char* message, size_t message_size) {
  return load_path("iap_policy_load_trusted", path, policy, message, message_size, Trust::yes);
}

iap_status iap_policy_load_memory(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size) {
  return load_memory("iap_policy_load_memory", bytes, size, policy, message, message_size, Trust::no);
}

iap_status iap_policy_load_memory_trusted(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size) {
  return load_memory("iap_policy_load_memory_trusted", bytes, size, policy, message, message_size, Trust::yes);
}

void iap_policy_free(iap_policy* policy) { destroy(policy); }

}  // extern "C"
