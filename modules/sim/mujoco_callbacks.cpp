module;
#include <mujoco/mujoco.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
#include "mujoco_internal.hpp"

namespace iap {
namespace {

// MuJoCo has one of each callback for the whole process. To exchange a host's for none would leave its other threads without its
// controllers for as long; instead functions that ask whose thread it is stand before them while calls of ours are at work.
thread_local int own = 0;

// `place` is MuJoCo's, and `absent` does what MuJoCo does where nothing is there.
template <auto& place, auto absent, typename F = std::remove_reference_t<decltype(place)>>
class Callback;

template <auto& place, auto absent, typename Result, typename... Arguments>
class Callback<place, absent, Result (*)(Arguments...)> {
 public:
  static bool is_set() { return std::atomic_ref(place).load(std::memory_order_relaxed) != nullptr; }

  static void take() {
    const std::atomic_ref present(place);
    auto function = present.load();
    while (function && function != pass) {
      theirs_ = function;
      if (present.compare_exchange_weak(function, pass)) return;
    }
  }

  static void give_back() {
    auto function = &pass;
    std::atomic_ref(place).compare_exchange_strong(function, theirs_);
  }

 private:
  static Result pass(Arguments... arguments) { return own > 0 ? absent(arguments...) : theirs_.load()(arguments...); }

  static inline std::atomic<Result (*)(Arguments...)> theirs_ = nullptr;
};

// MuJoCo filters itself only where nobody else does.
int filtered(const mjModel* m, mjData*, int a, int b) {
  if (!(m->geom_contype[a] & m->geom_conaffinity[b]) && !(m->geom_contype[b] & m->geom_conaffinity[a])) return 1;
  const int first = m->body_weldid[m->geom_bodyid[a]], second = m->body_weldid[m->geom_bodyid[b]];
  if (first == second) return 1;
  if ((m->opt.disableflags & mjDSBL_FILTERPARENT) || first == 0 || second == 0) return 0;
  const auto parent = [m](int body) { return m->body_weldid[m->body_parentid[body]]; };
  return first == parent(second) || second == parent(first);
}

constexpr auto no_work = [](const mjModel*, mjData*) {};
constexpr auto no_term = [](const mjModel*, const mjData*, int) { return mjtNum{0}; };
constexpr auto no_gain = [](const mjModel*, const mjData*, int) { return mjtNum{1}; };

template <typename... Each>
struct List {
  static bool any_set() { return (Each::is_set() || ...); }
  static void take() { (Each::take(), ...); }
  static void give_back() { (Each::give_back(), ...); }
};

using Callbacks = List<Callback<mjcb_passive, no_work>, Callback<mjcb_control, no_work>, Callback<mjcb_contactfilter, filtered>,
                       Callback<mjcb_sensor, [](const mjModel*, mjData*, int) {}>, Callback<mjcb_time, [] { return mjtNum{0}; }>,
                       Callback<mjcb_act_dyn, no_term>, Callback<mjcb_act_gain, no_gain>, Callback<mjcb_act_bias, no_term>>;

constexpr std::size_t pairs = std::size_t{mjNGEOMTYPES} * mjNGEOMTYPES;

mjfCollision& present(std::size_t pair) { return mjCOLLISIONFUNC[pair / mjNGEOMTYPES][pair % mjNGEOMTYPES]; }

using Table = std::array<mjfCollision, pairs>;

// MuJoCo's own, as they are when the library is loaded: nothing else tells them.
const Table& builtin() {
  static const Table table = [] {
    Table copy;
    for (std::size_t pair = 0; pair < pairs; ++pair) copy[pair] = present(pair);
    return copy;
  }();
  return table;
}
[[maybe_unused]] const Table& at_load = builtin();

std::array<std::atomic<mjfCollision>, pairs> theirs;

std::size_t pair_of(const mjModel* m, int a, int b) {
  return static_cast<std::size_t>(m->geom_type[a]) * mjNGEOMTYPES + static_cast<std::size_t>(m->geom_type[b]);
}

int collide(const mjModel* m, const mjData* d, mjContact* contacts, int a, int b, mjtNum margin) {
  const std::size_t pair = pair_of(m, a, b);
  const mjfCollision function = own > 0 ? builtin()[pair] : theirs[pair].load();
  return function ? function(m, d, contacts, a, b, margin) : 0;
}

// Where the host has taken MuJoCo's away. It stays: MuJoCo looks whether a function is there and then calls what is there, between
// which another thread's null would end the process.
int collide_ours_alone(const mjModel* m, const mjData* d, mjContact* contacts, int a, int b, mjtNum margin) {
  return own > 0 ? collide(m, d, contacts, a, b, margin) : 0;
}

bool is_ours(mjfCollision function, std::size_t pair) { return function == builtin()[pair] || function == collide_ours_alone; }

bool collisions_are_ours() {
  if (std::memcmp(mjCOLLISIONFUNC, builtin().data(), sizeof(Table)) == 0) return true;
  for (std::size_t pair = 0; pair < pairs; ++pair)
    if (!is_ours(std::atomic_ref(present(pair)).load(std::memory_order_relaxed), pair)) return false;
  return true;
}

void take_collisions() {
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::atomic_ref place(present(pair));
    mjfCollision function = place.load();
    while (!is_ours(function, pair) && function != collide) {
      if (function) theirs[pair] = function;
      if (place.compare_exchange_weak(function, function ? collide : collide_ours_alone)) break;
    }
  }
}

void give_back_collisions() {
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    mjfCollision function = collide;
    std::atomic_ref(present(pair)).compare_exchange_strong(function, theirs[pair]);
  }
}

constinit ForkMutex mutex;
int alive = 0;  // that took the host's

}  // namespace

OwnCallbacks::OwnCallbacks() noexcept : taken_(Callbacks::any_set() || !collisions_are_ours()) {
  ++own;
  if (!taken_) return;
  const std::lock_guard lock(mutex);
  ++alive;
  Callbacks::take();
  take_collisions();
}

OwnCallbacks::~OwnCallbacks() {
  --own;
  if (!taken_) return;
  const std::lock_guard lock(mutex);
  if (--alive > 0) return;
  Callbacks::give_back();
  give_back_collisions();
}

}  // namespace iap
