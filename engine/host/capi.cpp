#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// What the caller got wrong, as against what failed inside.
class BadArgument : public iap::Error {
 public:
  using iap::Error::Error;
};

void copy_message(std::string_view text, char* message, std::size_t size) {
  if (!message || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

/// Runs `body`; no exception leaves. `keep` stores the message; `on_error` is the status of an Error that is no BadArgument.
template <typename Body, typename Keep>
iap_status guarded(iap_status on_error, Body body, Keep keep) noexcept {
  try {
    body();
    return IAP_OK;
  } catch (const BadArgument& error) {
    keep(error.what());
    return IAP_BAD_ARGUMENT;
  } catch (const iap::Error& error) {
    keep(error.what());
    return on_error;
  } catch (const std::bad_alloc&) {
    keep("out of memory");
    return IAP_FAILED;
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
  return guarded(IAP_FAILED, body, [policy](const char* text) noexcept {
    try {
      policy->error = text;
    } catch (...) {
      policy->error.clear();
    }
  });
}

template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw BadArgument(iap::text(parts...));
}

void adopt(iap::PolicyFile file, iap_policy** out) {
  const std::size_t images = file.policy.observation().images.size();
  *out = new iap_policy{std::move(file.policy), iap::to_json(file.metadata), std::vector<iap::ImageView>(images), {}};
}

/// `function`, `input` and `name`: the function, its first argument and what that is called.
template <typename Load>
iap_status load(const char* function, const void* input, const char* name, iap_policy** out, char* message, std::size_t size,
                Load read) noexcept {
  return guarded(
      IAP_BAD_FILE,
      [&] {
        require(input, function, ": '", name, "' is null");
        require(out, function, ": 'policy' is null; it receives the policy");
        iap::register_lua_blocks();
        adopt(read(), out);
      },
      [&](const char* text) noexcept { copy_message(text, message, size); });
}

iap_status load_path(const char* function, const char* path, iap_policy** policy, char* message, std::size_t size,
                     iap::Trust trust) noexcept {
  return load(function, path, "path", policy, message, size, [path, trust] { return iap::read_policy_file(path, trust); });
}

iap_status load_memory(const char* function, const void* bytes, std::size_t count, iap_policy** policy, char* message,
                       std::size_t size, iap::Trust trust) noexcept {
  return load(function, bytes, "bytes", policy, message, size, [bytes, count, trust] {
    return iap::load_policy({static_cast<const char*>(bytes), count}, "policy in memory", trust);
  });
}

std::string counted(std::size_t count, const char* what) { return iap::text(count, " ", what, count == 1 ? "" : "s"); }

const char* name_of(iap::PixelType type) { return type == iap::PixelType::uint8 ? "uint8" : "float32"; }

iap_pixel pixel_of(iap::PixelType type) { return type == iap::PixelType::uint8 ? IAP_UINT8 : IAP_FLOAT32; }

/// Reads the bytes: an enumeration that holds something else must not be loaded as one.
iap::PixelType pixel_type(const iap_image& image, std::size_t index) {
  std::underlying_type_t<iap_pixel> pixel;
  std::memcpy(&pixel, &image.pixel, sizeof pixel);
  require(pixel == IAP_UINT8 || pixel == IAP_FLOAT32, "iap_policy_act: 'images[", index, "].pixel' is ", pixel,
          "; give IAP_UINT8 or IAP_FLOAT32");
  return pixel == IAP_FLOAT32 ? iap::PixelType::float32 : iap::PixelType::uint8;
}

/// The position of the first value that is NaN or infinite, or values.size(). The first loop has no exit, so that it is vectorised.
std::size_t first_not_finite(std::span<const float> values) {
  unsigned bad = 0;
  for (const float value : values) bad |= static_cast<unsigned>((std::bit_cast<std::uint32_t>(value) & 0x7f800000U) == 0x7f800000U);
  if (!bad) return values.size();
  return static_cast<std::size_t>(std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); }) -
                                  values.begin());
}

