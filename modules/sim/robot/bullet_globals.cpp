module;
#include <btBulletDynamicsCommon.h>
// Bullet's other headers come after its common ones.
#include <BulletCollision/CollisionDispatch/btCompoundCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCompoundCompoundCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <LinearMath/btQuickprof.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.sim;
import iap.core;
#include "bullet_internal.hpp"

// Bullet exports these and declares them in no header.
extern "C++" {
extern btScalar gGjkEpaPenetrationTolerance;
extern bool gContactCalcArea3Points, disableCcd;
}

namespace iap {
namespace {

// What Bullet keeps for the whole process, as worlds of ours have it.
struct Globals {
  btScalar breaking_threshold = .02, margin = .05, penetration_tolerance = 1e-12;
  bool largest_area = true, without_ccd = false;
  ContactAddedCallback added = nullptr;
  ContactDestroyedCallback destroyed = nullptr;
  ContactProcessedCallback processed = nullptr;
  ContactStartedCallback started = nullptr;
  ContactEndedCallback ended = nullptr;
  CalculateCombinedCallback friction = btManifoldResult::calculateCombinedFriction,
                            rolling_friction = btManifoldResult::calculateCombinedRollingFriction,
                            spinning_friction = btManifoldResult::calculateCombinedSpinningFriction,
                            restitution = btManifoldResult::calculateCombinedRestitution,
                            damping = btManifoldResult::calculateCombinedContactDamping,
                            stiffness = btManifoldResult::calculateCombinedContactStiffness;
  btShapePairCallback compound_child = nullptr, compound_children = nullptr;

  void exchange() {
    std::swap(gContactBreakingThreshold, breaking_threshold);
    std::swap(gDbvtMargin, margin);
    std::swap(gGjkEpaPenetrationTolerance, penetration_tolerance);
    std::swap(gContactCalcArea3Points, largest_area);
    std::swap(disableCcd, without_ccd);
    std::swap(gContactAddedCallback, added);
    std::swap(gContactDestroyedCallback, destroyed);
    std::swap(gContactProcessedCallback, processed);
    std::swap(gContactStartedCallback, started);
    std::swap(gContactEndedCallback, ended);
    std::swap(gCalculateCombinedFrictionCallback, friction);
    std::swap(gCalculateCombinedRollingFrictionCallback, rolling_friction);
    std::swap(gCalculateCombinedSpinningFrictionCallback, spinning_friction);
    std::swap(gCalculateCombinedRestitutionCallback, restitution);
    std::swap(gCalculateCombinedContactDampingCallback, damping);
    std::swap(gCalculateCombinedContactStiffnessCallback, stiffness);
    std::swap(gCompoundChildShapePairCallback, compound_child);
    std::swap(gCompoundCompoundChildShapePairCallback, compound_children);
  }
};

// Threads of a host's are in zones of its profiler while ours come and go, and leave each as they entered it: only what ours do is
// not told.
thread_local int own = 0;
std::atomic<btEnterProfileZoneFunc*> enter_theirs = nullptr;
std::atomic<btLeaveProfileZoneFunc*> leave_theirs = nullptr;

void enter_zone(const char* name) {
  if (own == 0) enter_theirs.load()(name);
}

void leave_zone() {
  if (own == 0) leave_theirs.load()();
}

void take_profiler() {
  enter_theirs = btGetCurrentEnterProfileZoneFunc();
  leave_theirs = btGetCurrentLeaveProfileZoneFunc();
  btSetCustomEnterProfileZoneFunc(enter_zone);
  btSetCustomLeaveProfileZoneFunc(leave_zone);
}

void give_back_profiler() {
  btSetCustomEnterProfileZoneFunc(enter_theirs);
  btSetCustomLeaveProfileZoneFunc(leave_theirs);
}

constinit ForkMutex mutex;  // where none is alive
std::atomic<int> alive = 0;
Globals other;

}  // namespace

OwnGlobals::OwnGlobals() {
  ++own;
  for (int n = alive; n > 0;)
    if (alive.compare_exchange_weak(n, n + 1)) return;
  const std::lock_guard lock(mutex);
  if (alive == 0) {
    other.exchange();
    take_profiler();
  }
  ++alive;
}

OwnGlobals::~OwnGlobals() {
  --own;
  for (int n = alive; n > 1;)
    if (alive.compare_exchange_weak(n, n - 1)) return;
  const std::lock_guard lock(mutex);
  if (--alive > 0) return;
  other.exchange();
  give_back_profiler();
}

}  // namespace iap
