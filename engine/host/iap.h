/* iap.h - the C interface of iap: trained policies, environments, batches of them and whole rollouts inside any program.
 *
 * Errors. Every function that can fail returns an iap_status and leaves its outputs untouched unless it returns IAP_OK; one line
 * that says why is kept by the object (iap_policy_error and its kin) or, where there is none yet, written to `message`. It is UTF-8
 * that a terminal may show: spaces for line ends and tabs, '?' for other control characters. Of IAP_BAD_ARGUMENT it names the
 * function and the argument, of IAP_BAD_FILE the file. No function ends the process, and no exception leaves one.
 *
 * Which status: a text from which no object can be made is an argument that is bad, whatever the reason; that is also a file that
 * it names (Lua, URDF, pictures) and that is missing or cannot be read, and Lua that fails while the object is made, such as an
 * error in the function that makes an environment. A bad file is the policy file or run folder that the call itself was to read, or
 * the one that it was to write. What goes wrong with an object that was made has failed: errors in a Lua environment's reset, step
 * or observe, or in a Lua block that acts.
 *
 * Threads. There is no global state. Different objects may be used from different threads at the same time; one object by one
 * thread at a time, and not always the same. Batches and rollouts work on threads of their own while a call lasts, and their
 * results do not depend on the number of these. Objects do not survive fork() in the child: make them there. Once the library
 * has made an object, a child may do so whatever other threads were in the middle of: fork() waits until none is at what all share,
 * such as the compiling of a model. It is best not to fork while another thread makes worlds with meshes: a child may wait for ever
 * for its own, if seldom.
 *
 * Structs. Those that may grow begin with `size`, which the caller sets to sizeof the struct: a program goes on to work with later
 * libraries, and a later program with this one. In an array all elements have the same size.
 *
 * Pictures are rows top-down, RGB (or RGB and depth, or one channel) unless told otherwise.
 */
#ifndef IAP_H
#define IAP_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header. */
#define IAP_VERSION_MAJOR 0
/* See IAP_VERSION_MAJOR. */
#define IAP_VERSION_MINOR 2
/* See IAP_VERSION_MAJOR. */
#define IAP_VERSION_PATCH 0
/* All three as a text. */
#define IAP_VERSION_STRING "0.2.0"
/* Grows when programs must be compiled anew; the library's SONAME ends in it. */
#define IAP_ABI_VERSION 1

#if defined(__GNUC__)
/* A function of the library. */
#define IAP_API __attribute__((visibility("default")))
#else
#define IAP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call. */
typedef enum iap_status {
  IAP_OK = 0,           /* it did what it says */
  IAP_BAD_ARGUMENT = 1, /* null, of a wrong size, not finite, a text that nothing can be made of; or a call out of turn */
  IAP_BAD_FILE = 2,     /* a policy file that is missing, damaged or none, or a file that cannot be written */
  IAP_FAILED = 3        /* anything else: out of memory, an error in Lua once the object is made */
} iap_status;

/* `pixel` of a picture. */
enum { IAP_UINT8 = 0, IAP_FLOAT32 = 1 };
/* `order` of a picture. */
enum { IAP_RGB = 0, IAP_BGR = 1 };
/* `fit` of a picture. */
enum { IAP_SAME_SIZE = 0, IAP_RESIZE = 1 };

/* A picture: height x width x channels, of 1 (grey or depth), 3 (RGB) or 4 (RGB and depth) channels. */
typedef struct iap_image {
  size_t size;      /* sizeof(iap_image) */
  int32_t height;   /* rows */
  int32_t width;    /* columns */
  int32_t channels; /* values of a pixel */
  int32_t pixel;    /* IAP_UINT8: values mean value / 255; IAP_FLOAT32: as they are */
  int32_t order;    /* IAP_BGR: blue comes first, as in OpenCV; of no meaning for one channel */
  int32_t fit;      /* a picture of another height or width than the policy's is refused, or with IAP_RESIZE averaged over areas */
  int64_t row_stride; /* bytes from a row to the one below; 0: rows follow one another; negative: they lie upwards in memory */
  const void* data;   /* the first row's first value */
} iap_image;

