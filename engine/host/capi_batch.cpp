#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "host/pictures.hpp"
#include "host/texts.hpp"
import iap.core;
import iap.env;
import iap.rollout;

using namespace iap::host;

struct iap_batch {
  iap_batch(const iap::EnvFactory& factory, std::size_t count, int threads)
      : batch(factory, count, threads), described(batch.spec()) {}

  iap::EnvBatch batch;
  Described described;
  bool begun = false;
  std::string error;
};

namespace {

constexpr std::size_t largest_batch = 65536;

/// @throws BadArgument naming the first action that is not finite.
void check_actions(std::span<const float> actions, std::size_t width) {
  const std::size_t bad = iap::first_not_finite(actions);
  if (bad < actions.size())
    throw BadArgument(iap::text("iap_batch_step: 'actions' holds ", actions[bad], " as value ", bad % width, " of environment ",
                                bad / width, "; give finite values"));
}

}  // namespace

extern "C" {

iap_status iap_batch_make(const char* text, size_t count, int32_t threads, iap_batch** batch, char* message, size_t message_size) {
  return making(message, message_size, [&] {
    require(batch, "iap_batch_make: 'batch' is null; it receives the batch");
    require(count >= 1 && count <= largest_batch, "iap_batch_make: 'count' is ", count, "; give 1 to ", largest_batch);
    const int workers = checked_threads("iap_batch_make", threads);
    const iap::Config config = env_text("iap_batch_make", "text", text);
    *batch = new iap_batch([&] { return make_named_env("iap_batch_make", "text", config); }, count, workers);
  });
}

void iap_batch_free(iap_batch* batch) { destroy(batch); }
const char* iap_batch_error(const iap_batch* batch) { return batch ? batch->error.c_str() : "the batch is null"; }
size_t iap_batch_count(const iap_batch* batch) { return batch ? batch->batch.size() : 0; }

iap_status iap_batch_describe(iap_batch* batch, iap_env_spec* spec) {
  return on(batch, [&] { batch->described.describe("iap_batch_describe", spec); });
}

iap_status iap_batch_image(iap_batch* batch, size_t index, iap_image_spec* spec) {
  return on(batch,
            [&] { describe_image("iap_batch_image", "each environment shows", batch->batch.spec().observation, index, spec); });
}

iap_status iap_batch_reset(iap_batch* batch, const uint64_t* seeds, size_t count) {
  return on(batch, [&] {
    require(seeds, "iap_batch_reset: 'seeds' is null; the batch takes ", counted(batch->batch.size(), "seed"));
    require(count == batch->batch.size(), "iap_batch_reset: 'count' is ", count, "; the batch takes ",
            counted(batch->batch.size(), "seed"));
    batch->begun = false;
    batch->batch.reset({seeds, count});
    batch->begun = true;
  });
}

iap_status iap_batch_step(iap_batch* batch, const float* actions, size_t action_count, double* rewards, uint8_t* terminated,
                          uint8_t* truncated, uint8_t* unstable) {
  return on(batch, [&] {
    const size_t count = batch->batch.size(), width = static_cast<size_t>(batch->batch.spec().action_size);
    require(actions, "iap_batch_step: 'actions' is null; the batch takes ", count, " x ", counted(width, "value"));
    require(action_count == count * width, "iap_batch_step: 'action_count' is ", action_count, "; the batch takes ", count, " x ",
            counted(width, "value"));
    require(rewards, "iap_batch_step: 'rewards' is null; it receives ", counted(count, "value"));
    require(terminated, "iap_batch_step: 'terminated' is null; it receives ", counted(count, "value"));
    require(truncated, "iap_batch_step: 'truncated' is null; it receives ", counted(count, "value"));
    check_actions({actions, action_count}, width);
    require(batch->begun,
            "iap_batch_step: the batch has not been reset, or one of its environments has failed; call iap_batch_reset");
    batch->begun = false;
    const auto results = batch->batch.step({actions, action_count});
    for (size_t i = 0; i < count; ++i) {
      rewards[i] = results[i].reward;
      terminated[i] = results[i].terminated;
      truncated[i] = results[i].truncated;
      if (unstable) unstable[i] = results[i].unstable;
    }
    batch->begun = true;
  });
}

iap_status iap_batch_observe(iap_batch* batch, iap_image* images, size_t image_count, const float** vector) {
  return on(batch, [&] {
    require(batch->begun,
            "iap_batch_observe: the batch has not been reset, or one of its environments has failed; call iap_batch_reset");
    show("iap_batch_observe", batch->batch.spec().observation, {batch->batch.images(), batch->batch.vectors()}, images, image_count,
         vector);
  });
}

}  // extern "C"
