// Simulates with Bullet itself, beside the library: its contact callbacks and its threshold stay its own, and worlds of the library
// know neither. A host that is linked with Bullet in float32 is told so.
#include <btBulletDynamicsCommon.h>
#include <iap.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "host.h"

namespace {

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

double play() {
  char message[512] = "";
  iap_env* env = nullptr;
  iap_step step{};
  step.size = sizeof step;
  const float action[12]{};
  double total = 0;
  expect(iap_env_make("{ name = 'legged', engine = 'bullet' }", &env, message, sizeof message) == IAP_OK, "%s", message);
  expect(iap_env_reset(env, 1) == IAP_OK, "%s", iap_env_error(env));
  iap_env_spec spec{};
  spec.size = sizeof spec;
  expect(iap_env_describe(env, &spec) == IAP_OK && spec.action_size <= 12, "%s", iap_env_error(env));
  for (int i = 0; i < 20 && !step.terminated; ++i) {
    expect(iap_env_step(env, action, spec.action_size, &step) == IAP_OK, "%s", iap_env_error(env));
    total += step.reward;
  }
  iap_env_free(env);
  return total;
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
}