/* What is seen under one name ("pixels"). */
typedef struct iap_image_spec {
  size_t size;      /* sizeof(iap_image_spec) */
  const char* name; /* valid as long as the object */
  int32_t height;   /* rows */
  int32_t width;    /* columns */
  int32_t channels; /* values of a pixel */
  int32_t pixel;    /* IAP_UINT8 or IAP_FLOAT32 */
} iap_image_spec;

/* An attended patch, in pixels of the picture that the policy sees. */
typedef struct iap_patch {
  int32_t top;  /* its upper edge */
  int32_t left; /* its left edge */
  int32_t size; /* its side */
  int32_t view; /* whose patch: the index of iap_policy_scores */
  float score;  /* larger is more important */
} iap_patch;

/* The scores of all patches of a picture, as one attention block, or one head of it, gave them in the last act. */
typedef struct iap_scores {
  size_t size;         /* sizeof(iap_scores) */
  const char* block;   /* path of the block, such as "1.rank" */
  const char* image;   /* name of the picture */
  int32_t rows;        /* of patches */
  int32_t columns;     /* of patches */
  int32_t patch;       /* its side, pixels */
  int32_t stride;      /* pixels: the patch at (row, column) begins at (row * stride, column * stride) */
  const float* values; /* rows x columns; larger is more important */
} iap_scores;

/* "0.2.0", of the library that is loaded. */
IAP_API const char* iap_version(void);
/* IAP_ABI_VERSION of the library that is loaded. */
IAP_API uint32_t iap_abi_version(void);

/* ---- policies ---- */

/* A policy, and what it remembers of an episode. */
typedef struct iap_policy iap_policy;

/* Loads a policy file (best.iap, final.iap). On failure `message` (may be null) receives one line that says why. Blocks written in
 * Lua run in a state of their own, which reaches no files and no programs. */
IAP_API iap_status iap_policy_load(const char* path, iap_policy** policy, char* message, size_t message_size);
/* The same from memory. */
IAP_API iap_status iap_policy_load_memory(const void* bytes, size_t size, iap_policy** policy, char* message, size_t message_size);
/* The same for files that you trust as you trust a program: Lua inside them may do all that this process may. */
IAP_API iap_status iap_policy_load_trusted(const char* path, iap_policy** policy, char* message, size_t message_size);
/* Both: from memory, of files that you trust. */
IAP_API iap_status iap_policy_load_memory_trusted(const void* bytes, size_t size, iap_policy** policy, char* message,
                                                  size_t message_size);
/* Frees it; null is fine. */
IAP_API void iap_policy_free(iap_policy* policy);

/* One line about the last call on this policy that failed; "" if none did. Valid until the next call on it. Of a null policy: "the
 * policy is null". */
IAP_API const char* iap_policy_error(const iap_policy* policy);

/* How many parameters it has. */
IAP_API size_t iap_policy_parameter_count(const iap_policy* policy);
/* How many values an action has. */
IAP_API size_t iap_policy_action_size(const iap_policy* policy);
/* How many values the vector has that it sees; 0 if none. */
IAP_API size_t iap_policy_vector_size(const iap_policy* policy);
/* How many pictures it sees. */
IAP_API size_t iap_policy_image_count(const iap_policy* policy);
/* How many sets of scores the last act gave: one for each attention block, or head of one; 0 before the first. */
IAP_API size_t iap_policy_view_count(const iap_policy* policy);
/* What picture `index` < iap_policy_image_count must be. */
IAP_API iap_status iap_policy_image(iap_policy* policy, size_t index, iap_image_spec* spec);
/* Seconds from one action to the next in the environment that the policy was built for; 0 if its file does not say, as those of
   programs before 0.2 do not: then the `control_dt` of the environment that iap_policy_env describes says it. */
