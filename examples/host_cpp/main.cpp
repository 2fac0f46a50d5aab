// A C++ host: loads a trained policy, drives its environment for one episode and prints every action.
// usage: host_cpp POLICY.iap SEED [FRAMES]
// FRAMES receives the pictures and vectors that the policy saw, raw, for hosts that have no environment (see ../host_c).
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <span>
import iap;

namespace {

void write_observation(std::ofstream& out, const iap::Observation& observation) {
  for (const auto& image : observation.images) {
    const std::size_t pixel = image.shape.type == iap::PixelType::uint8 ? 1 : sizeof(float);
    out.write(static_cast<const char*>(image.data), static_cast<std::streamsize>(image.shape.count() * pixel));
  }
  out.write(reinterpret_cast<const char*>(observation.vector.data()),
            static_cast<std::streamsize>(observation.vector.size_bytes()));
}

int run(const char* path, std::uint64_t seed, const char* frames) {
  iap::PolicyFile file = iap::read_policy_file(path);
  const auto env = iap::make_env(file.metadata["env"]);
  std::ofstream out;
  if (frames) out.open(frames, std::ios::binary);
  int step = 0;
  const auto observer = [&](const iap::Observation& observation, std::span<const float> action, const iap::Policy&) {
    std::printf("%d", step++);
    for (const float value : action) std::printf(",%a", static_cast<double>(value));
    std::printf("\n");
    if (frames) write_observation(out, observation);
  };
  const iap::Episode episode = iap::run_episode(*env, file.policy, seed, observer);
  std::fprintf(stderr, "return %g in %d steps\n", episode.total, episode.steps);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: host_cpp POLICY.iap SEED [FRAMES]\n");
    return 2;
  }
  try {
    return run(argv[1], std::strtoull(argv[2], nullptr, 10), argc > 3 ? argv[3] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "host_cpp: %s\n", error.what());
    return 1;
  }
}