iap::ImageView view_of(const iap_image& image, const iap::ImageSpec& spec, std::size_t index) {
  const iap::ImageShape shape{image.height, image.width, image.channels, pixel_type(image, index)};
  require(shape == spec.shape, "iap_policy_act: 'images[", index, "]' is ", shape.height, " x ", shape.width, " x ", shape.channels,
          " ", name_of(shape.type), "; the policy sees '", spec.name, "' as ", spec.shape.height, " x ", spec.shape.width, " x ",
          spec.shape.channels, " ", name_of(spec.shape.type));
  require(image.data, "iap_policy_act: 'images[", index, "].data' is null (the image '", spec.name, "')");
  const iap::ImageView view{shape, image.data};
  if (shape.type == iap::PixelType::float32) {
    const std::span pixels(view.floats(), shape.count());
    const std::size_t bad = first_not_finite(pixels);
    if (bad < pixels.size())
      throw BadArgument(
          iap::text("iap_policy_act: 'images[", index, "].data' holds ", pixels[bad], " as value ", bad, "; give finite values"));
  }
  return view;
}

}  // namespace

extern "C" {

const char* iap_version(void) { return IAP_VERSION; }

iap_status iap_policy_load(const char* path, iap_policy** policy, char* message, size_t message_size) {
  return load_path("iap_policy_load", path, policy, message, message_size, iap::Trust::no);
}

iap_status iap_policy_load_trusted(const char* path, iap_policy** policy, char* message, size_t message_size) {
  return load_path("iap_policy_load_trusted", path, policy, message, message_size, iap::Trust::yes);
}

iap_status iap_policy_load_memory(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size) {
  return load_memory("iap_policy_load_memory", bytes, size, policy, message, message_size, iap::Trust::no);
}

iap_status iap_policy_load_memory_trusted(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size) {
  return load_memory("iap_policy_load_memory_trusted", bytes, size, policy, message, message_size, iap::Trust::yes);
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
    require(spec, "iap_policy_image: 'spec' is null; it receives the description");
    require(index < images.size(), "iap_policy_image: 'index' is ", index, "; the policy sees ", counted(images.size(), "image"));
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
    const auto values = static_cast<size_t>(policy->policy.observation().vector);
    const auto actions = static_cast<size_t>(policy->policy.action_size());
    require(images || specs.empty(), "iap_policy_act: 'images' is null; the policy sees ", counted(specs.size(), "image"));
    require(image_count == specs.size(), "iap_policy_act: 'image_count' is ", image_count, "; the policy sees ",
            counted(specs.size(), "image"));
    require(vector || values == 0, "iap_policy_act: 'vector' is null; the policy sees ", counted(values, "value"));
    require(vector_size == values, "iap_policy_act: 'vector_size' is ", vector_size, "; the policy sees ",
            counted(values, "value"));
    require(action, "iap_policy_act: 'action' is null; it receives ", counted(actions, "value"));
    require(action_size == actions, "iap_policy_act: 'action_size' is ", action_size, "; the policy writes ",
            counted(actions, "value"));
    for (size_t i = 0; i < image_count; ++i) policy->images[i] = view_of(images[i], specs[i], i);
    const std::span<const float> seen(vector, values);
    if (const size_t bad = first_not_finite(seen); bad < values)
      throw BadArgument(iap::text("iap_policy_act: 'vector' holds ", seen[bad], " as value ", bad, "; give finite values"));
    const auto chosen = policy->policy.act({policy->images, seen});
    if (const size_t bad = first_not_finite(chosen); bad < chosen.size())
      throw iap::Error(iap::text("iap_policy_act: the policy gave ", chosen[bad], " as action ", bad));
    std::ranges::copy(chosen, action);
  });
}

iap_status iap_policy_patches(iap_policy* policy, iap_patch* patches, size_t capacity, size_t* count) {
  return on_policy(policy, [&] {
    require(count, "iap_policy_patches: 'count' is null; it receives the number of patches");
    require(patches || capacity == 0, "iap_policy_patches: 'patches' is null, but 'capacity' is ", capacity);
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