IAP_API double iap_policy_control_dt(const iap_policy* policy);
/* JSON text of what the file says about its training: environment ("env"), seed, return. Valid as long as the policy. */
IAP_API const char* iap_policy_metadata(const iap_policy* policy);
/* The environment alone, a text for iap_env_make; "" if the file names none. */
IAP_API const char* iap_policy_env(const iap_policy* policy);

/* Starts an episode: forgets recurrent state. `episode_seed` decides what the policy draws at random within an episode (redrawn
 * projections); most policies draw nothing. */
IAP_API iap_status iap_policy_reset(iap_policy* policy, uint64_t episode_seed);

/* The action for what is seen now: `images` in the order of the specs, `vector` of iap_policy_vector_size values (null if 0).
 * Writes iap_policy_action_size values, in [-1, 1] if the policy ends in tanh. What is seen must be finite. Contiguous RGB pictures
 * of the policy's own size are read in place, others copied first. Allocates nothing after the first call. */
IAP_API iap_status iap_policy_act(iap_policy* policy, const iap_image* images, size_t image_count, const float* vector,
                                  size_t vector_size, float* action, size_t action_size);

/* The patches that the last act attended to, best first (of draws, in their order), one view after the other. Those of a `cross`
 * belong to the picture that its keys came from, an earlier one between its updates, and so do its scores. `*count` receives how
 * many there are, even if capacity is smaller; `patches` may be null if capacity is 0. */
IAP_API iap_status iap_policy_patches(iap_policy* policy, iap_patch* patches, size_t capacity, size_t* count);

/* The scores of all patches in the last act, of view `index` < iap_policy_view_count. What `scores` points to is valid until the
 * next call on the policy. */
IAP_API iap_status iap_policy_scores(iap_policy* policy, size_t index, iap_scores* scores);

/* ---- environments ---- */

/* An environment and its present episode. */
typedef struct iap_env iap_env;

/* What an environment promises about itself. Texts and lists are valid as long as the object. */
typedef struct iap_env_spec {
  size_t size;                    /* sizeof(iap_env_spec) */
  const char* name;               /* "cheetah-run" */
  const char* config;             /* JSON of what its options became; a text for iap_env_make that rebuilds it */
  size_t action_size;             /* values of an action */
  float action_low;               /* of every value; what is below is clipped */
  float action_high;              /* of every value; what is above is clipped */
  double control_dt;              /* seconds of simulated time a step */
  int64_t max_steps;              /* time limit in steps; 0 if there is none */
  size_t vector_size;             /* values of the vector that is shown; 0 if none */
  const char* const* state_names; /* what the vector's values are; null where nobody named them */
  size_t image_count;             /* pictures that are shown */
} iap_env_spec;

/* What a step returned. The episode is over when `terminated` or `truncated` is set. */
typedef struct iap_step {
  size_t size;        /* sizeof(iap_step) */
  double reward;      /* of this step */
  int32_t terminated; /* the task itself ended */
  int32_t truncated;  /* cut off by the time limit, or where the environment gives up, such as by early_stop */
  int32_t unstable;   /* the simulation broke down; `terminated` is set too */
} iap_step;

/* Makes the environment that `text` describes: a table as JSON, {"name": "cheetah-run", "pixels": [64, 64]}, or in Lua,
 * { name = "cheetah-run", pixels = { 64, 64 } }, or the name alone. Options are those of iap.env.make. A name that ends in ".lua"
 * is an environment written in Lua; it may do all that this process may. The text itself is data: it calls nothing. */
IAP_API iap_status iap_env_make(const char* text, iap_env** env, char* message, size_t message_size);
/* Frees it; null is fine. */
IAP_API void iap_env_free(iap_env* env);
/* As iap_policy_error. */
IAP_API const char* iap_env_error(const iap_env* env);

