// Simulates with Bullet itself, beside the library: its callbacks, thresholds, profiler and allocator stay its own, and worlds of
// the library know the last alone. A host that is linked with Bullet in float32 is told so.
#include <btBulletDynamicsCommon.h>
// Bullet's other headers come after its common ones.
#include <BulletCollision/CollisionDispatch/btCompoundCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCompoundCompoundCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <LinearMath/btAlignedAllocator.h>
#include <LinearMath/btQuickprof.h>
#include <iap.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "host.h"

// Bullet exports them and declares them in no header.
extern btScalar gGjkEpaPenetrationTolerance;
extern bool gContactCalcArea3Points, disableCcd;

namespace {

constexpr std::size_t header = 64;

/// No other allocator can free what this one gave.
void* allocate(std::size_t size, int) {
  auto* block = static_cast<char*>(std::aligned_alloc(header, (size + 2 * header - 1) / header * header));
  if (!block) return nullptr;
  std::memset(block, 'x', header);
  return block + header;
}

void release(void* block) {
  if (!block) return;
  char* begin = static_cast<char*>(block) - header;
  expect(*begin == 'x', "a block of somebody else's");
  *begin = 0;
  std::free(begin);
}

int added, processed;

bool count_added(btManifoldPoint&, const btCollisionObjectWrapper*, int, int, const btCollisionObjectWrapper*, int, int) {
  ++added;
  return false;
}

bool count_processed(btManifoldPoint&, void*, void*) {
  ++processed;
  return false;
}

void drop_ball() {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, 0, -10});
  btStaticPlaneShape plane({0, 0, 1}, 0);
  btSphereShape sphere(.5);
  btRigidBody ground(0, nullptr, &plane), ball(1, nullptr, &sphere);
  ball.setWorldTransform(btTransform(btQuaternion::getIdentity(), {0, 0, .6F}));
  for (btRigidBody* body : {&ground, &ball}) {
    body->setCollisionFlags(body->getCollisionFlags() | btCollisionObject::CF_CUSTOM_MATERIAL_CALLBACK);
    world.addRigidBody(body);
  }
  added = processed = 0;
  for (int i = 0; i < 100; ++i) world.stepSimulation(.01F, 0);
  expect(added > 0 && processed > 0, "%d contacts added, %d processed", added, processed);
  world.removeRigidBody(&ball);
  world.removeRigidBody(&ground);
}

constexpr int most = 64;

