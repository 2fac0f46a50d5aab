#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iap.h"
import iap.core;
import iap.policy;
import iap.script;

struct iap_policy {
  iap::Policy policy;
  std::string metadata;
  std::vector<iap::ImageView> images;
  std::string error;
};

namespace {

void copy_message(std::string_view text, char* message, std::size_t size) {
  if (!message || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

/// Runs `body`, which returns IAP_OK or throws; no exception leaves. `keep` stores the message.
template <typename Body, typename Keep>
iap_status guarded(iap_status on_error, Body body, Keep keep) noexcept {
  try {
    body();
    return IAP_OK;
  } catch (const iap::Error& error) {
    keep(error.what());
    return on_error;
  } catch (const std::exception& error) {
    keep(error.what());
    return IAP_FAILED;
  } catch (...) {
    keep("unknown failure");
    return IAP_FAILED;
  }
}

template <typename Body>
iap_status on_policy(iap_policy* policy, Body body) noexcept {
  if (!policy) return IAP_BAD_ARGUMENT;
  return guarded(IAP_BAD_ARGUMENT, body, [policy](const char* text) noexcept {
    try {
      policy->error = text;
    } catch (...) {
      policy->error.clear();
    }
  });
}

void adopt(iap::PolicyFile file, iap_policy** out) {
  const std::size_t images = file.policy.observation().images.size();
  *out = new iap_policy{std::move(file.policy), iap::to_json(file.metadata), std::vector<iap::ImageView>(images), {}};
}

template <typename Load>
iap_status load(iap_policy** out, char* message, std::size_t size, Load read) noexcept {
  if (!out) {
    copy_message("iap_policy_load: the output pointer is null", message, size);
    return IAP_BAD_ARGUMENT;
  }
  iap::register_lua_blocks();
  return guarded(IAP_BAD_FILE, [&] { adopt(read(), out); }, [&](const char* text) noexcept { copy_message(text, message, size); });
}

iap_pixel pixel_of(iap::PixelType type) { return type == iap::PixelType::uint8 ? IAP_UINT8 : IAP_FLOAT32; }

iap::ImageView view_of(const iap_image& image, const iap::ImageSpec& spec) {
  const iap::PixelType type = image.pixel == IAP_FLOAT32 ? iap::PixelType::float32 : iap::PixelType::uint8;
  const iap::ImageShape shape{image.height, image.width, image.channels, type};
  if (!image.data) throw iap::Error(iap::text("image '", spec.name, "' has no data"));
  if (shape != spec.shape)
    throw iap::Error(iap::text("image '", spec.name, "' is ", image.height, " x ", image.width, " x ", image.channels,
                               image.pixel == IAP_FLOAT32 ? " float32" : " uint8", "; the policy sees ", spec.shape.height, " x ",
                               spec.shape.width, " x ", spec.shape.channels,
                               spec.shape.type == iap::PixelType::float32 ? " float32" : " uint8"));
  return {shape, image.data};
}

iap_status load_path(const char* path, iap_policy** policy, char* message, size_t size, iap::Trust trust) noexcept {
  if (!path) {
    copy_message("iap_policy_load: the path is null", message, size);
    return IAP_BAD_ARGUMENT;
  }
  return load(policy, message, size, [path, trust] { return iap::read_policy_file(path, trust); });
}

iap_status load_memory(const void* bytes, size_t count, iap_policy** policy, char* message, size_t size,
                       iap::Trust trust) noexcept {
  if (!bytes) {
    copy_message("iap_policy_load_memory: the bytes are null", message, size);
    return IAP_BAD_ARGUMENT;
  }
  return load(policy, message, size,
              [&] { return iap::load_policy({static_cast<const char*>(bytes), count}, "policy in memory", trust); });
}

}  // namespace

extern "C" {

const char* iap_version(void) { return IAP_VERSION; }

iap_status iap_policy_load(const char* path, iap_policy** policy, char* message, size_t message_size) {
  return load_path(path, policy, message, message_size, iap::Trust::no);
}

iap_status iap_policy_load_trusted(const char* path, iap_policy** policy, char* message, size_t message_size) {
  return load_path(path, policy, message, message_size, iap::Trust::yes);
}

iap_status iap_policy_load_memory(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size) {
  return load_memory(bytes, size, policy, message, message_size, iap::Trust::no);
}

iap_status iap_policy_load_memory_trusted(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size) {
  return load_memory(bytes, size, policy, message, message_size, iap::Trust::yes);
}

void iap_policy_free(iap_policy* policy) { delete policy; }

const char* iap_policy_error(const iap_policy* policy) { return policy ? policy->error.c_str() : "the policy is null"; }
const char* iap_policy_metadata(const iap_policy* policy) { return policy ? policy->metadata.c_str() : ""; }
size_t iap_policy_parameter_count(const iap_policy* policy) { return policy ? policy->policy.size() : 0; }
size_t iap_policy_action_size(const iap_policy* policy) { return policy ? static_cast<size_t>(policy->policy.action_size()) : 0; }
size_t iap_policy_image_count(const iap_policy* policy) { return policy ? policy->policy.observation().images.size() : 0; }
size_t iap_policy_vector_size(const iap_policy* policy) {
  return policy ? static_cast<size_t>(policy->policy.observation().vector) : 0;
}

iap_status iap_policy_image(iap_policy* policy, size_t index, iap_image_spec* spec) {
  return on_policy(policy, [&] {
    const auto& images = policy->policy.observation().images;
    if (!spec) throw iap::Error("iap_policy_image: the output pointer is null");
    if (index >= images.size())
      throw iap::Error(iap::text("the policy sees ", images.size(), " images; there is no image ", index));
    const auto& image = images[index];
    *spec = {image.name.c_str(), image.shape.height, image.shape.width, image.shape.channels, pixel_of(image.shape.type)};
  });
}

iap_status iap_policy_reset(iap_policy* policy, uint64_t episode_seed) {
  return on_policy(policy, [&] { policy->policy.reset(episode_seed); });
}

iap_status iap_policy_act(iap_policy* policy, const iap_image* images, size_t image_count, const float* vector, size_t vector_size,
                          float* action, size_t action_size) {
  return on_policy(policy, [&] {
    const auto& specs = policy->policy.observation().images;
    if (image_count != specs.size() || (image_count > 0 && !images))
      throw iap::Error(iap::text("got ", images ? image_count : 0, " images; the policy sees ", specs.size()));
    if (vector_size > 0 && !vector) throw iap::Error(iap::text("the vector is null but its size is ", vector_size));
    if (!action || action_size != static_cast<size_t>(policy->policy.action_size()))
      throw iap::Error(iap::text("the action buffer holds ", action ? action_size : 0, " values; the policy writes ",
                                 policy->policy.action_size()));
    for (size_t i = 0; i < image_count; ++i) policy->images[i] = view_of(images[i], specs[i]);
    std::ranges::copy(policy->policy.act({policy->images, {vector, vector_size}}), action);
  });
}

iap_status iap_policy_patches(iap_policy* policy, iap_patch* patches, size_t capacity, size_t* count) {
  return on_policy(policy, [&] {
    if (!count || (capacity > 0 && !patches)) throw iap::Error("iap_policy_patches: an output pointer is null");
    size_t found = 0;
    for (const auto& view : policy->policy.views())
      for (const int index : view.selected) {
        if (found < capacity)
          patches[found] = {index / view.columns * view.stride, index % view.columns * view.stride, view.patch,
                            view.scores[static_cast<size_t>(index)]};
        ++found;
      }
    *count = found;
  });
}

}  // extern "C"