/* What it takes and shows. */
IAP_API iap_status iap_env_describe(iap_env* env, iap_env_spec* spec);
/* What picture `index` < image_count is. */
IAP_API iap_status iap_env_image(iap_env* env, size_t index, iap_image_spec* spec);

/* Starts an episode, a function of `seed` alone. Comes first, and again after an episode's end. */
IAP_API iap_status iap_env_reset(iap_env* env, uint64_t seed);
/* Advances by one step. `action` has iap_env_spec.action_size finite values. */
IAP_API iap_status iap_env_step(iap_env* env, const float* action, size_t action_size, iap_step* step);
/* Looks at the present: fills `images` (image_count of them, whose `size` is set; or none, null and 0) and points `*vector` (may be
 * null) at iap_env_spec.vector_size values. Nothing is copied: pictures and vector lie in the engine and are valid until the next
 * call on the environment. The images go to iap_policy_act as they are. An episode whose environment fails here or in a step is
 * over: reset it. */
IAP_API iap_status iap_env_observe(iap_env* env, iap_image* images, size_t image_count, const float** vector);
/* Draws the present at a size for people into `rgb`: height rows of width RGB pixels of 8 bits, `row_stride` bytes apart (0: 3 x
 * width). `height` and `width` are 1 to 16384. A second instance of the environment draws, so that the size has no part in what is
 * observed; from the first drawing to the end of an episode without any, steps take as long again. Where it goes another way, as
 * one that draws random numbers for each pixel may, or where a file that it reads was rewritten since, this fails, and the episode
 * that is stepped goes on. An environment that draws one size only is shown resized. */
IAP_API iap_status iap_env_draw(iap_env* env, int32_t height, int32_t width, uint8_t* rgb, size_t row_stride);

/* ---- batches: environments of one description, stepped together on the engine's threads ---- */

/* Environments that are stepped together. */
typedef struct iap_batch iap_batch;

/* `count` environments as iap_env_make makes one. `threads` 0: all hardware threads. */
IAP_API iap_status iap_batch_make(const char* text, size_t count, int32_t threads, iap_batch** batch, char* message,
                                  size_t message_size);
/* Frees it; null is fine. */
IAP_API void iap_batch_free(iap_batch* batch);
/* As iap_policy_error. */
IAP_API const char* iap_batch_error(const iap_batch* batch);

/* How many environments there are. */
IAP_API size_t iap_batch_count(const iap_batch* batch);
/* What one environment takes and shows. */
IAP_API iap_status iap_batch_describe(iap_batch* batch, iap_env_spec* spec);
/* What picture `index` of one environment is. */
IAP_API iap_status iap_batch_image(iap_batch* batch, size_t index, iap_image_spec* spec);

/* Starts an episode everywhere, in environment i from seeds[i]. */
IAP_API iap_status iap_batch_reset(iap_batch* batch, const uint64_t* seeds, size_t count);
/* Advances every environment: `actions` is count x action_size, `rewards`, `terminated`, `truncated` and `unstable` (may be null)
 * have `count` values each. Where an episode ended in the step before, this step begins the next one instead, as Gymnasium's vector
 * environments do (AutoresetMode.NEXT_STEP): its action is ignored (but has to be finite), its reward 0, its flags are not set, and
 * what is observed is the new episode's beginning. Episode k of environment i, counted from 0, has a seed that follows from
 * seeds[i] and k. If an environment fails, the batch must be reset. */
IAP_API iap_status iap_batch_step(iap_batch* batch, const float* actions, size_t action_count, double* rewards, uint8_t* terminated,
                                  uint8_t* truncated, uint8_t* unstable);
/* As iap_env_observe: the image's data are those of environment 0, followed by the others', `vector` is count x vector_size. The
 * memory stays in place as long as the batch; reset and step write it anew. */
IAP_API iap_status iap_batch_observe(iap_batch* batch, iap_image* images, size_t image_count, const float** vector);

