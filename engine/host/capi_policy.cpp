#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/policy.hpp"
import iap.core;
import iap.env;
import iap.policy;

using namespace iap::host;

extern "C" {

const char* iap_policy_error(const iap_policy* policy) { return policy ? policy->error.c_str() : "the policy is null"; }
const char* iap_policy_metadata(const iap_policy* policy) { return policy ? policy->metadata.c_str() : ""; }
const char* iap_policy_env(const iap_policy* policy) { return policy ? policy->env.c_str() : ""; }
size_t iap_policy_parameter_count(const iap_policy* policy) { return policy ? policy->policy.size() : 0; }
size_t iap_policy_action_size(const iap_policy* policy) { return policy ? static_cast<size_t>(policy->policy.action_size()) : 0; }
size_t iap_policy_image_count(const iap_policy* policy) { return policy ? policy->policy.observation().images.size() : 0; }
size_t iap_policy_vector_size(const iap_policy* policy) {
  return policy ? static_cast<size_t>(policy->policy.observation().vector) : 0;
}
size_t iap_policy_view_count(const iap_policy* policy) {
  size_t count = 0;
  if (policy) guarded([&] { count = policy->policy.views().size(); }, [](const char*) noexcept {});
  return count;
}
double iap_policy_control_dt(const iap_policy* policy) { return policy ? policy->policy.observation().dt : 0; }

iap_status iap_policy_image(iap_policy* policy, size_t index, iap_image_spec* spec) {
  return on(policy, [&] { describe_image("iap_policy_image", "the policy sees", policy->policy.observation(), index, spec); });
}

iap_status iap_policy_reset(iap_policy* policy, uint64_t episode_seed) {
  return on(policy, [&] { policy->policy.reset(episode_seed); });
}

iap_status iap_policy_act(iap_policy* policy, const iap_image* images, size_t image_count, const float* vector, size_t vector_size,
                          float* action, size_t action_size) {
  return on(policy, [&] {
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
    for (size_t i = 0; i < image_count; ++i) {
      const iap_image given = read_struct(element("iap_policy_act", "images", "iap_image", images, i));
      policy->images[i] = policy->readers[i].read("iap_policy_act", given, i);
    }
    const std::span<const float> seen(vector, values);
    if (const size_t bad = iap::first_not_finite(seen); bad < values)
      throw BadArgument(iap::text("iap_policy_act: 'vector' holds ", seen[bad], " as value ", bad, "; give finite values"));
    const auto chosen = policy->policy.act({policy->images, seen});
    if (const size_t bad = iap::first_not_finite(chosen); bad < chosen.size())
      throw iap::Error(iap::text("iap_policy_act: the policy gave ", chosen[bad], " as action ", bad));
    std::ranges::copy(chosen, action);
  });
}

iap_status iap_policy_patches(iap_policy* policy, iap_patch* patches, size_t capacity, size_t* count) {
  return on(policy, [&] {
    require(count, "iap_policy_patches: 'count' is null; it receives the number of patches");
    require(patches || capacity == 0, "iap_policy_patches: 'patches' is null, but 'capacity' is ", capacity);
    size_t found = 0;
    int32_t number = 0;
    for (const auto& view : policy->policy.views()) {
      for (const int index : view.selected) {
        if (found < capacity)
          patches[found] = {index / view.columns * view.stride, index % view.columns * view.stride, view.patch, number,
                            view.scores[static_cast<size_t>(index)]};
        ++found;
      }
      ++number;
    }
    *count = found;
  });
}

iap_status iap_policy_scores(iap_policy* policy, size_t index, iap_scores* scores) {
  return on(policy, [&] {
    check_struct("iap_policy_scores", "'scores'", "iap_scores", scores);
    auto views = policy->policy.views();
    require(index < views.size(), "iap_policy_scores: 'index' is ", index, "; the last act gave ", counted(views.size(), "view"),
            " of scores");
    policy->views = std::move(views);
    const auto& view = policy->views[index];
    fill_struct(scores, {.size = 0,
                         .block = view.block.c_str(),
                         .image = view.image.c_str(),
                         .rows = view.rows,
                         .columns = view.columns,
                         .patch = view.patch,
                         .stride = view.stride,
                         .values = view.scores.data()});
  });
}

}  // extern "C"
