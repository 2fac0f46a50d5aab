#pragma once
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "iap.h"

// Objects of the C interface with owners, and the messages of calls that fail.

struct Free {
  void operator()(iap_policy* policy) const { iap_policy_free(policy); }
  void operator()(iap_env* env) const { iap_env_free(env); }
  void operator()(iap_batch* batch) const { iap_batch_free(batch); }
  void operator()(iap_rollouts* rollouts) const { iap_rollouts_free(rollouts); }
};
using OwnedPolicy = std::unique_ptr<iap_policy, Free>;
using OwnedEnv = std::unique_ptr<iap_env, Free>;
using OwnedBatch = std::unique_ptr<iap_batch, Free>;
using OwnedRollouts = std::unique_ptr<iap_rollouts, Free>;

using Message = std::array<char, 400>;

inline OwnedEnv make_env(const std::string& text) {
  iap_env* env = nullptr;
  Message message{};
  const auto status = iap_env_make(text.c_str(), &env, message.data(), message.size());
  INFO(message.data());
  REQUIRE(status == IAP_OK);
  return OwnedEnv(env);
}

inline std::string refused_env(const char* text, iap_status expected = IAP_BAD_ARGUMENT) {
  iap_env* env = nullptr;
  Message message{};
  CHECK(iap_env_make(text, &env, message.data(), message.size()) == expected);
  CHECK(env == nullptr);
  return message.data();
}

inline OwnedBatch make_batch(const std::string& text, std::size_t count, int threads) {
  iap_batch* batch = nullptr;
  Message message{};
  const auto status = iap_batch_make(text.c_str(), count, threads, &batch, message.data(), message.size());
  INFO(message.data());
  REQUIRE(status == IAP_OK);
  return OwnedBatch(batch);
}

inline OwnedRollouts make_rollouts(const char* env, const std::string& policy, int threads) {
  iap_rollouts* rollouts = nullptr;
  Message message{};
  const auto status = iap_rollouts_make(env, policy.c_str(), threads, &rollouts, message.data(), message.size());
  INFO(message.data());
  REQUIRE(status == IAP_OK);
  return OwnedRollouts(rollouts);
}

inline iap_env_spec spec_of(iap_env* env) {
  iap_env_spec spec{.size = sizeof(iap_env_spec)};
  REQUIRE(iap_env_describe(env, &spec) == IAP_OK);
  return spec;
}

/// A folder that goes when the test ends.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("iap_capi_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name, const std::string& content = "") const {
    const auto path = path_ / name;
    if (!content.empty()) std::ofstream(path) << content;
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

/// A MuJoCo task in Lua whose simulation becomes unstable in its first step.
inline std::string unstable_task() {
  return R"(local model = [[<mujoco><worldbody><body><joint name="z" type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="z" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]]
return { model = model, reset = function(data) data.qvel.z = 1e11 end, reward = function() return 1 end }
)";
}

/// An environment in Lua of one value and one action whose second reset fails, as does what is seen after an action of 1.
inline std::string fails_at_times() {
  return R"(return function(options)
  local self = { spec = { action_size = 1, vector = 1 } }
  local resets, blind = 0, false
  function self:reset()
    resets, blind = resets + 1, false
    if resets == 2 then error("no second episode") end
  end
  function self:step(action) blind = action[1] == 1 return 0, false, false end
  function self:observe()
    if blind then error("nothing to see") end
    return { resets }
  end
  return self
end
)";
}

/// An environment in Lua of two values and one action; from the third step on it fails if `breaks`.
inline std::string lua_world(bool breaks) {
  return std::string(R"(return function(options)
  local self = { spec = { action_size = 1, vector = 2, max_steps = 4, state_names = { "place", "age" } } }
  local x, age
  function self:reset() x, age = math.random(), 0 end
  function self:step(action)
    x, age = x + action[1], age + 1
)") + (breaks ? "    if age == 3 then error('no further') end\n" : "") +
         "    return x, false, false\n  end\n  function self:observe() return { x, age } end\n  return self\nend\n";
}