/* ---- rollouts: what parameters of a policy earn, for optimizers of your own ---- */

/* Environments and a policy, on the engine's threads. */
typedef struct iap_rollouts iap_rollouts;

/* Which episodes members play. */
enum {
  IAP_SEEDS_COMMON = 0,    /* in each iteration the same for all: the fairest comparison (option episode_seeds of iap.train) */
  IAP_SEEDS_PAIRS = 1,     /* the same for members 2k and 2k + 1 */
  IAP_SEEDS_OWN = 2,       /* each its own */
  IAP_SEEDS_EVALUATION = 3 /* those of iap.eval and of a run's evaluations, whatever the iteration */
};

/* Which episodes iap_rollouts_run plays. */
typedef struct iap_rollout_options {
  size_t size;        /* sizeof(iap_rollout_options) */
  uint64_t seed;      /* of the run */
  uint32_t iteration; /* of the run; others have other episodes */
  uint32_t episodes;  /* a member; 1 to 16777215, and for all members together at most 100000000, or what memory holds */
  int32_t seeds;      /* IAP_SEEDS_COMMON, ... */
} iap_rollout_options;

/* Rollouts of `policy` in the environment `env`, a text as for iap_env_make. `policy` describes the blocks as a table in JSON or
 * Lua, { kind = "sequence", blocks = { { kind = "mlp", hidden = { 16 } } } }, or is the path of a policy file or run folder; with a
 * path, `env` may be null for the environment that it was trained in. In another one, clocks without a dt of their own go by its
 * time between decisions, and so does what is saved, as in a training that begins at the file. The name of a file that is there is
 * a path, whatever it looks like; "./" before names that others gave keeps them paths in any case. A block in Lua that keeps
 * something from one episode to the next is refused, as by iap.train: it plays a few short made-up episodes first. `threads` 0: all
 * hardware threads. */
IAP_API iap_status iap_rollouts_make(const char* env, const char* policy, int32_t threads, iap_rollouts** rollouts, char* message,
                                     size_t message_size);
/* The same for policy files that you trust as you trust a program. */
IAP_API iap_status iap_rollouts_make_trusted(const char* env, const char* policy, int32_t threads, iap_rollouts** rollouts,
                                             char* message, size_t message_size);
/* Frees it; null is fine. */
IAP_API void iap_rollouts_free(iap_rollouts* rollouts);
/* As iap_policy_error. */
IAP_API const char* iap_rollouts_error(const iap_rollouts* rollouts);

/* How many parameters a member has. */
IAP_API size_t iap_rollouts_parameter_count(const iap_rollouts* rollouts);
/* The parameters that a run of iap.train with this seed begins at. */
IAP_API iap_status iap_rollouts_initial(iap_rollouts* rollouts, uint64_t seed, float* parameters, size_t parameter_count);
/* Those of the policy file; of described blocks, the initial ones of seed 0. */
IAP_API iap_status iap_rollouts_parameters(iap_rollouts* rollouts, float* parameters, size_t parameter_count);

/* Plays `episodes` episodes of each member of a population: `parameters` is members x parameter_count. `returns` and `steps` (may
 * be null) receive members x episodes values. As in iap.train, moments that blocks gather (normalise) take in all episodes but
 * those of IAP_SEEDS_EVALUATION. */
IAP_API iap_status iap_rollouts_run(iap_rollouts* rollouts, const float* parameters, size_t members, size_t parameter_count,
                                    const iap_rollout_options* options, double* returns, uint32_t* steps);
/* Writes a policy file with these parameters and the moments gathered so far, for iap_policy_load, `iap eval` and `iap play`. A
 * name that ends in .lua is refused, and so is a file that a run keeps in its folder. */
IAP_API iap_status iap_rollouts_save(iap_rollouts* rollouts, const char* path, const float* parameters, size_t parameter_count);

#ifdef __cplusplus
}
#endif

#endif
