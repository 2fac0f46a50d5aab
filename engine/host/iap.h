/* iap.h - the C interface of iap: run a trained policy inside any program.
 *
 * Every function that can fail returns an iap_status and leaves its outputs untouched unless it returns IAP_OK. There is no
 * global state: different policies may be used from different threads, one policy from one thread at a time.
 */
#ifndef IAP_H
#define IAP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define IAP_API __attribute__((visibility("default")))
#else
#define IAP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iap_status {
  IAP_OK = 0,
  IAP_BAD_ARGUMENT = 1, /* a null pointer, a wrong size, a value that is not finite, a picture of another shape than the policy's */
  IAP_BAD_FILE = 2,     /* missing, damaged, or no policy file */
  IAP_FAILED = 3        /* anything else: out of memory, an error inside a policy written in Lua */
} iap_status;

typedef enum iap_pixel { IAP_UINT8 = 0, IAP_FLOAT32 = 1 } iap_pixel;

/* A picture: height x width x channels, rows top-down, contiguous. uint8 values mean value / 255. */
typedef struct iap_image {
  int32_t height, width, channels;
  iap_pixel pixel;
  const void* data;
} iap_image;

/* What the policy wants to see under one name ("pixels"). */
typedef struct iap_image_spec {
  const char* name; /* valid as long as the policy */
  int32_t height, width, channels;
  iap_pixel pixel;
} iap_image_spec;

/* An attended patch, in pixels of the picture. */
typedef struct iap_patch {
  int32_t top, left, size;
  float score;
} iap_patch;

typedef struct iap_policy iap_policy;

/* "0.1.0" */
IAP_API const char* iap_version(void);

/* Loads a policy file (best.iap, final.iap). On failure `message` (may be null) receives one line that says why. Blocks written in
 * Lua run in a state of their own, which reaches no files and no programs. */
IAP_API iap_status iap_policy_load(const char* path, iap_policy** policy, char* message, size_t message_size);
/* The same from memory. */
IAP_API iap_status iap_policy_load_memory(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size);
/* The same for files that you trust as you trust a program: Lua inside them may do all that this process may. */
IAP_API iap_status iap_policy_load_trusted(const char* path, iap_policy** policy, char* message, size_t message_size);
IAP_API iap_status iap_policy_load_memory_trusted(const void* bytes, size_t size, iap_policy** policy, char* message,
                                                  size_t message_size);
IAP_API void iap_policy_free(iap_policy* policy);

/* One line about the last call on this policy that failed, which names the argument that was wrong; "" if none did. Valid until the
 * next call on it. Of a null policy: "the policy is null". */
IAP_API const char* iap_policy_error(const iap_policy* policy);

IAP_API size_t iap_policy_parameter_count(const iap_policy* policy);
IAP_API size_t iap_policy_action_size(const iap_policy* policy);
IAP_API size_t iap_policy_vector_size(const iap_policy* policy);
IAP_API size_t iap_policy_image_count(const iap_policy* policy);
IAP_API iap_status iap_policy_image(iap_policy* policy, size_t index, iap_image_spec* spec);
/* JSON text of what the file says about its training: environment, seed, return. Valid as long as the policy. */
IAP_API const char* iap_policy_metadata(const iap_policy* policy);

/* Starts an episode: forgets recurrent state. `episode_seed` decides what the policy draws at random within an episode (redrawn
 * projections); most policies draw nothing. */
IAP_API iap_status iap_policy_reset(iap_policy* policy, uint64_t episode_seed);

/* The action for what is seen now: `images` in the order of the specs, `vector` of iap_policy_vector_size values (null if 0).
 * Writes iap_policy_action_size values, in [-1, 1] if the policy ends in tanh. What is seen must be finite. Allocates nothing after
 * the first call. */
IAP_API iap_status iap_policy_act(iap_policy* policy, const iap_image* images, size_t image_count, const float* vector,
                                  size_t vector_size, float* action, size_t action_size);

/* The patches that the last act attended to, best first. `*count` receives how many there are, even if capacity is smaller;
 * `patches` may be null if capacity is 0. */
IAP_API iap_status iap_policy_patches(iap_policy* policy, iap_patch* patches, size_t capacity, size_t* count);

#ifdef __cplusplus
}
#endif

#endif
