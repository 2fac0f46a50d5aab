#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/iap.h"
#include "targets.hpp"

namespace fuzz {
namespace {

/// The input as the choices of a caller who does anything, in any order.
class Choices {
 public:
  explicit Choices(std::string_view input) : input_(input) {}
  bool left() const { return !input_.empty(); }
  std::uint8_t byte() {
    if (input_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(input_.front());
    input_.remove_prefix(1);
    return value;
  }
  std::string text(std::size_t most) {
    const std::size_t size = std::min({std::size_t{byte()}, most, input_.size()});
    std::string value(input_.substr(0, size));
    input_.remove_prefix(size);
    return value;
  }
  float number() {
    constexpr float special[]{
        0, 1, -1, 0.5F, 1e30F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    return special[byte() % std::size(special)];
  }

 private:
  std::string_view input_;
};

struct Free {
  void operator()(iap_policy* policy) const { iap_policy_free(policy); }
  void operator()(iap_env* env) const { iap_env_free(env); }
  void operator()(iap_batch* batch) const { iap_batch_free(batch); }
  void operator()(iap_rollouts* rollouts) const { iap_rollouts_free(rollouts); }
};

/// A status is one of those that there are, and a failure has a line about it.
void expect(iap_status status, const char* message) {
  const bool known = status == IAP_OK || status == IAP_BAD_ARGUMENT || status == IAP_BAD_FILE || status == IAP_FAILED;
  if (known && (status == IAP_OK || (message && *message && !std::strchr(message, '\n')))) return;
  std::fprintf(stderr, "status %d with the message '%s'\n", status, message ? message : "(null)");
  std::abort();
}

class Caller {
 public:
  explicit Caller(std::string_view input) : choices_(input) {}

  void play() {
    for (int calls = 0; choices_.left() && calls < 64; ++calls) call();
  }

 private:
  void call() {
    switch (choices_.byte() % 16) {
      case 0: make_env(); break;
      case 1: make_batch(); break;
      case 2: make_rollouts(); break;
      case 3: load_policy(); break;
      case 4: expect(iap_env_reset(env_.get(), choices_.byte()), iap_env_error(env_.get())); break;
      case 5: step_env(); break;
      case 6: observe_env(); break;
      case 7: describe_env(); break;
      case 8: reset_batch(); break;
      case 9: step_batch(); break;
      case 10: run_rollouts(); break;
      case 11: act(); break;
      case 12: look_at_policy(); break;
      case 13: draw(); break;
      case 14: free_one(); break;
      default: read_texts(); break;
    }
  }

  std::string description() {
    // Some environments take a thousand times as long to make as others, for the pages of their textures.
    static const char* known[]{"{name='legged', time_limit=9}",
                               "{name='reacher-hard', time_limit=1}",
                               R"({"name":"car-racing","pixels":[8,12],"time_limit":1})",
                               "{name='car-racing', pixels={8,12}, time_limit=1}",
                               "{name='reacher-hard', pixels={8,12}, time_limit=1}",
                               "car-racing"};
    const int choice = choices_.byte() % 8;
    if (choice < 6) return known[choice];
    std::string text = choices_.text(40);
    // Files of this machine are no input.
    return text.find(".lua") == std::string::npos && text.find('/') == std::string::npos ? text : "";
  }

  std::vector<float> numbers(std::size_t most = 24) {
    std::vector<float> values(choices_.byte() % most);
    for (float& value : values) value = choices_.number();
    return values;
  }

  template <typename Object, typename Make>
  void make(std::unique_ptr<Object, Free>& object, Make make_it) {
    char message[128];
    Object* made = nullptr;
    const bool silent = choices_.byte() % 4 == 0;
    const iap_status status =
        make_it(choices_.byte() % 16 == 0 ? nullptr : &made, silent ? nullptr : message, silent ? 0 : sizeof message);
    if (!silent) expect(status, message);
    if (made) object.reset(made);
  }

  void make_env() {
    const std::string text = description();
    make(env_, [&](auto** object, char* message, std::size_t size) { return iap_env_make(text.c_str(), object, message, size); });
  }
  void make_batch() {
    const std::string text = description();
    const std::size_t count = choices_.byte() % 4;
    make(batch_, [&](auto** object, char* message, std::size_t size) {
      return iap_batch_make(text.c_str(), count, choices_.byte() % 3, object, message, size);
    });
  }
  void make_rollouts() {
    const std::string text = description();
    const std::string policy = choices_.byte() % 4 ? "{kind='linear', activation='tanh'}" : choices_.text(40);
    if (policy.find('/') != std::string::npos || policy.find('.') != std::string::npos) return;
    make(rollouts_, [&](auto** object, char* message, std::size_t size) {
      return iap_rollouts_make(text.c_str(), policy.c_str(), 1 + choices_.byte() % 2, object, message, size);
    });
  }
  void load_policy() {
    const std::string bytes = resealed(choices_.text(255));
    make(policy_, [&](auto** object, char* message, std::size_t size) {
      return iap_policy_load_memory(bytes.data(), bytes.size(), object, message, size);
    });
  }
  void step_env() {
    const auto action = numbers();
    iap_step step{.size = choices_.byte() % 4 ? sizeof step : choices_.byte() % sizeof step};
    expect(iap_env_step(env_.get(), action.empty() ? nullptr : action.data(), action.size(), &step), iap_env_error(env_.get()));
  }
  void observe_env() {
    std::vector<iap_image> images(choices_.byte() % 3);
    for (auto& image : images) image.size = choices_.byte() % 4 ? sizeof image : choices_.byte() % sizeof image;
    const float* vector = nullptr;
    expect(iap_env_observe(env_.get(), images.data(), images.size(), choices_.byte() % 4 ? &vector : nullptr),
           iap_env_error(env_.get()));
  }
  void describe_env() {
    iap_env_spec spec{.size = choices_.byte() % 4 ? sizeof spec : choices_.byte() % sizeof spec};
    expect(iap_env_describe(env_.get(), &spec), iap_env_error(env_.get()));
    iap_image_spec image{.size = sizeof image};
    expect(iap_env_image(env_.get(), choices_.byte() % 3, &image), iap_env_error(env_.get()));
  }
  void reset_batch() {
    const std::vector<std::uint64_t> seeds(choices_.byte() % 5, choices_.byte());
    expect(iap_batch_reset(batch_.get(), seeds.data(), seeds.size()), iap_batch_error(batch_.get()));
  }
  void step_batch() {
    const auto actions = numbers(5);
    double rewards[4];
    std::uint8_t terminated[4], truncated[4], unstable[4];
    expect(iap_batch_step(batch_.get(), actions.data(), actions.size(), rewards, terminated, truncated,
                          choices_.byte() % 2 ? unstable : nullptr),
           iap_batch_error(batch_.get()));
  }
  void run_rollouts() {
    const std::size_t count = iap_rollouts_parameter_count(rollouts_.get()), members = choices_.byte() % 3;
    if (count > 1000) return;
    std::vector<float> parameters(count * members, choices_.number());
    iap_rollout_options options{.size = sizeof options,
                                .seed = 1,
                                .iteration = choices_.byte(),
                                .episodes = choices_.byte() % 3U,
                                .seeds = choices_.byte() % 6};
    std::vector<double> returns(members * 3);
    const bool fits = choices_.byte() % 4 != 0;
    expect(iap_rollouts_run(rollouts_.get(), parameters.data(), members, fits ? count : 1, &options, returns.data(), nullptr),
           iap_rollouts_error(rollouts_.get()));
  }
  void act() {
    const auto vector = numbers(), action = numbers();
    std::vector<float> written(action);
    expect(iap_policy_act(policy_.get(), nullptr, 0, vector.data(), vector.size(), written.data(), written.size()),
           iap_policy_error(policy_.get()));
  }
  void look_at_policy() {
    std::size_t count = 0;
    iap_patch patches[4];
    expect(iap_policy_patches(policy_.get(), patches, std::size(patches), &count), iap_policy_error(policy_.get()));
    iap_scores scores{.size = sizeof scores};
    expect(iap_policy_scores(policy_.get(), choices_.byte() % 3, &scores), iap_policy_error(policy_.get()));
    iap_image_spec image{.size = sizeof image};
    expect(iap_policy_image(policy_.get(), choices_.byte() % 3, &image), iap_policy_error(policy_.get()));
    expect(iap_policy_reset(policy_.get(), 1), iap_policy_error(policy_.get()));
  }
  void draw() {
    std::vector<std::uint8_t> rgb(32 * 32 * 3);
    const int height = choices_.byte() % 34 - 1, width = choices_.byte() % 34 - 1;
    if (height > 32 || width > 32) return;
    expect(iap_env_draw(env_.get(), height, width, rgb.data(), 0), iap_env_error(env_.get()));
  }
  void free_one() {
    switch (choices_.byte() % 4) {
      case 0: policy_.reset(); break;
      case 1: env_.reset(); break;
      case 2: batch_.reset(); break;
      default: rollouts_.reset(); break;
    }
  }
  void read_texts() {
    for (const char* text :
         {iap_policy_metadata(policy_.get()), iap_policy_env(policy_.get()), iap_policy_error(policy_.get()),
          iap_env_error(env_.get()), iap_batch_error(batch_.get()), iap_rollouts_error(rollouts_.get()), iap_version()})
      if (!text) std::abort();
    (void)(iap_policy_parameter_count(policy_.get()) + iap_policy_action_size(policy_.get()) +
           iap_policy_vector_size(policy_.get()) + iap_policy_image_count(policy_.get()) + iap_policy_view_count(policy_.get()) +
           iap_batch_count(batch_.get()));
  }

  Choices choices_;
  std::unique_ptr<iap_policy, Free> policy_;
  std::unique_ptr<iap_env, Free> env_;
  std::unique_ptr<iap_batch, Free> batch_;
  std::unique_ptr<iap_rollouts, Free> rollouts_;
};

}  // namespace

void play_capi(std::string_view input) { Caller(input).play(); }

}  // namespace fuzz