double play(const char* world = "{ name = 'legged', engine = 'bullet' }") {
  char message[512] = "";
  iap_env* env = nullptr;
  iap_step step{};
  step.size = sizeof step;
  float action[most]{};
  double total = 0;
  expect(iap_env_make(world, &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
  iap_env_spec spec{};
  spec.size = sizeof spec;
  expect(iap_env_describe(env, &spec) == IAP_OK && spec.action_size <= most, "%s", iap_env_error(env));
  for (int i = 0; i < 40 && !step.terminated; ++i) {
    for (int k = 0; k < most; ++k) action[k] = static_cast<float>((i * 7 + k * 3) % 11) / 5.5F - 1;
    expect(iap_env_step(env, action, spec.action_size, &step) == IAP_OK, "%s", iap_env_error(env));
    total += step.reward;
  }
  iap_env_free(env);
  return total;
}

std::atomic<int> called;

/// A host's of one kind at a time: the return stays, nobody calls it, and it is still there afterwards.
template <typename T>
void keeps(T& place, T theirs, const char* what, double alone) {
  constexpr auto* world = "laikago-stairs";
  const T before = std::exchange(place, theirs);
  called = 0;
  const double beside = play(world);
  expect(beside == alone, "return %a alone, %a with the host's %s", alone, beside, what);
  expect(called == 0, "%s was called %d times for worlds of the library", what, called.load());
  expect(place == theirs, "another %s stayed", what);
  place = before;
}

void keeps_each() {
  const double alone = play("laikago-stairs");
  const CalculateCombinedCallback much = [](const btCollisionObject*, const btCollisionObject*) {
    ++called;
    return btScalar(9);
  };
  const btShapePairCallback never = [](const btCollisionShape*, const btCollisionShape*) {
    ++called;
    return false;
  };
  keeps(gCalculateCombinedFrictionCallback, much, "friction", alone);
  keeps(gCalculateCombinedRollingFrictionCallback, much, "rolling friction", alone);
  keeps(gCalculateCombinedSpinningFrictionCallback, much, "spinning friction", alone);
  keeps(gCalculateCombinedRestitutionCallback, much, "restitution", alone);
  keeps(gCalculateCombinedContactDampingCallback, much, "damping", alone);
  keeps(gCalculateCombinedContactStiffnessCallback, much, "stiffness", alone);
  keeps(gCompoundChildShapePairCallback, never, "filter of children", alone);
  keeps(gCompoundCompoundChildShapePairCallback, never, "filter of pairs of children", alone);
  keeps(gGjkEpaPenetrationTolerance, btScalar(.1), "penetration tolerance", alone);
  keeps(gContactCalcArea3Points, false, "choice of contacts", alone);
  keeps(disableCcd, true, "continuous collision", alone);
}

thread_local int depth = 0;
std::atomic<int> entered, strayed;

/// Zones of the host's own thread are told, and end in the one that they began in, while others play.
void keeps_profiler() {
  const auto enter_before = btGetCurrentEnterProfileZoneFunc();
  const auto leave_before = btGetCurrentLeaveProfileZoneFunc();
  const auto enter = [](const char*) {
    ++depth;
    ++entered;
  };
  const auto leave = [] { strayed += --depth < 0; };
  btSetCustomEnterProfileZoneFunc(enter);
  btSetCustomLeaveProfileZoneFunc(leave);
  entered = 0;
  play();
  expect(entered == 0, "%d zones of the library's were told to the host", entered.load());
  std::atomic<bool> over = false;
  std::thread player([&] {
    for (int i = 0; i < 3; ++i) play();
    over = true;
  });
  int zones = 0;
  for (; !over; ++zones) BT_PROFILE("host");
  player.join();
  expect(entered == zones && strayed == 0 && depth == 0, "%d zones of %d, %d strayed, depth %d", entered.load(), zones,
         strayed.load(), depth);
  expect(btGetCurrentEnterProfileZoneFunc() == +enter && btGetCurrentLeaveProfileZoneFunc() == +leave, "another profiler stayed");
  btSetCustomEnterProfileZoneFunc(enter_before);
  btSetCustomLeaveProfileZoneFunc(leave_before);
}

/// Bullet in float32 has functions of the same names.
void refused() {
  char message[512] = "";
  iap_env* env = nullptr;
  expect(iap_env_make("{ name = 'legged', engine = 'bullet' }", &env, message, sizeof message) != IAP_OK, "it was made");
  expect(std::strstr(message, "another Bullet is in the way") && std::strstr(message, "RTLD_DEEPBIND"), "%s", message);
}

}  // namespace

int main() {
  btAlignedAllocSetCustomAligned(allocate, release);
  const bool wide = sizeof(btScalar) == sizeof(double);
  const double alone = wide ? play() : 0;
  gContactAddedCallback = count_added;
  gContactProcessedCallback = count_processed;
  if (!wide) {
    refused();
    drop_ball();
    return 0;
  }
  gContactBreakingThreshold = .2F;
  added = processed = 0;
  const double beside = play();
  expect(added == 0 && processed == 0, "contacts of the library: %d added, %d processed", added, processed);
  expect(alone == beside, "return %a alone, %a beside the host", alone, beside);
  expect(gContactBreakingThreshold == .2F, "threshold %g", gContactBreakingThreshold);
  std::atomic<int> parted = 0;
  std::vector<std::thread> players;
  for (int i = 0; i < 4; ++i) players.emplace_back([&] { parted += play() != alone; });
  for (auto& player : players) player.join();
  expect(parted == 0, "%d of 4 threads have another return", parted.load());
  expect(added == 0 && gContactBreakingThreshold == .2F, "after threads: %d contacts, threshold %g", added,
         gContactBreakingThreshold);
  drop_ball();
  keeps_each();
  keeps_profiler();
}
