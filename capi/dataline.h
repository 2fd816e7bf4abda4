/*
 * dataline.h - the C interface of Dataline, an embeddable data-loading runtime for machine-learning training.
 *
 *   #include <dataline.h>
 *   #include <stdio.h>
 *
 *   int main(int argc, char **argv) {
 *     dl_dataset *dataset = NULL;
 *     dl_loader *loader = NULL;
 *     dl_batch *batch = NULL;
 *     dl_options *options = NULL;
 *     dl_error error = DL_ERROR_INIT;
 *     dl_status status = dl_options_create(&options, &error);
 *     if (status == DL_OK) status = dl_options_set(options, "shuffle", "full", &error);
 *     if (status == DL_OK) status = dl_dataset_open(argc > 1 ? argv[1] : "idx:train", NULL, &dataset, &error);
 *     if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
 *     while (status == DL_OK && (status = dl_loader_next(loader, -1, &batch, &error)) == DL_OK) {
 *       dl_batch_info info = {.struct_size = sizeof info};
 *       status = dl_batch_get_info(batch, &info, &error);
 *       printf("%s: %lld samples\n", dl_batch_views(batch, NULL)[0].name, (long long)info.samples);
 *       dl_batch_release(batch);
 *     }
 *     if (status < 0) fprintf(stderr, "%s\n", error.message);
 *     dl_loader_destroy(loader), dl_dataset_destroy(dataset), dl_options_destroy(options);
 *     return status == DL_END_OF_EPOCH ? 0 : 1;
 *   }
 *
 *   // Prints a ragged field (encoded images, text, tokens). Its samples differ in length and are packed one after
 *   // another. Sample i is rows offsets[i] to offsets[i + 1], exclusive. Here the rank is 1, so a row is an item.
 *   // `samples` is the number of samples in the batch.
 *   static void print_ragged_bytes(const dl_view *field, int64_t samples) {
 *     const uint8_t *rows = (const uint8_t *)field->data + field->byte_offset;
 *     for (int64_t i = 0; i < samples; ++i) {
 *       const uint8_t *sample = rows + field->offsets[i];
 *       int64_t length = field->offsets[i + 1] - field->offsets[i];
 *       printf("sample %lld: %lld bytes, the first is %d\n", (long long)i, (long long)length, length > 0 ? sample[0] : -1);
 *     }
 *   }
 *
 * Conventions. They apply to every function unless its comment states an exception.
 *
 * Status     Functions that can fail return a dl_status: 0 (DL_OK), a positive soft result, or a negative error.
 * Errors     The last parameter of such a function is a dl_error that the caller owns. It may be NULL, and is
 *            written only if the status is negative. There is no other error state: no thread-local variable, and
 *            nothing to free. An error affects only the call: the object stays usable.
 * Outputs    Unless the status is DL_OK, an output pointer is set to NULL and output numbers are left unchanged.
 * Ownership  A pointer returned through `**out` belongs to the caller, who passes it to the matching destroy or
 *            release function. A pointer that a function returns directly is borrowed from the object passed as
 *            the first argument, and lives as long as that object. Arguments are copied unless the comment states
 *            that they are borrowed.
 * Text       Input is UTF-8 and NUL-terminated on every platform, paths included. Output is NUL-terminated and
 *            borrowed.
 * Structs    The caller zeroes a struct and sets its struct_size to sizeof (DL_ERROR_INIT and dl_error_init do
 *            both). Later releases only append members. The library never reads or writes beyond struct_size. If
 *            the library fills the struct, struct_size may be any value of 4 or more. If the host passes the
 *            struct in, the minimum is the struct's size in release 0.2 and the maximum is DL_STRUCT_MAX_BYTES.
 *            Members that an older host does not have count as zero. Members named reserved must be zero. The same
 *            applies to bytes beyond the members that this library knows. If one of them is not zero, the host
 *            uses a feature of a newer release, and the call fails with DL_ERR_UNSUPPORTED. The message names the
 *            struct and the offset.
 * Arrays     All elements of an array of structs have the same struct_size, whichever side passes the array. It is
 *            the distance in bytes from one element to the next (dl_view_at). Never index such an array with [i]:
 *            the other side may have been built with a longer struct.
 * Threading  Any thread may call any function, even while other calls on the same object are in progress. There
 *            are two exceptions. First, two calls on the same dl_options must not overlap. Second, while an object
 *            is being destroyed, no other call on it may be in progress, and none may follow. dl_batch_release
 *            does not count as destroying: each holder of a reference may release it at any time. Concurrent
 *            dl_loader_next calls each return a different batch. A concurrent seek, load or new epoch takes effect
 *            between two batches.
 * Callbacks  The library calls the host only through tables that the host provided. A callback must not throw or
 *            longjmp, and must not call Dataline unless its comment allows it.
 * Numbers    Sizes are in bytes and times in nanoseconds, as the names show. Booleans are int32_t, 0 or 1.
 * Process    The library prints nothing, installs no signal handler (except for fault_guard, see dl_dataset_open),
 *            reads no environment variable and keeps no globals. Do not cancel (pthread_cancel) a thread inside a
 *            call. After fork() a dataset stays usable in the child. A loader or an opening returns DL_ERR_FORKED
 *            there. The child may destroy it.
 *
 * The whole interface is in this one header, so that hosts include one file and authors of bindings read one
 * document.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DATALINE_H
#define DATALINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* DL_API makes a function visible outside the library. Functions use the platform's calling convention for C (x64
 * on Windows: do not include this header under /Gv). A Windows host that links the static library defines
 * DL_STATIC. Other hosts do not define anything. DL_BUILD is used only to build the library itself. */
#ifndef DL_API
#if defined(_WIN32) && defined(DL_STATIC)
#define DL_API
#elif defined(_WIN32) && defined(DL_BUILD)
#define DL_API __declspec(dllexport)
#elif defined(_WIN32)
#define DL_API __declspec(dllimport)
#elif defined(__GNUC__)
#define DL_API __attribute__((visibility("default")))
#else
#define DL_API
#endif
#endif

#if defined(__GNUC__)
#define DL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define DL_MUST_CHECK
#endif

/* ---- Version. Functions exist since 0.2 unless their comments name a later release. ----------------------- */

#define DL_VERSION_MAJOR 0
#define DL_VERSION_MINOR 2
#define DL_VERSION_PATCH 0
/* Incremented when a release could break a program built with an older header. */
#define DL_ABI_VERSION 2

DL_API int32_t dl_version_number(void);     /* The library's version: major * 10000 + minor * 100 + patch. */
DL_API const char* dl_version_string(void); /* The same as text: "0.2.0". */
DL_API int32_t dl_abi_version(void);        /* The library's ABI: compare it with DL_ABI_VERSION. */
/* Describes how the library was built: the optional parts and the compiler, as in
 * `highway mimalloc libjpeg; gcc 12.2.0`. If the build has device kernels, the CUDA version that compiled them and
 * their architectures follow: `; kernels: CUDA 12.0, sm_75 sm_80`. Missing parts come last, each with its cost:
 * `; missing: highway (normalised rows ... slower), libwebp (...)`. */
DL_API const char* dl_build_info(void);

#define DL_STRUCT_MAX_BYTES 4096 /* no release has a larger struct */

/* ---- Status and errors ------------------------------------------------------------------------------------ */

typedef int32_t dl_status; /* 0 (DL_OK), a positive soft result, or a negative error */

#define DL_OK 0
/* Soft results. */
#define DL_END_OF_EPOCH 1 /* once at the end of each epoch, including the last */
#define DL_END 2          /* on every call after the last of `epochs` epochs */
#define DL_TIMEOUT 3      /* nothing is lost: a later call returns the batch */
#define DL_CANCELLED 4    /* the loader was cancelled, until a seek or load; or its token, permanently */
#define DL_INTERRUPTED 5  /* an interrupt of the loader or its loop ended this call */
/* The call. */
#define DL_ERR_INVALID_ARGUMENT (-1) /* an invalid value; in C also NULL or a wrong struct_size */
#define DL_ERR_UNKNOWN_OPTION (-2)   /* no such option; the message names the most similar key */
#define DL_ERR_BAD_OPTION (-3)       /* wrong type, out of range, or conflicting options */
#define DL_ERR_BAD_URI (-4)          /* syntax error, unknown scheme or unknown key; see dl_error.column */
#define DL_ERR_BAD_TRANSFORM (-5)    /* syntax error, or does not fit the fields; see dl_error.column */
#define DL_ERR_NO_SUCH_FIELD (-6)    /* the message names the fields that exist */
#define DL_ERR_UNSUPPORTED (-7)      /* known, but not supported by this build, release or kind of dataset */
#define DL_ERR_WRONG_STATE (-8)      /* not possible now; the message states why */
#define DL_ERR_FORKED (-9)           /* the object belongs to the parent process */
/* The machine. */
#define DL_ERR_NO_MEMORY (-20)      /* the system has no memory left */
#define DL_ERR_OVER_BUDGET (-21)    /* the option memory_budget is too small; the message names the bytes */
#define DL_ERR_LEASES_HELD (-22)    /* too many held batches; the message names max_leases and their number */
#define DL_ERR_THREAD (-23)         /* a thread could not be started */
#define DL_ERR_TOO_MANY_FILES (-24) /* the process has too many open files */
/* The data. */
#define DL_ERR_NOT_FOUND (-40)    /* no such file or directory */
#define DL_ERR_PERMISSION (-41)   /* the process may not access the file */
#define DL_ERR_NOT_A_FILE (-42)   /* a directory, FIFO, socket or device where a file is needed */
#define DL_ERR_IO (-43)           /* reading or writing failed */
#define DL_ERR_TRUNCATED (-44)    /* a file is shorter than it declares, or became shorter while in use */
#define DL_ERR_CORRUPT (-45)      /* the content of a file is invalid */
#define DL_ERR_UNSAFE_TYPE (-46)  /* object arrays and pickles */
#define DL_ERR_MISMATCH (-47)     /* parts of a dataset do not fit each other */
#define DL_ERR_CHANGED (-48)      /* a file was modified while in use */
#define DL_ERR_BAD_SAMPLE (-49)   /* a bad sample with on_error=raise; the message names it */
#define DL_ERR_TOO_MANY_BAD (-50) /* more than max_bad distinct bad samples */
#define DL_ERR_OUT_OF_RANGE (-51) /* an index, label, weight, epoch or step */
#define DL_ERR_READER (-52)       /* a callback of the host failed: a reader or an extension */
#define DL_ERR_TOO_LARGE (-53)    /* larger than max_bytes_per_sample or another limit */
#define DL_ERR_EMPTY (-54)        /* nothing to deliver, now or later */
/* Saved state. */
#define DL_ERR_BAD_STATE (-70)     /* not a state, damaged, or of a different version */
#define DL_ERR_STATE_REFUSED (-71) /* the state is from a different dataset or configuration */
/* The accelerator. */
#define DL_ERR_NO_DEVICE (-80)   /* no driver, a driver that is too old, or no such device; see the message */
#define DL_ERR_DEVICE_LOST (-81) /* the device failed, permanently: the loader can only be destroyed */
/* The library. */
#define DL_ERR_INTERNAL (-99) /* a bug in the library; please report it */

/* The name of a code, such as `DL_ERR_CORRUPT`. Never NULL. */
DL_API const char* dl_status_name(dl_status status);

/* Describes a failed call. The message is one line: what failed, where (file, offset, sample or option), what was
 * expected and what was found. */
typedef struct dl_error {
  uint32_t struct_size;
  dl_status code;
  int32_t os_error;      /* errno (on Windows, the errno that matches the system's error), or 0 */
  int32_t column;        /* 1-based position in a URI or transform, or 0 */
  int64_t sample_index;  /* the first affected sample, or -1 */
  int64_t sample_source; /* its dataset in a mix (dl_batch_info.sample_sources); else 0 */
  char message[512];     /* NUL-terminated, one line of printable UTF-8, truncated if longer */
} dl_error;
#ifdef __cplusplus
#define DL_ERROR_INIT \
  { sizeof(dl_error), 0, 0, 0, -1, 0, "" }
#else
#define DL_ERROR_INIT                       \
  {                                         \
    sizeof(dl_error), 0, 0, 0, -1, 0, { 0 } \
  }
#endif
/* Does what DL_ERROR_INIT does, for hosts that cannot use a macro. struct_size is the size of the struct in the
 * host. */
DL_API void dl_error_init(dl_error* error, uint32_t struct_size);

/* ---- Handles ---------------------------------------------------------------------------------------------- */

typedef struct dl_options dl_options; /* key-value settings of datasets and loaders */
typedef struct dl_dataset dl_dataset; /* samples by index; immutable */
typedef struct dl_loader dl_loader;   /* a job's stream of batches; owns threads, slots and position */
typedef struct dl_epoch dl_epoch;     /* a loop over one epoch of a loader; threads may share it */
typedef struct dl_batch dl_batch;     /* a lease on one batch; reference-counted; may outlive its loader */
typedef struct dl_cancel_token dl_cancel_token; /* ends opens and waits from another thread */

/* ---- Tables the host may provide -------------------------------------------------------------------------- */

/* What a block of memory is used for. */
#define DL_MEMORY_METADATA 0
#define DL_MEMORY_TABLE 1    /* orders, indices, weights */
#define DL_MEMORY_ARENA 2    /* batch slots, 2 MiB aligned, page-locked for a device; one block per loader */
#define DL_MEMORY_DATA 3     /* datasets held in memory, 2 MiB aligned */
#define DL_MEMORY_OVERFLOW 4 /* a batch beyond max_leases */
/* 2 MiB aligned address space whose pages are touched only as needed: images during decoding (one block per
 * worker), rows without a fixed size (one block per loader). */
#define DL_MEMORY_FRAMES 5

/* Allocates the memory of the datasets and loaders that are created with it: slots, tables, data, copies. Small
 * objects (handles, names, schemas) come from C++ operator new instead. Callbacks run on any thread. The table is
 * copied.
 *
 *   allocate  Returns NULL on failure. The call that needed the memory then returns DL_ERR_NO_MEMORY. `alignment`
 *             is a power of two.
 *   release   Receives the bytes, alignment and kind of the allocation.
 *   destroy   May be NULL. Called once with `context`, from any thread, when no options, dataset, loader or batch
 *             needs the table any more. Not called if the call that receives the table fails. */
typedef struct dl_allocator {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void* (*allocate)(void* context, size_t bytes, size_t alignment, int32_t kind);
  void (*release)(void* context, void* memory, size_t bytes, size_t alignment, int32_t kind);
  void (*destroy)(void* context);
} dl_allocator;

#define DL_LOG_PROGRESS 0 /* progress of opening a large dataset */
#define DL_LOG_INFO 1
#define DL_LOG_WARNING 2

/* Receives log messages. Without this table nothing is logged. `write` is called from any thread; `message` is
 * valid during the call. See dl_allocator for `destroy`. */
typedef struct dl_log {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void (*write)(void* context, int32_t level, const char* message, size_t length);
  void (*destroy)(void* context);
} dl_log;

/* ---- Options ---------------------------------------------------------------------------------------------- */
/* dl_option_at lists every key with its type, default, limits and description. dl_dataset_open and
 * dl_loader_create copy the options: later changes do not affect what they created. If a key is set twice, the
 * last value applies. */

/* Creates options with default values. */
DL_API DL_MUST_CHECK dl_status dl_options_create(dl_options** out, dl_error* error);
DL_API void dl_options_destroy(dl_options* options); /* Destroys the options. NULL is allowed. */
/* Copies options. Later changes to one do not affect the other. Arrays, tables, extensions and the cancel token
 * are shared, not copied. Their `release` and `destroy` are called when neither object needs them. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_options_copy(const dl_options* options, dl_options** out, dl_error* error);

/* Sets an option from text, as the shell does: "256", "true", "64MiB", "full". Accepts every key except the
 * arrays. Errors: DL_ERR_UNKNOWN_OPTION (the message names the most similar key), DL_ERR_BAD_OPTION (the message
 * states what was expected). */
DL_API DL_MUST_CHECK dl_status dl_options_set(dl_options* options, const char* key, const char* value,
                                              dl_error* error);
/* Sets an integer, size or boolean option from a number. */
DL_API DL_MUST_CHECK dl_status dl_options_set_i64(dl_options* options, const char* key, int64_t value,
                                                  dl_error* error);
/* Sets the array `sample_indices`. If `release` is NULL, the array is copied now. Otherwise it is borrowed:
 * `release(context)` is called once, when neither these options nor anything created from them needs the array. If
 * the call fails, nothing is borrowed and `release` is not called. These rules apply to every `release`
 * parameter. */
DL_API DL_MUST_CHECK dl_status dl_options_set_indices(dl_options* options, const int64_t* indices,
                                                      int64_t count, void (*release)(void* context),
                                                      void* context, dl_error* error);
/* Sets the array `weights`, one per sample. Lifetime: see dl_options_set_indices. */
DL_API DL_MUST_CHECK dl_status dl_options_set_weights(dl_options* options, const double* weights,
                                                      int64_t count, void (*release)(void* context),
                                                      void* context, dl_error* error);
/* Sets the array `lengths`, one per sample. Lifetime: see dl_options_set_indices. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_options_set_lengths(dl_options* options, const int64_t* lengths,
                                                      int64_t count, void (*release)(void* context),
                                                      void* context, dl_error* error);
/* dl_options_set_allocator and dl_options_set_log replace the previous table. The tables are copied. What they
 * point to must stay valid until their `destroy` is called. Errors: DL_ERR_INVALID_ARGUMENT (a function is
 * missing, or a wrong struct_size). */
DL_API DL_MUST_CHECK dl_status dl_options_set_allocator(dl_options* options, const dl_allocator* allocator,
                                                        dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_options_set_log(dl_options* options, const dl_log* log, dl_error* error);
/* Sets the cancel token. The options keep their own reference. */
DL_API DL_MUST_CHECK dl_status dl_options_set_cancel_token(dl_options* options, dl_cancel_token* token,
                                                           dl_error* error);
/* Sets the environment for `rank=auto` and `world_size=auto`: "NAME=value" strings, ended by NULL, such as the C
 * variable environ. The library never reads the environment itself. Launcher variables are copied and all others
 * are ignored. dl_loader_create uses them if either option is auto. It fails with DL_ERR_INVALID_ARGUMENT if the
 * values are not valid ranks or contradict each other. It fails with DL_ERR_BAD_OPTION if only one option is auto
 * and the other differs from the launcher's value. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_options_set_environment(dl_options* options, const char* const* environment,
                                                          dl_error* error);
/* Returns the current value as text: the default if the key is not set, "" if there is none. Valid until the next
 * call on these options. */
DL_API DL_MUST_CHECK dl_status dl_options_get(const dl_options* options, const char* key, const char** out,
                                              dl_error* error);

/* The type of an option. */
#define DL_OPTION_BOOL 1
#define DL_OPTION_INT 2
#define DL_OPTION_SIZE 3 /* bytes */
#define DL_OPTION_WORD 4 /* one of dl_option_info.choices */
#define DL_OPTION_TEXT 5
#define DL_OPTION_INDICES 6 /* array of int64_t */
#define DL_OPTION_WEIGHTS 7 /* array of double */
#define DL_OPTION_LENGTHS 8 /* array of int64_t. Since 0.3 */

/* This process's place in its job, as reported by a launcher. Since 0.3. */
typedef struct dl_launcher {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t rank;
  int64_t world_size;       /* -1: the launcher reports the rank only (pmix, kubernetes) */
  int64_t local_rank;       /* rank on this machine, to choose a device; -1: not reported */
  int64_t local_world_size; /* processes on this machine; -1: not reported */
  /* "torchrun", "jax", "openmpi", "pmi", "slurm", "pmix", "kubernetes", or "none": process 0 of 1 */
  const char* family;
} dl_launcher;
/* Detects the launcher from `environment` (see dl_options_set_environment). The first of these that is set is
 * used: RANK and WORLD_SIZE (torchrun); JAX_PROCESS_ID and JAX_NUM_PROCESSES; the variables of Open MPI, of PMI,
 * of a Slurm step; PMIX_RANK; JOB_COMPLETION_INDEX. The rank and the size always come from the same launcher.
 * Slurm variables are used only inside a step. They are ignored if the step has one task per machine and its tasks
 * start another launcher.
 *
 * Errors: DL_ERR_INVALID_ARGUMENT if a variable of a launcher is missing, if two launchers contradict each other,
 * or if a value is not a valid rank. The message names the variables and their values. Threading: any thread.
 * Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_launcher_detect(const char* const* environment, dl_launcher* out,
                                                  dl_error* error);

/* What an option applies to. */
#define DL_SCOPE_DATASET 1
#define DL_SCOPE_LOADER 2 /* an option of both has the value 3 */

/* One row of the table of options. */
typedef struct dl_option_info {
  uint32_t struct_size;
  int32_t type;      /* DL_OPTION_* */
  int32_t scope;     /* DL_SCOPE_* */
  int32_t has_range; /* 1: minimum and maximum apply */
  int64_t minimum;
  int64_t maximum;
  const char* key;
  const char* default_value; /* as text; "" if there is none */
  const char* choices;       /* "keep|drop|pad", or "" */
  const char* unit;          /* "bytes", "samples", "" */
  const char* doc;
  const char* since;
} dl_option_info;

DL_API int32_t dl_option_count(void); /* The number of options. */
/* Fills *out with option `index`. Its strings are never freed. Errors: DL_ERR_INVALID_ARGUMENT (no such
 * option). */
DL_API DL_MUST_CHECK dl_status dl_option_at(int32_t index, dl_option_info* out, dl_error* error);

/* A transform operator. dl_transform_at lists the operators of the library, then those of `extensions` (may be
 * NULL). The strings live as long as the library, or as `extensions`. */
typedef struct dl_transform_info {
  uint32_t struct_size;
  int32_t argument_count;
  const char* name;
  const char* doc;
  const char* source; /* the reference definition that it follows */
  const char* since;
} dl_transform_info;
/* An argument of a transform operator. */
typedef struct dl_argument_info {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;
  const char* type;
  const char* default_value; /* "": required */
} dl_argument_info;
typedef struct dl_extensions dl_extensions; /* formats, operators, ... added by the host; see "Extensions" */
DL_API int32_t dl_transform_count(const dl_extensions* extensions); /* The number of operators. */
/* dl_transform_at fills *out with operator `index`, dl_transform_argument_at with one of its arguments. The
 * strings live as long as the library, or as `extensions`. Errors: DL_ERR_INVALID_ARGUMENT (no such operator or
 * argument). */
DL_API DL_MUST_CHECK dl_status dl_transform_at(const dl_extensions* extensions, int32_t index,
                                               dl_transform_info* out, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_transform_argument_at(const dl_extensions* extensions, int32_t index,
                                                        int32_t argument, dl_argument_info* out,
                                                        dl_error* error);

/* dl_cancel_token_cancel ends dl_dataset_open and the waits of every loader created with the token: they return
 * DL_CANCELLED. It never blocks and cannot be undone. Threading: any thread. */
DL_API DL_MUST_CHECK dl_status dl_cancel_token_create(dl_cancel_token** out, dl_error* error);
DL_API void dl_cancel_token_cancel(dl_cancel_token* token);
/* Destroys the handle. NULL is allowed. Options keep their own references. */
DL_API void dl_cancel_token_destroy(dl_cancel_token* token);

/* ---- Tensors ---------------------------------------------------------------------------------------------- */

/* The type of an item. */
#define DL_DTYPE_BOOL 1 /* delivered as 0 or 1, whatever byte is stored */
#define DL_DTYPE_U8 2
#define DL_DTYPE_U16 3
#define DL_DTYPE_U32 4
#define DL_DTYPE_U64 5
#define DL_DTYPE_I8 6
#define DL_DTYPE_I16 7
#define DL_DTYPE_I32 8
#define DL_DTYPE_I64 9
#define DL_DTYPE_F16 10
#define DL_DTYPE_BF16 11
#define DL_DTYPE_F32 12
#define DL_DTYPE_F64 13
#define DL_DTYPE_C64 14                              /* two f32 */
#define DL_DTYPE_C128 15                             /* two f64 */
DL_API const char* dl_dtype_name(int32_t dtype);     /* The name, such as "u8"; "?" for an unknown value. */
DL_API int32_t dl_dtype_bytes(int32_t dtype);        /* Bytes of one item; 0 for an unknown value. */
DL_API int32_t dl_dtype_from_name(const char* name); /* The dtype with this name; 0 for an unknown name. */

/* How the samples of a field are stored in memory. */
#define DL_KIND_DENSE 0
#define DL_KIND_RAGGED 1
#define DL_KIND_STRIDED 2 /* only in dl_array: dense, with rows row_stride_bytes apart */

/* Bits of dl_view.flags. */
#define DL_VIEW_READ_ONLY 1u
#define DL_VIEW_OVERLAPPING 2u /* shares bytes with another view of the batch */
#define DL_VIEW_PINNED 4u      /* page-locked host memory */

#define DL_DEVICE_CPU 1 /* values as in DLPack */
#define DL_DEVICE_CUDA 2

#define DL_MAX_RANK 33 /* 32 for a sample and one for the batch */

/* One tensor of a batch or of a schema. The first dim of a batch counts the samples. The schema of a dataset does
 * not have this dim. In the schema of a loader, it is batch_size, or -1 if batches may differ in size.
 *
 * The samples of a ragged field differ in length. `data` is packed, and its first dim is the sum of all lengths
 * (-1 in a schema). Sample i consists of the rows `[offsets[i], offsets[i + 1])`. Bytes and UTF-8 text are ragged
 * u8. */
typedef struct dl_view {
  uint32_t struct_size;
  int32_t kind;   /* DL_KIND_* */
  uint64_t flags; /* bits DL_VIEW_* */
  const char* name;
  int32_t dtype; /* DL_DTYPE_* */
  int32_t rank;
  const int64_t* shape;   /* [rank]; -1: unknown or varying (schemas only) */
  const int64_t* strides; /* [rank], in elements; never NULL */
  const char* axes;       /* one letter per dim ("NHWC"), or "" if unknown */
  int32_t device_type;    /* DL_DEVICE_* */
  int32_t device_index;
  void* data;             /* on device_type; 256-byte aligned for batches in slots; NULL in a schema */
  uint64_t byte_offset;   /* from data to the first element */
  const int64_t* offsets; /* ragged: [samples + 1], in host memory; else NULL */
  int64_t bytes;          /* delivered bytes (dense: of the whole shape; ragged: packed); -1 if varying */
  uint64_t reserved[4];   /* zero; planned: offsets in device memory, a second level of offsets, an event */
} dl_view;
/* Element `index` of an array of views. See the convention "Arrays". */
static inline const dl_view* dl_view_at(const dl_view* views, int32_t index) {
#ifdef __cplusplus
  return reinterpret_cast<const dl_view*>(reinterpret_cast<const char*>(views) +
                                          static_cast<size_t>(index) * views->struct_size);
#else
  return (const dl_view*)(const void*)((const char*)views + (size_t)index * views->struct_size);
#endif
}

/* ---- Datasets --------------------------------------------------------------------------------------------- */

/* Opens a dataset: `scheme:path[,path...][?key=value&...]`, or a bare path, whose format is detected. Files stay
 * open. Only headers are read, except from .gz files and with io=memory. options may be NULL; only options of
 * scope dataset apply.
 *
 * Errors: DL_ERR_BAD_URI, DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_NOT_A_FILE, DL_ERR_TRUNCATED,
 * DL_ERR_CORRUPT, DL_ERR_MISMATCH, DL_ERR_UNSAFE_TYPE, DL_ERR_UNSUPPORTED, DL_ERR_EMPTY, DL_ERR_TOO_MANY_FILES,
 * DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY, DL_CANCELLED.
 *
 * Files that change while in use. Every file is checked before a batch reads from it, and again when the batch has
 * been copied. Truncated data is therefore a bad sample (DL_ERR_TRUNCATED, with file and offset), never zeros. If
 * the modification time of a file changes after open and its size does not, every read of it fails with
 * DL_ERR_CHANGED: open it again. A file that grew, or was unlinked, renamed or replaced, is read as it was at
 * open. A change that affects neither size nor modification time is not detected. io=auto maps files on local file
 * systems. Like io=pread, it uses pread for files on network and user-space file systems, and on unknown file
 * systems without a block device.
 *
 * fault_guard=true. If a whole page of a mapped file is truncated during a read, or its disk fails, the kernel
 * sends SIGBUS, which kills the process. With this option a SIGBUS handler turns it into an error
 * (DL_ERR_TRUNCATED, DL_ERR_IO):
 *
 *   Others     The handler acts only on loads from mapped files of datasets opened with this option. It forwards
 *              everything else to the previous handler (with its flags and mask) or the default action. The first
 *              such dl_dataset_open installs it, with SA_ONSTACK, and it stays until the process ends. A handler
 *              that the host installs later must forward faults it does not recognize. Each further
 *              dl_dataset_open with this option logs a warning if another handler has been installed since. If the
 *              host has restored the default action, the call also installs this handler again.
 *   Threads    The handler runs in the loading thread: a worker, or the thread in dl_loader_next. Workers block
 *              all signals except SIGBUS. A host thread that blocks SIGBUS and calls dl_loader_next is not
 *              guarded.
 *   fork       A child inherits the handler, and its datasets stay guarded.
 *   Unloading  A shared library that installed it stays in memory (RTLD_NODELETE). dlclose is harmless.
 *   Copies     A process may contain two copies of the library: the handler of the later one forwards to that of
 *              the earlier one.
 *   Windows    DL_ERR_UNSUPPORTED: the system does not allow a mapped file to be truncated.
 *
 * io=pread and io=memory do not need a guard, and ignore this option. */
DL_API DL_MUST_CHECK dl_status dl_dataset_open(const char* uri, const dl_options* options, dl_dataset** out,
                                               dl_error* error);

/* A field in host memory.
 *
 *   DL_KIND_DENSE    shape[0] is the number of samples. The data is packed, in C order.
 *   DL_KIND_STRIDED  As dense, but sample i starts at `data + i * row_stride_bytes`. Each sample is packed, in C
 *                    order. If the stride is less than the size of a row, samples overlap. If it is 0, all samples
 *                    are the same row. If it is negative, later samples have lower addresses.
 *   DL_KIND_RAGGED   data is packed and shape[0] is its number of rows. offsets has one entry more than there are
 *                    samples, as in dl_view. */
typedef struct dl_array {
  uint32_t struct_size;
  int32_t kind; /* DL_KIND_* */
  const char* name;
  int32_t dtype; /* DL_DTYPE_* */
  int32_t rank;
  const int64_t* shape;
  const char* axes; /* of one sample: "HWC"; NULL if unknown */
  const void* data;
  int64_t row_stride_bytes; /* strided: any number; else 0 */
  const int64_t* offsets;
  int64_t sample_count; /* ragged: entries in offsets minus one; dense: 0 or shape[0] */
} dl_array;
/* Creates a dataset from arrays. If `release` is NULL, they are copied. Otherwise they are borrowed and must not
 * change. `release(context)` is then called once, from any thread, when the dataset and everything created from it
 * (loaders, composed datasets) have been freed. */
DL_API DL_MUST_CHECK dl_status dl_dataset_from_arrays(const dl_array* arrays, int32_t count,
                                                      void (*release)(void* context), void* context,
                                                      const dl_options* options, dl_dataset** out,
                                                      dl_error* error);

/* Create a dataset from a table in memory. dl_dataset_from_arrow reads all arrays of a stream (Arrow's C stream
 * interface). dl_dataset_from_arrow_array reads one array (C data interface). An array is a struct whose children
 * are the columns, or a single column, which is called `data` if it has no name. Fields and types are the same as
 * for the format `arrow`:
 *
 *   - numbers and bool; times as their integers
 *   - binary and strings as ragged u8
 *   - fixed_size_list as dims, list as ragged
 *   - leaves of structs as `struct/leaf`
 *   - dictionaries as their values
 *
 * Batches are filled straight from the table's memory. Two kinds of values are first copied: bool, which Arrow
 * stores as bits, and values whose nulls are filled. `keys` are the keys of an `arrow:` URI, such as
 * `fields=image/bytes,label&nulls=fill(0)`. If it is NULL, all columns are read, and a sample with a null is bad.
 *
 * The call takes ownership of its Arrow arguments, even if it fails: their `release` is NULL afterwards. The
 * stream and its schema are read and released in this call. The arrays are released from any thread, when the
 * dataset and everything created from it have been freed. They must not change until then. Offsets and indices are
 * checked. Arrow's structs do not contain the lengths of buffers, so the host must ensure that they are long
 * enough. A saved state can be loaded only with the same rows in the same arrays.
 *
 * Errors:
 *   - DL_ERR_READER: the stream failed. The message contains its text.
 *   - DL_ERR_UNSUPPORTED: an unsupported type. The message names it.
 *   - DL_ERR_BAD_URI: in `keys`.
 *   - DL_ERR_INVALID_ARGUMENT: an argument that was released already.
 *   - DL_ERR_CORRUPT, DL_ERR_NO_SUCH_FIELD, DL_ERR_TOO_LARGE, DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY, DL_CANCELLED.
 *
 * Since 0.3. */
struct ArrowArrayStream;
struct ArrowSchema;
struct ArrowArray;
DL_API DL_MUST_CHECK dl_status dl_dataset_from_arrow(struct ArrowArrayStream* stream, const char* keys,
                                                     const dl_options* options, dl_dataset** out,
                                                     dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_dataset_from_arrow_array(struct ArrowSchema* schema,
                                                           struct ArrowArray* array, const char* keys,
                                                           const dl_options* options, dl_dataset** out,
                                                           dl_error* error);

/* One field of one record, which a reader fills. No struct_size: cells are request->cell_bytes apart, so that
 * later releases can append members. Use dl_reader_cell_at. */
typedef struct dl_reader_cell {
  void* data; /* write at most capacity bytes here; 64-byte aligned */
  /* dense: the field's bytes; ragged: max_bytes_per_sample, or the field's own maximum if that is less */
  int64_t capacity;
  /* In: the field's bytes (dense) or 0. Out, ragged: bytes of the record, which must be whole items. More than
   * capacity means that the sample is too large (DL_ERR_TOO_LARGE). */
  int64_t bytes;
  /* Out: NULL if the bytes are at data. Otherwise the address of the bytes in host memory, with any alignment. The
   * bytes must not change until request->release is called. If that is not set, they must not change while the
   * dataset or anything created from it exists. */
  const void* borrowed;
  int32_t status; /* out: nonzero if this record is bad; the host chooses the code */
  int32_t reserved32;
  uint64_t reserved[3]; /* what the host writes here is ignored */
} dl_reader_cell;

/* The records that one call of `read` must deliver. Valid only during the call. Borrowed memory is valid until
 * `release`. */
typedef struct dl_reader_request {
  uint32_t struct_size;
  int32_t record_count;   /* 1 to 64 */
  int32_t field_count;    /* as in dl_reader */
  int32_t cell_bytes;     /* distance from one cell to the next */
  const int64_t* indices; /* [record_count] */
  /* [record_count]: the position of each record in the order of the epoch, from which a reader can derive random
   * numbers. A sample that replaces a bad one has the slot of the bad one. -1 if the record is read outside an
   * epoch (by dl_dataset_image_info, or for the upload of io=device). */
  const int64_t* slots;
  int64_t epoch; /* -1 where slots are -1 */
  uint64_t seed; /* the loader's seed; 0 in dl_dataset_image_info */
  /* Becomes nonzero when the records are no longer needed: the loader is being destroyed, or was cancelled. Read
   * it atomically (relaxed). `read` may then return any nonzero value, and the records do not count as bad. Valid
   * until `read` returns. */
  const int32_t* cancelled;
  dl_reader_cell* cells; /* record r, field f: dl_reader_cell_at(request, r, f) */
  /* Where `read` may write why a record is bad: the text of record r starts at `messages + r * message_bytes`.
   * Zeroed before the call. If the call fails, records without a text get the text of record 0. */
  char* messages;
  int64_t message_bytes; /* room for one text with its NUL */
  /* Out: called once, from the thread that called `read`, when the library no longer reads the memory that this
   * call lent. Also called if the call failed. Must not call Dataline. NULL: the borrowed memory stays valid as
   * long as the dataset. */
  void (*release)(void* release_context);
  void* release_context; /* out: for `release` */
  uint64_t reserved[4];  /* as in dl_reader_cell */
} dl_reader_request;
#define DL_READER_INTERRUPTED (-1000000005) /* `read` was interrupted; not an errno. Since 0.3 */
/* The cell of field `field` of record `record`. */
static inline dl_reader_cell* dl_reader_cell_at(const dl_reader_request* request, int32_t record,
                                                int32_t field) {
#ifdef __cplusplus
  return reinterpret_cast<dl_reader_cell*>(
      reinterpret_cast<char*>(request->cells) +
      (static_cast<size_t>(record) * static_cast<size_t>(request->field_count) + static_cast<size_t>(field)) *
          static_cast<size_t>(request->cell_bytes));
#else
  return (dl_reader_cell*)(void*)((char*)request->cells +
                                  ((size_t)record * (size_t)request->field_count + (size_t)field) *
                                      (size_t)request->cell_bytes);
#endif
}

/* A reader is host code that delivers records. Worker threads call `read` concurrently. With num_workers=0 the
 * thread in dl_loader_next calls it; with `prompt`, both do. It returns one of:
 *
 *   - 0: the cells are filled.
 *   - DL_READER_INTERRUPTED: the host needs its thread. The records do not count as bad, and the position does not
 *     change. dl_loader_next returns DL_INTERRUPTED, and the next call reads the batch again.
 *   - another value, for example an errno: all records of the call are bad.
 *
 * `fields` is the schema: name, kind, dtype, rank, shape without the batch dim, axes. For a ragged field, bytes is
 * its maximum, or 0 if that is not known. `destroy` (may be NULL) is called once, when `read` will not be called
 * again and the library no longer reads borrowed memory. */
typedef struct dl_reader {
  uint32_t struct_size;
  int32_t field_count;
  const dl_view* fields; /* read during the call only */
  int64_t record_count;
  void* context;
  int32_t (*read)(void* context, dl_reader_request* request);
  void (*destroy)(void* context);
  /* A string that changes when the data changes; NULL for none. Saved states compare it. So does the option
   * `cache`, which reuses samples as long as this string and `files` stay the same. */
  const char* fingerprint;
  /* The number of blocks. A block is a group of records that are cheap to read together, for example because they
   * are compressed together. Block i ends before record block_ends[i]. The values ascend, and the last one is
   * record_count. shuffle=window uses these blocks and ignores shuffle_block, so that each block is read within a
   * short part of an epoch. Copied. 0, with block_ends NULL: no blocks. Since 0.3. */
  int64_t block_count;
  const int64_t* block_ends; /* [block_count]. Since 0.3. */
  /* How many blocks the reader can keep open. If records of more blocks are read, the reader has to open blocks
   * again. 0: any number. shuffle=window keeps fewer blocks open at a time: shuffle_blocks is limited to a quarter
   * of this number, but at least 1. Since 0.3. */
  int64_t held_blocks;
  /* 1: a call takes about as long as copying its records, with occasional waits of a few milliseconds for local
   * storage. A consumer that waits for a batch then also calls `read` on its own thread, as long as calls take
   * tens of microseconds on average. Its timeout may be late by one call. Each worker fills complete batches. 0:
   * only workers call `read`. Since 0.3. */
  int32_t prompt;
  int32_t reserved; /* zero. Since 0.3. */
  /* A hint that block `block` of block_ends will be read soon. The reader can then do expensive work, such as
   * decompression, while other threads read or the consumer computes. Called with shuffle=window, about once per
   * epoch for each block, in the order in which blocks are opened. The threads that call `read` also call this
   * function, concurrently. It must only record the number and return immediately, because a batch waits for it.
   * Some blocks are never announced, and after a seek some announced blocks are not read. NULL: none. Since
   * 0.3. */
  void (*advise)(void* context, int64_t block);
  /* The files that the records are read from, in order: paths on this machine, or in storages that the options
   * contain. Each must exist. The library records their identity when the dataset is created, so it does not
   * notice changes made before that. It then compares them like the files of its own formats: in saved states, for
   * the option `cache`, and in dl_dataset_identity. Copied. 0, with files NULL: none. Since 0.3. */
  int64_t file_count;
  const char* const* files; /* [file_count]. Since 0.3. */
  /* [file_count]: the index after the last record of each file; the values ascend to record_count. A changed file
   * then invalidates only its own samples in a cache. NULL: a record may be in any file. Copied. Since 0.3. */
  const int64_t* file_ends;
} dl_reader;
/* Creates a dataset over the reader. The table is copied. */
DL_API DL_MUST_CHECK dl_status dl_dataset_from_reader(const dl_reader* reader, const dl_options* options,
                                                      dl_dataset** out, dl_error* error);

/* Combine datasets. The new dataset keeps its own references to the parts. options may be NULL. The allocator and
 * memory_budget of the options apply to the indices that dl_dataset_subset copies. If pack_length is set, the
 * samples of the new dataset are packed.
 *
 *   - dl_dataset_zip: a sample has the fields of all parts. The lengths must be equal. names[i] renames the field
 *     of part i, or prefixes its fields ("name/field") if there are several. names may be NULL.
 *   - dl_dataset_concat: the samples of the parts, one part after another. The fields must be equal.
 *   - dl_dataset_subset: the samples `indices[0..count)` of a dataset. The indices are borrowed if `release` is
 *     set, and copied otherwise. */
DL_API DL_MUST_CHECK dl_status dl_dataset_zip(dl_dataset* const* parts, const char* const* names,
                                              int32_t count, const dl_options* options, dl_dataset** out,
                                              dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_dataset_concat(dl_dataset* const* parts, int32_t count,
                                                 const dl_options* options, dl_dataset** out,
                                                 dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_dataset_subset(dl_dataset* dataset, const int64_t* indices, int64_t count,
                                                 void (*release)(void* context), void* context,
                                                 const dl_options* options, dl_dataset** out,
                                                 dl_error* error);

/* The number of samples; -1: unknown (streams, later). */
DL_API int64_t dl_dataset_count(const dl_dataset* dataset);
/* The schema: *count views, to step through with dl_view_at. count may be NULL. */
DL_API const dl_view* dl_dataset_fields(const dl_dataset* dataset, int32_t* count);
DL_API const char* dl_dataset_format(const dl_dataset* dataset); /* The format: "idx", "zip", "arrays", ... */
DL_API const char* dl_dataset_uri(const dl_dataset* dataset);    /* As passed to dl_dataset_open, or "". */
DL_API int32_t dl_dataset_note_count(const dl_dataset* dataset); /* The number of notes. */
/* A note for the user; "" for an index out of range. "left out: ..." names a file, or bytes of a file, that are
 * not in the dataset (bad_files=skip). "damaged: ..." names a file or a set that differs from what was written. */
DL_API const char* dl_dataset_note(const dl_dataset* dataset, int32_t index);
/* Class names, indexed by label (a folder's class directories, in order). dl_dataset_class_count is 0 if the
 * dataset has none. A composed dataset has the classes of the first part that has any. A name is UTF-8, or the raw
 * bytes of a directory name that is not UTF-8. It lives as long as the dataset. dl_dataset_class_name returns ""
 * for an index out of range. */
DL_API int64_t dl_dataset_class_count(const dl_dataset* dataset);
DL_API const char* dl_dataset_class_name(const dl_dataset* dataset, int64_t index);

/* Reads one sample through the transforms of `options`, as a batch of one: for viewers, tests and checks. Options
 * that define a sample apply (transform, seed, device, limits, memory). Options for order, batches, threads and
 * bad samples do not. Random operators use the random numbers of the first sample of epoch 0. Each call plans and
 * allocates memory as dl_loader_create does, which is too slow for training. Errors: those of dl_loader_create and
 * dl_loader_next; DL_ERR_OUT_OF_RANGE for the index. */
DL_API DL_MUST_CHECK dl_status dl_dataset_read(const dl_dataset* dataset, int64_t index,
                                               const dl_options* options, dl_batch** out, dl_error* error);

/* Releases the caller's reference. NULL is allowed. */
DL_API void dl_dataset_destroy(dl_dataset* dataset);

/* ---- Loaders ---------------------------------------------------------------------------------------------- */

/* Creates a loader: plans memory, starts the workers and starts loading. The loader keeps its own reference to the
 * dataset. options may be NULL. The CUDA driver is loaded only for device=cuda and pin_memory.
 *
 * Errors:
 *   - DL_ERR_OUT_OF_RANGE: indices, weights or start.
 *   - DL_ERR_NO_MEMORY: for device memory, the message states how much is needed and how much is free.
 *   - DL_ERR_MISMATCH: the samples of the parts of a mix cannot share a batch.
 *   - DL_ERR_NO_DEVICE, DL_ERR_DEVICE_LOST: with device=cuda.
 *   - DL_ERR_BAD_OPTION, DL_ERR_BAD_TRANSFORM, DL_ERR_NO_SUCH_FIELD, DL_ERR_OVER_BUDGET, DL_ERR_THREAD,
 *     DL_ERR_EMPTY, DL_ERR_UNSUPPORTED. */
DL_API DL_MUST_CHECK dl_status dl_loader_create(dl_dataset* dataset, const dl_options* options,
                                                dl_loader** out, dl_error* error);

/* Returns the next batch, in order. A negative timeout_ns waits without limit, 0 polls. Pass the batch to
 * dl_batch_release. At the end of each epoch, one call returns DL_END_OF_EPOCH. After the last epoch, all calls
 * return DL_END.
 *
 * With num_workers=0, the call loads the batch itself, regardless of the timeout. If another thread is already
 * loading it, the call waits for that thread as it would for a worker. With workers, a call that waits also fills
 * rows, in pieces of at most about 50 us. It does not do so with timeout 0, and it calls a host reader only if
 * dl_reader.prompt is set.
 *
 * A system failure while a batch is filled is never a bad sample, regardless of on_error. The call fails with
 * DL_ERR_NO_MEMORY, DL_ERR_TOO_MANY_FILES, or DL_ERR_IO (a device that fails every read, a call that is always
 * interrupted), with os_error and the file. The position does not change and nothing is counted. The next call
 * fills the batch again, with the same bytes. A read that fails on the device is tried twice. It makes a sample
 * bad only if other samples can be read.
 *
 * Errors:
 *   - DL_ERR_BAD_SAMPLE: once per step. The position does not change, and the next call delivers the step's good
 *     samples.
 *   - DL_ERR_WRONG_STATE: a reader, operator or storage calls this while it fills a batch of this loader, and
 *     would wait for its own thread. With device=cuda, see also dl_batch_wait on CUDA graphs.
 *   - DL_ERR_DEVICE_LOST: with device=cuda. Every later call returns it too, even for batches loaded before.
 *   - DL_ERR_TOO_MANY_BAD, DL_ERR_LEASES_HELD, DL_ERR_OVER_BUDGET, DL_ERR_FORKED.
 *
 * Threading: any thread; each call gets a different batch. */
DL_API DL_MUST_CHECK dl_status dl_loader_next(dl_loader* loader, int64_t timeout_ns, dl_batch** out,
                                              dl_error* error);

/* With num_workers=0, loads on the calling thread for about budget_ns, so that a frame loop can spread a batch
 * over several frames. DL_OK: a batch, an end or an error is ready, and dl_loader_next returns immediately.
 * DL_TIMEOUT: the budget is used up and work remains. The call may also return DL_CANCELLED or DL_INTERRUPTED.
 *
 * The budget is checked after each run (one sample if images are decoded, else up to 256 samples or about 1 MiB).
 * A call loads at least one run, and exceeds the budget by at most one run. With a budget of 0 or less, or with
 * workers, it loads nothing and only reports whether something is ready. With lease_overflow=wait, dl_loader_next
 * still waits for a release if all leases are held. Errors: DL_ERR_FORKED, DL_ERR_DEVICE_LOST, DL_ERR_WRONG_STATE
 * (see dl_loader_next). */
DL_API DL_MUST_CHECK dl_status dl_loader_work(dl_loader* loader, int64_t budget_ns, dl_error* error);

/* Starts a loop over one epoch, as the `for` loops of the bindings do. At the start of an epoch, or right after a
 * seek or load, the loop covers the rest of that epoch. Otherwise it covers the next epoch from step 0. The
 * previous loop ends. Pass *out to dl_epoch_release. Returns DL_END after the last epoch, or DL_CANCELLED. Errors:
 * DL_ERR_FORKED, DL_ERR_NO_MEMORY. If the call fails, the previous loop continues. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_loader_epoch(dl_loader* loader, dl_epoch** out, dl_error* error);
/* Creates a handle that is not bound to an epoch, for a caller whose waits must be interrupted separately.
 * dl_epoch_next on it does what dl_loader_next does, including DL_END. dl_epoch_interrupt on it does not affect
 * the waits of other callers. The handle does not end other loops, and stays usable until the loader is destroyed
 * (DL_CANCELLED). It is cheap enough to create one for each wait. Pass *out to dl_epoch_release. Errors:
 * DL_ERR_FORKED, DL_ERR_NO_MEMORY. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_loader_stream(dl_loader* loader, dl_epoch** out, dl_error* error);
/* Does what dl_loader_next does, for one loop. Several threads may share the loop: each batch goes to one of them.
 *
 * DL_END_OF_EPOCH: the epoch is over. The first such result moves the position to (epoch + 1, 0). All other
 * waiting callers and all later calls get the same result, without moving the position. Every thread therefore
 * leaves the loop, and none gets a batch of the next epoch.
 *
 * DL_ERR_WRONG_STATE: the loop was ended before that, by a newer dl_loader_epoch or dl_loader_begin_epoch, a seek,
 * a loaded state or the end of the loader. Callers that wait get it too. No batch is lost.
 *
 * dl_loader_next reads from the same stream and does not end loops. This loop does not receive batches that
 * dl_loader_next has returned. If dl_loader_next has returned DL_END_OF_EPOCH, the loop is over too. Other results
 * and errors: as dl_loader_next, but never DL_END. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_epoch_next(dl_epoch* epoch, int64_t timeout_ns, dl_batch** out,
                                             dl_error* error);
/* Ends every dl_epoch_next that waits on this handle, with DL_INTERRUPTED. If no call is waiting, the next one
 * returns DL_INTERRUPTED, so that no interrupt is lost. Never blocks. NULL is allowed. Threading: any thread,
 * including in a signal handler. Since 0.3. */
DL_API void dl_epoch_interrupt(dl_epoch* epoch);
/* Frees the handle, even after its loader was destroyed. NULL is allowed. If a handle is released in the middle of
 * its epoch, that epoch stays the current one until another loop starts. Threading: once, when no other call on
 * the handle is in progress or follows. Since 0.3. */
DL_API void dl_epoch_release(dl_epoch* epoch);

/* Does what dl_loader_epoch does, without a handle, for one thread that calls dl_loader_next. Returns DL_END after
 * the last epoch. */
DL_API DL_MUST_CHECK dl_status dl_loader_begin_epoch(dl_loader* loader, dl_error* error);

/* Returns the position (epoch, step), 0 <= step <= steps. At (e, steps), DL_END_OF_EPOCH of epoch e has not been
 * returned yet. At (e + 1, 0), it has. The position counts the batches that dl_loader_next has delivered, not
 * prefetched ones. */
DL_API DL_MUST_CHECK dl_status dl_loader_position(const dl_loader* loader, int64_t* epoch, int64_t* step,
                                                  dl_error* error);
/* Moves to a position. Takes constant time, except that a Fisher-Yates or weighted order first builds its table.
 * Clears dl_loader_cancel and dl_loader_interrupt. Leased batches stay valid. Errors: DL_ERR_OUT_OF_RANGE,
 * DL_ERR_FORKED. */
DL_API DL_MUST_CHECK dl_status dl_loader_seek(dl_loader* loader, int64_t epoch, int64_t step,
                                              dl_error* error);
/* The number of batches in an epoch, the same on every rank; -1: unknown. */
DL_API int64_t dl_loader_steps(const dl_loader* loader);

/* Replaces the order (sample_indices), starting at the next epoch that has not begun. Only for loaders created
 * with sample_indices, and with the same count. Lifetime: see dl_options_set_indices. The replaced order is kept
 * until the next such call, so that a state saved with it can be loaded. To load an older state, first set its
 * order again. */
DL_API DL_MUST_CHECK dl_status dl_loader_set_indices(dl_loader* loader, const int64_t* indices, int64_t count,
                                                     void (*release)(void* context), void* context,
                                                     dl_error* error);

/* Saves the position and the identity of the job, as text of any length. The data is identified by properties that
 * a copy on another machine shares: the base names and sizes of the files in order, and a checksum of the first
 * and last 64 KiB of each (at most 64 files). If a device cannot read them, the call fails and the loader stays
 * usable.
 *
 * On input *bytes is the capacity of text. On output it is the size of the text with its NUL. If text is NULL,
 * only *bytes is set. A later call may need more or less, because the position moves. If the capacity is too
 * small, the call fails with DL_ERR_INVALID_ARGUMENT: *bytes is the size needed, and nothing is written. */
DL_API DL_MUST_CHECK dl_status dl_loader_state_save(const dl_loader* loader, char* text, size_t* bytes,
                                                    dl_error* error);
/* Seeks to a saved position. num_workers, prefetch_depth, io, memory and transform may differ from the job that
 * saved it. rank and world_size may differ too, if the global batch is equal. With tune=on, the loader starts with
 * the number of workers and the depth that the saved job had found. Errors: DL_ERR_BAD_STATE, DL_ERR_STATE_REFUSED
 * (the message names the first line that differs, with both values). */
DL_API DL_MUST_CHECK dl_status dl_loader_state_load(dl_loader* loader, const char* text, dl_error* error);

/* Ends every current and later wait with DL_CANCELLED, until a seek or load. Never blocks. Threading: any
 * thread. */
DL_API void dl_loader_cancel(dl_loader* loader);
/* Ends every dl_loader_next, dl_epoch_next and dl_loader_work that waits, with DL_INTERRUPTED. If no call is
 * waiting, the next of these calls returns DL_INTERRUPTED. Only a seek or load clears an interrupt before that.
 * Never blocks. Threading: any thread, including in a signal handler. */
DL_API void dl_loader_interrupt(dl_loader* loader);

/* Returns a handle for the host's event loop, which is signalled while dl_loader_next would not block. On Linux it
 * is a descriptor that poll, select and epoll report as readable. On Windows it is a HANDLE for
 * WaitForMultipleObjects. Only wait on it: never read, write, reset or close it. With num_workers=0 it is
 * signalled, except while lease_overflow=wait makes dl_loader_next wait for a release. The first call creates it.
 * It lives as long as the loader. Errors: DL_ERR_TOO_MANY_FILES, DL_ERR_NO_MEMORY, DL_ERR_UNSUPPORTED (other
 * systems). */
DL_API DL_MUST_CHECK dl_status dl_loader_wait_handle(dl_loader* loader, intptr_t* out, dl_error* error);

/* Returns the schema of the batches, after transforms. */
DL_API const dl_view* dl_loader_fields(const dl_loader* loader, int32_t* count);

/* Counters since the loader was created. delivered + skipped + dropped = the number of slots of this rank in the
 * epochs so far. */
typedef struct dl_stats {
  uint32_t struct_size;
  int32_t num_workers;       /* workers in use; 0: the caller's thread */
  int64_t batches;           /* batches delivered */
  int64_t samples;           /* samples delivered, without pads */
  int64_t bytes;             /* bytes delivered */
  int64_t skipped;           /* bad samples that were skipped */
  int64_t dropped;           /* slots dropped by last_batch=drop */
  int64_t padded;            /* rows added by last_batch=pad */
  int64_t replaced;          /* rows filled with a replacement sample */
  int64_t bad;               /* distinct bad samples seen */
  int64_t wait_ns;           /* time that consumers waited in dl_loader_next; 0 with num_workers=0 */
  int64_t waits;             /* calls of dl_loader_next that had to wait */
  int64_t worker_cpu_ns;     /* CPU time of worker threads; 0 with num_workers=0 */
  int64_t arena_bytes;       /* size of the slots; for rows without a fixed size, the part touched so far */
  int64_t held_bytes;        /* all host memory that the loader holds now */
  int64_t budget_bytes;      /* the memory limit in force */
  int64_t leases_held;       /* batches held by consumers now */
  int64_t lease_copies;      /* batches delivered as a new allocation, beyond the slots for leases */
  int64_t ready_batches;     /* batches loaded, not yet delivered */
  int64_t pinned_bytes;      /* page-locked memory; 0 if the system refused it (logged once) */
  int64_t threads_abandoned; /* workers abandoned in a host callback that did not return */
  int64_t device_bytes;      /* device memory that the loader holds now */
  int64_t copied_bytes;      /* bytes copied over the bus to the device */
  int64_t warned;            /* images delivered although the decoder warned of damage (on_warning=accept) */
  int64_t cache_read;        /* samples that the cache provided (option cache). Since 0.3. */
  int64_t cache_made;        /* samples that had to be processed; 0 without a cache. Since 0.3. */
} dl_stats;
/* Fills *out. */
DL_API DL_MUST_CHECK dl_status dl_loader_stats(const dl_loader* loader, dl_stats* out, dl_error* error);

/* A bad sample that the loader found (on_error replace, quarantine or raise). Bad samples are in order of
 * delivery. */
typedef struct dl_bad_sample {
  uint32_t struct_size;
  dl_status code;      /* the kind of error */
  int64_t source;      /* the part of a mix that it belongs to; 0 without a mix */
  int64_t index;       /* its index in that dataset */
  int64_t epoch;       /* the epoch where it was found first */
  int64_t step;        /* the step where it was found first */
  int64_t slot;        /* the slot where it was found first */
  int64_t replacement; /* the replacement sample; -1: skipped */
  char message[256];   /* where the sample is stored (file, member or record), then what is wrong */
} dl_bad_sample;
/* The number of bad samples found so far. */
DL_API int64_t dl_loader_bad_sample_count(const dl_loader* loader);
/* Fills *out with bad sample `index`. Errors: DL_ERR_INVALID_ARGUMENT (no such bad sample). */
DL_API DL_MUST_CHECK dl_status dl_loader_bad_sample_at(const dl_loader* loader, int64_t index,
                                                       dl_bad_sample* out, dl_error* error);

/* Cancels, joins the workers and frees the loader. NULL is allowed. Leased batches stay valid until they are
 * released. A worker inside a host callback (dl_reader, dl_storage) sees request->cancelled and has one second to
 * return. After that, the worker is abandoned together with what it uses, and a warning is logged. With a device,
 * the call waits for the copies in flight and for the work queued on released batches. The loader's loops end:
 * dl_epoch_next returns DL_ERR_WRONG_STATE, and the host releases them as usual.
 *
 * Threading: once, when no other call on the loader or on one of its loops is in progress. No call on the loader
 * may follow. */
DL_API void dl_loader_destroy(dl_loader* loader);

/* ---- Batches ---------------------------------------------------------------------------------------------- */

/* Returns all fields, in the order of dl_loader_fields. */
DL_API const dl_view* dl_batch_views(const dl_batch* batch, int32_t* count);

/* A batch's place in the job, and where its rows come from. The arrays live as long as the batch. */
typedef struct dl_batch_info {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t epoch;
  int64_t step;
  int64_t samples;               /* rows, pads included */
  int64_t valid;                 /* rows that are not padding */
  const int64_t* sample_sources; /* [samples]: which dataset of a mix; else 0 */
  const int64_t* sample_indices; /* [samples]: index in it; for replaced samples, of the replacement */
} dl_batch_info;
/* Fills *out. */
DL_API DL_MUST_CHECK dl_status dl_batch_get_info(const dl_batch* batch, dl_batch_info* out, dl_error* error);

/* dl_batch_retain adds a reference, dl_batch_release drops one. The last release returns the slot. NULL is
 * allowed. Threading: any thread. */
DL_API void dl_batch_retain(dl_batch* batch);
DL_API void dl_batch_release(dl_batch* batch);

/* Batches in device memory (device=cuda:N) are delivered while their copies are still in flight. A `stream` is a
 * CUstream or cudaStream_t of that device. NULL and cudaStreamLegacy are CUDA's legacy stream, however the program
 * was compiled. cudaStreamPerThread is the stream of the calling thread. If a batch waited in it, any thread may
 * release the batch. The library then uses the legacy stream, which runs after the streams of all threads. Neither
 * call blocks the host.
 *
 *   - dl_batch_wait: work that is queued later in `stream` starts only when the batch is complete. Call it in each
 *     stream that reads the batch, before the first use. It always records the stream, which must live until the
 *     batch is released. With device_sync=host, batches are already complete, and the call does nothing else.
 *   - dl_batch_release_on: as dl_batch_release, but the memory is reused only after the work that is now queued in
 *     `stream` is done.
 *   - dl_batch_release: the same for every stream that has waited for the batch and has not been passed to
 *     dl_batch_release_on.
 *
 * If a stream reads a batch without having waited for it, either its work must be finished before the batch is
 * released, or the stream must be passed to dl_batch_release_on.
 *
 * CUDA graphs. Any thread may make any call while a graph is being captured, without invalidating the capture. The
 * exception is dl_batch_wait: it rejects a stream that is being captured (DL_ERR_WRONG_STATE), because the memory
 * will hold another batch when the graph runs. Wait before the capture begins, and copy the batch into memory of
 * your own that the graph reads. If a batch is released while a stream that used it is being captured, the release
 * is ordered after that stream, once the capture is over. The stream must live until then. If no other memory is
 * free meanwhile, dl_loader_next returns DL_ERR_WRONG_STATE after a second.
 *
 * fork(). A child must not access the memory of batches or slots. On Linux kernels older than 5.9, after fork()
 * the parent's page-locked memory (device=cuda, pin_memory) may no longer be the pages that the device reads. On
 * such kernels, do not fork while a loader exists. Start processes before the loader is created, or use
 * posix_spawn.
 *
 * On the cpu device there is nothing to wait for, and dl_batch_release_on does what dl_batch_release does.
 * dl_batch_release_on always drops the reference, even if it fails.
 *
 * Errors:
 *   - DL_ERR_INVALID_ARGUMENT: a stream of a different device, or one that was destroyed. The library then waits
 *     for the whole device before it reuses the memory.
 *   - DL_ERR_WRONG_STATE, DL_ERR_DEVICE_LOST, DL_ERR_FORKED.
 *
 * Threading: any thread; the thread's current CUDA context is preserved. */
DL_API DL_MUST_CHECK dl_status dl_batch_wait(dl_batch* batch, void* stream, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_batch_release_on(dl_batch* batch, void* stream, dl_error* error);

/* Return a field as a DLPack tensor. The tensor holds the batch until its deleter is called, on any thread, even
 * after the loader is destroyed. dl_batch_dlpack_versioned (DLPack 1.x) flags the tensor read-only if the view is.
 * The tensors of dl_batch_dlpack have no such flag, so read-only fields fail with DL_ERR_UNSUPPORTED. For a ragged
 * field, the tensor is the packed data.
 *
 * These calls do not wait until device memory is complete: call dl_batch_wait for each stream. The deleter does
 * what dl_batch_release does. If no stream has waited, as with DLPack's stream=-1, the library assumes that CUDA's
 * legacy stream reads the batch, and with it all blocking streams. It reuses the memory only after the work that
 * was queued in them when the batch was released. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
DL_API DL_MUST_CHECK dl_status dl_batch_dlpack(dl_batch* batch, int32_t field, struct DLManagedTensor** out,
                                               dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_batch_dlpack_versioned(dl_batch* batch, int32_t field,
                                                         struct DLManagedTensorVersioned** out,
                                                         dl_error* error);

/* Returns the batch as a record batch of Arrow's C data interface: a struct array of the rows that are not
 * padding, without nulls. It has a child for each field of dl_batch_views:
 *
 *   - dense: the type of the values, inside a fixed_size_list for each dim after the first
 *   - ragged: large_list of that
 *   - ragged u8 of one dim: large_binary
 *
 * The array shares the batch's memory, and holds the batch until the array is released (from any thread, even
 * after the loader is destroyed). The same applies to a child that is moved out of it. Two kinds of fields are
 * copied: bool, which Arrow stores as bits, and fields whose rows are not stored one after another
 * (DL_VIEW_OVERLAPPING, several fields of one record). The schema does not hold the batch. The previous contents
 * of *schema and *array are ignored; after an error they are unchanged. Errors: DL_ERR_UNSUPPORTED (bf16 and
 * complex numbers, a dim above 2^31 - 1, a batch in device memory). Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_batch_arrow(dl_batch* batch, struct ArrowSchema* schema,
                                              struct ArrowArray* array, dl_error* error);

/* ---- Unstable --------------------------------------------------------------------------------------------- */
/* Calls that may change or be removed in a minor release. They have their own symbol version (DATALINE_UNSTABLE):
 * if the library lacks a call that a program uses, the dynamic linker refuses to start the program instead of
 * letting it crash later. Define DL_STABLE_ONLY before the include to leave these calls out. */
#ifndef DL_STABLE_ONLY
#define DL_UNSTABLE /* marks these calls */

typedef struct dl_opening dl_opening; /* a dataset that is being opened */
/* Starts opening a dataset on a library thread, as dl_dataset_open does, and returns immediately. Use it if the
 * host must not block, or wants to show progress. The options are copied. That thread calls their log and
 * allocator. Errors: DL_ERR_THREAD (the thread could not be started). dl_opening_wait reports errors in the URI
 * and the data. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_open_async(const char* uri, const dl_options* options,
                                                                 dl_opening** out, dl_error* error);
/* Waits for an opening. A negative timeout_ns waits without limit, 0 polls. DL_OK: *out is the dataset, which the
 * caller destroys. It is returned only once, and stays valid after the opening is destroyed. DL_TIMEOUT: it is not
 * open yet. DL_CANCELLED and the errors of dl_dataset_open are returned by every call. Errors: DL_ERR_WRONG_STATE
 * (the dataset was returned before), DL_ERR_FORKED (in a forked child), those of dl_dataset_open. Threading: any
 * thread. If several wait, one gets the dataset. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_opening_wait(dl_opening* opening, int64_t timeout_ns,
                                                           dl_dataset** out, dl_error* error);
/* Returns a handle (an eventfd on Linux) that becomes readable when dl_opening_wait no longer blocks. Poll it;
 * never read or close it. The first call creates it. It lives as long as the opening. Errors:
 * DL_ERR_TOO_MANY_FILES, DL_ERR_UNSUPPORTED, DL_ERR_FORKED. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_opening_wait_handle(dl_opening* opening, intptr_t* out,
                                                                  dl_error* error);
/* The progress of an opening. All numbers only grow. The library lists files before it opens the first one, so totals
 * grow as well, but a total is never less than the part that is done. Log lines with DL_LOG_PROGRESS contain the same
 * numbers. */
typedef struct dl_progress {
  uint32_t struct_size;
  int32_t done;        /* 1: dl_opening_wait would not wait */
  int64_t files;       /* files opened so far */
  int64_t total_files; /* files of the URI; 0: not known yet */
  int64_t bytes;       /* bytes read into memory (io=memory, .gz: as stored, then decompressed) or searched */
  int64_t total_bytes; /* size of the files that were started; 0: only headers are read */
  int64_t entries;     /* entries found in folders, label files and tars */
} dl_progress;
/* Fills *out. Never blocks. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_opening_progress(const dl_opening* opening, dl_progress* out,
                                                               dl_error* error);
/* Ends the opening soon, with DL_CANCELLED, unless it completes first. The cancel token of the options has the
 * same effect, but this call does not cancel the token. Never blocks. NULL is allowed. Threading: any thread. */
DL_API DL_UNSTABLE void dl_opening_cancel(dl_opening* opening);
/* Cancels the opening, waits for its thread and frees it. If the dataset was not returned, it is freed too. The
 * thread checks for cancellation between files, after every 8 MiB or 1024 entries, and between members of a .gz
 * file. NULL is allowed. In a forked child it only frees memory. Do not call it from a callback. */
DL_API DL_UNSTABLE void dl_opening_destroy(dl_opening* opening);

/* Describes the local files that the dataset is read from, as lines of text "key: value". Compare this text with
 * an earlier one to decide whether you can reuse something that was made from the dataset. Two texts are equal if
 * the structure is equal (formats, fields, keys, order of parts) and if the canonical path, size, inode,
 * modification time and status-change time of each file are equal. A remount does not change the text. Paths
 * appear as digests. A storage object is described by its fingerprint instead. In a folder, every file is
 * examined. *bytes and text: see dl_loader_state_save. Errors: DL_ERR_UNSUPPORTED (data in memory, a reader
 * without files and fingerprint, objects without a fingerprint: changes cannot be detected). Threading: any
 * thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_identity(const dl_dataset* dataset, char* text,
                                                               size_t* bytes, dl_error* error);

/* The format of an encoded image. */
#define DL_IMAGE_JPEG 1
#define DL_IMAGE_PNG 2
#define DL_IMAGE_WEBP 3
#define DL_IMAGE_PNM 4 /* PGM, PPM, PAM. Since 0.3 */
/* The header of an encoded image. */
typedef struct dl_image_info {
  uint32_t struct_size;
  int32_t format; /* DL_IMAGE_* */
  int64_t width;  /* pixels, as stored, before any Exif orientation */
  int64_t height;
  int32_t channels;    /* as stored: 1 (grey or palette), 2 (grey and alpha), 3, 4 (RGBA or CMYK) */
  int32_t bits;        /* per channel */
  int32_t orientation; /* Exif, 1 to 8; 1 if absent */
  int32_t progressive; /* 1: progressive or interlaced */
  int64_t bytes;       /* encoded size */
} dl_image_info;
/* Reads the header of an encoded image (a ragged u8 field) without decoding it. If field is NULL, it is `image`,
 * or the only field of that kind. For a dataset from a reader, this calls `read`. On error, dl_error.sample_index
 * is `index`.
 *
 * Errors:
 *   - DL_ERR_UNSUPPORTED: a field of a different kind.
 *   - DL_ERR_CORRUPT: not an image, or an inconsistent header.
 *   - DL_ERR_NO_SUCH_FIELD, DL_ERR_OUT_OF_RANGE, DL_ERR_TRUNCATED, and the errors of reading the sample.
 *
 * Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_image_info(const dl_dataset* dataset, const char* field,
                                                                 int64_t index, dl_image_info* out,
                                                                 dl_error* error);

/* Returns how to convert delivered values back to pixels: a value in a channel of field `field` (index in
 * dl_loader_fields) is `pixel * scale + offset`, where `pixel` is the stored u8 or u16. If all channels have the
 * same scale, pass any channel. Errors: DL_ERR_INVALID_ARGUMENT (no such field or channel), DL_ERR_UNSUPPORTED
 * (the values do not map back to pixels). Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_pixel_scale(const dl_loader* loader, int32_t field,
                                                                 int64_t channel, double* scale,
                                                                 double* offset, dl_error* error);

/* One stage of a sample: on the host, a copy over the bus, or on the device. Stages are listed in order, field by
 * field. The bytes of all copies add up to the bus traffic of a sample. */
typedef struct dl_plan_stage {
  uint32_t struct_size;
  int32_t device_type; /* DL_DEVICE_CPU or DL_DEVICE_CUDA; for a copy, the destination */
  const char* field;   /* borrowed from the loader, like `text` */
  /* "gather", "copy", operators as written ("normalize(mnist), chw"), or "with F": the field is part of the bytes
   * of field F */
  const char* text;
  int64_t bytes_in; /* per sample; -1 if varying */
  int64_t bytes_out;
} dl_plan_stage;
/* The number of stages. */
DL_API DL_UNSTABLE int32_t dl_loader_plan_count(const dl_loader* loader);
/* Fills *out with stage `index`. Errors: DL_ERR_INVALID_ARGUMENT (no such stage). Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_plan_at(const dl_loader* loader, int32_t index,
                                                             dl_plan_stage* out, dl_error* error);

/* ---- Measurements ----------------------------------------------------------------------------------------- */
/* Where the time goes. The counters of dl_stats are always available. With stats=full, or once a trace has begun,
 * the loader also measures each worker's time, by stage and by reason for waiting, and the consumer's calls of
 * dl_loader_next. This costs at most 1 %, or 0.1 us per batch. Where runs take only microseconds, the loader
 * measures one of several and extrapolates. */

typedef struct dl_metrics dl_metrics; /* measurements of a loader; outlives the loader */
/* Returns a table of what the loader measures. The table stays valid after the loader is destroyed, and then
 * contains the last values. Destroy it with dl_metrics_destroy (NULL is allowed). In a forked child, calls on it
 * return DL_ERR_FORKED. Threading: any thread. Any number of threads may read one dl_metrics, even while its
 * loader is destroyed. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_metrics(const dl_loader* loader, dl_metrics** out,
                                                             dl_error* error);
DL_API DL_UNSTABLE void dl_metrics_destroy(dl_metrics* metrics);

#define DL_METRIC_COUNTER 1     /* only grows */
#define DL_METRIC_GAUGE 2       /* current value */
#define DL_METRIC_DURATION 3    /* how often, and how long */
#define DL_THREAD_ALL (-1)      /* dl_metric.thread: all threads together */
#define DL_THREAD_CONSUMER (-2) /* dl_metric.thread: the threads that call dl_loader_next */

/* One row of the table. Counters and gauges have the names of the members of dl_stats. The durations are:
 *
 *   `next`     calls of dl_loader_next that delivered a batch
 *   `between`  the time from one such call to the next
 *   `work`     a thread fills batches. `part` is the stage: "order", "read" (finding records, waiting for
 *              storage), "pack", "copy to device", and for each field its operators ("image: decode" and others)
 *              or a copy ("label: copy").
 *   `wait`     a worker waits. `part` is the reason: "no room" (prefetch_depth batches are ready, the consumer is
 *              slower), "no work" (other threads load the rest), "parked" (there is no CPU for it), "device" (the
 *              device still reads all slots).
 *   `off_cpu`  the part of `work` in which the thread was not on a CPU: "no CPU" (other threads used them all),
 *              "storage" (and anything else that blocks). 0 if the system does not report it.
 *   `device`   the device works on a batch, measured by its own clock: "copy", "kernels". Known when the slot is
 *              reused.
 *
 * Since 0.3. */
typedef struct dl_metric {
  uint32_t struct_size;
  int32_t kind;     /* DL_METRIC_* */
  const char* name; /* borrowed from the dl_metrics, like the three below */
  const char* part; /* "" if the row is not divided */
  const char* unit; /* "ns", "bytes", "samples", ... */
  const char* doc;
  int32_t thread; /* a worker, from 0; DL_THREAD_ALL; DL_THREAD_CONSUMER */
  uint32_t reserved;
  int64_t value;  /* duration: the sum */
  int64_t count;  /* duration: how often. Count and sum are estimates if not every run is timed */
  int64_t bytes;  /* stage: bytes that it read or produced */
  int64_t p50_ns; /* median of the times, rounded up by at most an eighth */
  int64_t p99_ns;
  int64_t max_ns;
} dl_metric;
/* The number of rows. It grows once, when a trace begins. Since 0.3. */
DL_API DL_UNSTABLE int64_t dl_metrics_count(const dl_metrics* metrics);
/* Fills *out with row `index`. Errors: DL_ERR_INVALID_ARGUMENT (no such row). Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_metrics_at(const dl_metrics* metrics, int64_t index,
                                                         dl_metric* out, dl_error* error);

/* Writes the table in Prometheus's text format 0.0.4. Names are, for example, `dataline_batches_total` and
 * `dataline_worker_work_seconds_total{thread="0",stage="read"}`. `dataline_exposed_seconds_total` is the time that
 * consumers waited in dl_loader_next. labels is added to each series, as in `rank="0",job="x"`; NULL: none.
 * *bytes: see dl_loader_state_save. Errors: DL_ERR_INVALID_ARGUMENT (invalid labels, or too little room).
 * Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_metrics_text(const dl_metrics* metrics, const char* labels,
                                                           char* text, size_t* bytes, dl_error* error);

/* A call of dl_loader_next that took 10 ms or more. If calls end with DL_TIMEOUT or DL_INTERRUPTED, their time is
 * added to the next call that delivers a batch. The time between the calls does not count. Since 0.3. */
typedef struct dl_stall {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t epoch;   /* epoch of the batch that was delivered */
  int64_t step;    /* step of that batch */
  int64_t wait_ns; /* duration of the call */
  /* What the workers spent that time on, as dl_metric.part; "leases": the consumer held max_leases batches.
   * Borrowed from the dl_metrics. */
  const char* cause;
} dl_stall;
/* The number of stalls that are kept: the last 64. Since 0.3. */
DL_API DL_UNSTABLE int64_t dl_metrics_stall_count(const dl_metrics* metrics);
/* Fills *out with stall `index`; the oldest is 0. Errors: DL_ERR_INVALID_ARGUMENT (no such stall). Threading: any
 * thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_metrics_stall_at(const dl_metrics* metrics, int64_t index,
                                                               dl_stall* out, dl_error* error);

/* Receives a trace instead of a file. Since 0.3. */
typedef struct dl_trace_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  /* Receives the next piece of the text. Returns 0, or an error number, which ends the trace. Called from any
   * thread, one call at a time. Not called after dl_loader_trace_stop or dl_loader_destroy has returned. Must not
   * call Dataline. */
  int32_t (*write)(void* context, const char* text, size_t bytes);
} dl_trace_sink;

/* Starts a trace, which records what each thread does from now on, and the life of each batch. The text is JSON in
 * Chrome's trace event format, which Perfetto and speedscope can open. Timestamps are the time of day in
 * microseconds; the clock is read only once, so that they never jump. path is a new file, an empty one, or an
 * older trace, which is overwritten. If path is NULL, sink receives the text. The trace ends with a log message
 * when it reaches 256 MiB or when the disk is full. The job continues.
 *
 * Errors:
 *   - DL_ERR_INVALID_ARGUMENT: neither path nor sink, or both.
 *   - DL_ERR_WRONG_STATE: a trace is being written, or the file holds other data.
 *   - DL_ERR_NOT_A_FILE: a FIFO, a device or a directory.
 *   - DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_IO.
 *
 * Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_trace_start(dl_loader* loader, const char* path,
                                                                 const dl_trace_sink* sink, dl_error* error);
/* Ends the trace, as dl_loader_destroy does. Does nothing if there is no trace. Errors: DL_ERR_IO if the trace
 * could not be written completely, or DL_ERR_TOO_LARGE if it reached a limit. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_trace_stop(dl_loader* loader, dl_error* error);

/* ---- Tuning ----------------------------------------------------------------------------------------------- */
/* The number of workers and the prefetch depth can change while a job runs. Either the loader changes them (option
 * `tune`, on by default with num_workers=auto), or the host does. The delivered bytes stay the same.
 *
 * Limits: num_workers=auto allows the number of CPUs, or 8 if that is more. prefetch_depth=auto, or not set,
 * allows 16 batches. If an option is a number, that number is the limit. The memory plan covers the limits from
 * the start. They are lower if memory_budget requires it, or if the system refuses to start a thread.
 *
 * The loader measures what the consumer receives: batches per second, and the share of time it waits. It reverts
 * each change that does not help. When nothing is left to try, it rests until the rate falls by a tenth, the share
 * of time spent waiting rises by 0.1, or the number of CPUs changes. It logs each decision (DL_LOG_INFO). */

/* Sets the number of active workers: 1 to dl_tuned.most_workers. Other workers finish the rows that they are
 * loading and then sleep. This ends tuning. Never blocks for long. Errors: DL_ERR_OUT_OF_RANGE, DL_ERR_WRONG_STATE
 * (created with num_workers=0), DL_ERR_FORKED. Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_set_workers(dl_loader* loader, int64_t count,
                                                                 dl_error* error);

/* The value of the option `tune`. */
#define DL_TUNE_OFF 0   /* workers and depth do not change */
#define DL_TUNE_WATCH 1 /* reports what it would try, and changes nothing */
#define DL_TUNE_ON 2    /* changes workers and depth */
/* The workers and the depth in use, and what tuning does or would do. Since 0.3. */
typedef struct dl_tuned {
  uint32_t struct_size;
  int32_t mode;           /* DL_TUNE_*: the option `tune` */
  int64_t num_workers;    /* active workers, perhaps only as a trial; 0: the caller's thread */
  int64_t prefetch_depth; /* the depth in use */
  int64_t most_workers;   /* memory is planned for this many workers */
  int64_t most_depth;     /* memory is planned for this depth */
  int64_t wanted_workers; /* the best number so far; with DL_TUNE_WATCH, the number to try next */
  int64_t wanted_depth;   /* the best depth so far; with DL_TUNE_WATCH, the depth to try next */
  int64_t changes;        /* how often the setting changed so far */
  int32_t frozen;         /* 1: nothing is tried now */
  uint32_t reserved;
  /* Batches consumed per second, in the last complete measurement. Before that 0, as is wait_share. */
  double batches_per_s;
  double wait_share; /* share of that time in which the consumer waited, 0 to 1 */
  char text[160];    /* what tuning does, and why */
} dl_tuned;
/* Fills *out. Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_tuned(const dl_loader* loader, dl_tuned* out,
                                                           dl_error* error);

/* ---- Mixes ------------------------------------------------------------------------------------------------ */
/* A mix draws from several datasets (parts) in given shares, or repeats every sample of a part a given number of
 * times per epoch. A loader over it delivers one stream. dl_batch_info.sample_sources names the part of each row,
 * and sample_indices the sample of that part. A recipe file (`mix:recipe.json`) can describe the same mix. The
 * part of each slot of the stream is a pure function of the recipe, the seed and the position: see
 * docs/pages/reference/order.md. A mix supports every shuffle, and homogeneous=batch. Repeats do not support
 * shuffle=window and homogeneous=batch together (DL_ERR_UNSUPPORTED). Mixes do not support weights and
 * bucket_edges (DL_ERR_BAD_OPTION). */

/* A part of a mix. Either every part has a repeat, or none. Since 0.3. */
typedef struct dl_mix_part {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;          /* in messages, states and statistics; NULL: its number. Must be unique */
  const dl_dataset* dataset; /* the mix keeps its own reference */
  /* Relative to the other parts. 0: the part is not drawn until a stage sets another weight. Each part has its own
   * epochs. */
  double weight;
  /* Each sample occurs floor(repeat) times in an epoch. The fraction is the share of samples that occur once more;
   * they are drawn again for each epoch. */
  double repeat;
  const char* transform; /* applied to its samples before the loader's transform; NULL: none */
} dl_mix_part;

/* Weights that apply from a step of the job on. Steps are counted over all epochs. Since 0.3. */
typedef struct dl_mix_stage {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t step;          /* at least 1; ascending from stage to stage */
  const double* weights; /* [part_count] */
} dl_mix_stage;

/* Creates a mix of datasets whose fields have the same names. If fields are stored differently, the transforms of
 * the parts must convert them to the same type and shape. If only sizes differ, you can also use
 * homogeneous=batch: each batch then has rows of one part. If stage_count is 0, stages may be NULL.
 * samples_per_epoch is used only with weights; -1: the number of samples in all parts. Parts, stages, names and
 * transforms are copied. The mix keeps its own references to the datasets. options may be NULL. With pack_length,
 * the documents of one epoch (in the order of shuffle=full and seed 0) are packed. The result is no longer a mix:
 * a row can contain documents of several parts.
 *
 * If parts of a mix have their own transforms or shapes, only a loader can produce its samples. dl_dataset_zip,
 * dl_dataset_concat and dl_dataset_subset reject such a mix (DL_ERR_UNSUPPORTED).
 *
 * Errors:
 *   - DL_ERR_INVALID_ARGUMENT: a NULL, two equal names, weights and repeats in one mix, repeats with stages or
 *     samples_per_epoch.
 *   - DL_ERR_OUT_OF_RANGE: an invalid weight, repeat, step or samples_per_epoch; all weights are 0.
 *   - DL_ERR_MISMATCH: the parts do not match. The message names both and suggests a fix.
 *   - DL_ERR_EMPTY: a part without samples.
 *   - DL_ERR_BAD_TRANSFORM, DL_ERR_NO_SUCH_FIELD: in the transform of a part.
 *   - DL_ERR_TOO_LARGE: over 1,024 different transforms and shapes.
 *   - DL_ERR_UNSUPPORTED: a part that is a mix. With pack_length: stages, parts without documents, transforms of
 *     parts.
 *   - DL_ERR_OVER_BUDGET: packing needs 8 bytes per document.
 *
 * Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_mix(const dl_mix_part* parts, int32_t part_count,
                                                          const dl_mix_stage* stages, int32_t stage_count,
                                                          int64_t samples_per_epoch,
                                                          const dl_options* options, dl_dataset** out,
                                                          dl_error* error);

/* A part of a mix, as its dataset or a loader describes it. Since 0.3. */
typedef struct dl_part {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;  /* name in the mix; borrowed from the dataset or loader, like `uri` and `transform` */
  const char* uri;   /* dataset: as in the recipe, or as its dataset was opened; loader: NULL */
  int64_t samples;   /* the sample count of the part */
  int64_t delivered; /* loader: samples delivered to this rank since create, without pads */
  double repeat;     /* dataset: its repeat; 0: it has a weight */
  /* Loader: how many passes over the part the job has made at its position, over all ranks. */
  double epochs;
  double share_asked;    /* the requested share of the samples drawn now; dataset: at the start of a job */
  double share_got;      /* loader: the share of what was delivered */
  const char* transform; /* dataset: the part's own transform, "" for none; loader: NULL */
} dl_part;
/* The number of parts of a mix; 0 for other datasets. Since 0.3. */
DL_API DL_UNSTABLE int32_t dl_dataset_part_count(const dl_dataset* dataset);
/* Fills *out with part `index`. Errors: DL_ERR_INVALID_ARGUMENT (no such part). Threading: any thread. Since
 * 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_part_at(const dl_dataset* dataset, int32_t index,
                                                              dl_part* out, dl_error* error);
/* The number of parts of the mix that a loader delivers; 0 for other datasets. Since 0.3. */
DL_API DL_UNSTABLE int32_t dl_loader_part_count(const dl_loader* loader);
/* Fills *out with part `index`. Errors: DL_ERR_INVALID_ARGUMENT (no such part). Threading: any thread. Since
 * 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_part_at(const dl_loader* loader, int32_t index,
                                                             dl_part* out, dl_error* error);

/* ---- Writing sets ------------------------------------------------------------------------------------------ */

typedef struct dl_writer dl_writer; /* writes a set */
/* Writes rows as a set: a directory of shards (part-00000.arrow, ...) and a manifest, dataline.manifest.
 * dl_dataset_open reads the set as `FORMAT:PATH`. Until dl_writer_finish, the directory is called PATH.partial:
 * PATH appears only when the set is complete. A shard is synced to the disk (fsync) before the manifest lists it.
 * After a crash, or dl_writer_destroy without finish, dl_writer_create with the same arguments resumes after the
 * last such shard. It first verifies the checksum of every finished shard. If one does not match, that shard and
 * all later ones are written again.
 *
 *   uri     `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`. A shard ends after the append that makes it reach
 *           shard_bytes (default: 256MiB). arrow and parquet accept a codec: none (default), lz4 or zstd.
 *   fields  Those of one sample, as in dl_reader. Read during the call only. Names are 1 to 255 bytes of UTF-8
 *           without control characters and characters that set the direction of text, so that every set can be opened.
 *   job     A string that identifies the contents of the set; NULL: "". The call rejects a PATH.partial whose
 *           finished shards have a different job, fields, shard_bytes or codec. It also rejects a PATH.partial
 *           that was not made by a writer: a link, a file, or a directory with files but without a manifest. It
 *           then changes nothing on the disk.
 *
 * The formats are:
 *
 *   arrow, parquet  any field except bf16 and complex ones. To read a parquet set, use the Parquet plug-in.
 *   tar             bytes, strings, a label; by WebDataset's conventions
 *   tfrecord        tf.train.Example: bytes, integers as i64, f32
 *   npy             one dense field
 *   tokens          the integers of one field, one sample after another; sample boundaries are not kept
 *
 * Errors:
 *   - DL_ERR_UNSUPPORTED: a field that the format cannot store.
 *   - DL_ERR_WRONG_STATE: PATH exists, another process writes it, or PATH.partial was not made by a writer.
 *   - DL_ERR_STATE_REFUSED: PATH.partial belongs to a different job.
 *   - DL_ERR_CORRUPT: the manifest of PATH.partial is damaged.
 *   - DL_ERR_NOT_FOUND: the parent directory of PATH does not exist.
 *   - DL_ERR_BAD_URI, DL_ERR_INVALID_ARGUMENT, DL_ERR_PERMISSION, DL_ERR_IO.
 *
 * Threading: append, finish and the counts may be called from any thread, even concurrently. The rows of one
 * append stay together. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_create(const char* uri, const dl_view* fields,
                                                            int32_t field_count, const char* job,
                                                            dl_writer** out, dl_error* error);
/* Appends the samples of all arrays: one array per field, in the order of the fields, with the same name, kind,
 * dtype and shape. They are read during the call only. position (may be NULL) is what the host needs to resume
 * after these rows. After a restart, dl_writer_position returns the position of the last finished shard.
 *
 * If a row cannot be stored, none of the rows of the call are stored, and the writer stays usable:
 * DL_ERR_MISMATCH, DL_ERR_INVALID_ARGUMENT, DL_ERR_OUT_OF_RANGE, DL_ERR_TOO_LARGE. If the file system fails, for
 * example because the disk is full (DL_ERR_IO, DL_ERR_PERMISSION and others), every later call returns that error.
 * Finished shards are kept for the next dl_writer_create. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_append(dl_writer* writer, const dl_array* arrays,
                                                            int32_t count, const char* position,
                                                            dl_error* error);
/* Ends the last shard and renames the set to PATH. Nothing can be appended afterwards. Errors: DL_ERR_EMPTY (no
 * rows), DL_ERR_WRONG_STATE (already finished), and errors of files. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_finish(dl_writer* writer, dl_error* error);
/* The progress of a writer. Since 0.3. */
typedef struct dl_writer_info {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t samples;         /* samples appended, including those present at create */
  int64_t resumed_samples; /* samples present at create */
  int64_t shards;          /* finished shards */
  int64_t bytes;           /* size of the finished shards */
} dl_writer_info;
/* Fills *out. Errors: DL_ERR_INVALID_ARGUMENT. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_get_info(const dl_writer* writer, dl_writer_info* out,
                                                              dl_error* error);
/* The position of the last shard that was present at create; "": none. Valid as long as the writer. Since 0.3. */
DL_API DL_UNSTABLE const char* dl_writer_position(const dl_writer* writer);
/* Destroys the writer. NULL is allowed. Without dl_writer_finish the finished shards stay, and the rows of the
 * open shard are lost. Since 0.3. */
DL_API DL_UNSTABLE void dl_writer_destroy(dl_writer* writer);
/* The number of formats that can be written. Since 0.3. */
DL_API DL_UNSTABLE int32_t dl_writer_format_count(void);
/* dl_writer_format_name returns the name of a format, dl_writer_format_doc one line about it. NULL for an index
 * out of range. Since 0.3. */
DL_API DL_UNSTABLE const char* dl_writer_format_name(int32_t index);
DL_API DL_UNSTABLE const char* dl_writer_format_doc(int32_t index);

/* ---- Extensions ------------------------------------------------------------------------------------------- */
/* Formats, operators, storages and threads that the host adds, without globals. Add them to a dl_extensions and
 * pass it to dl_options_set_extensions. Datasets opened with these options can use its formats and storages, and
 * loaders its operators and threads.
 *
 * Tables are copied, with their strings and arrays. `destroy` (may be NULL) is called once with `context`, from
 * any thread, when no extensions, options, dataset or loader needs the table. It is not called if the call that
 * receives the table fails. A name that the library or the object already uses is rejected
 * (DL_ERR_INVALID_ARGUMENT).
 *
 * Callbacks are called from several threads concurrently. A callback that returns a dl_status must return DL_OK,
 * or an error that it describes with dl_error_set. A call that was cancelled may also return DL_CANCELLED. The
 * library reports any other value as DL_ERR_READER and names the function and the value in the message (for
 * `prepare` of an operator: DL_ERR_BAD_TRANSFORM). Structs passed to callbacks are valid only during the call and
 * have the length struct_size.
 *
 * Threading: calls that add to a dl_extensions, set it in options or list it must not overlap. */

/* Creates an empty object. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_create(dl_extensions** out, dl_error* error);
/* Destroys the object. NULL is allowed. */
DL_API DL_UNSTABLE void dl_extensions_destroy(dl_extensions* extensions);
/* Makes the extensions added so far available to these options. Later additions do not affect them. NULL: none. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_options_set_extensions(dl_options* options,
                                                                     const dl_extensions* extensions,
                                                                     dl_error* error);
/* For callbacks: writes the code and the message (NUL-terminated UTF-8, truncated to fit) to *error, and returns
 * the code. `error` may be NULL. Threading: any thread. */
DL_API DL_UNSTABLE dl_status dl_error_set(dl_error* error, dl_status code, const char* message);

typedef struct dl_file dl_file; /* a file that host formats and storages read in place */
/* Opens a local path, or `scheme://...` of a storage in `options` (may be NULL). Errors: those of dl_dataset_open
 * for a file. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_file_open(const char* path, const dl_options* options,
                                                        dl_file** out, dl_error* error);
DL_API DL_UNSTABLE int64_t dl_file_bytes(const dl_file* file); /* The size when it was opened. */
/* Reads all `bytes` bytes at `offset`. Pass the `cancelled` pointer that the callback received, so that the
 * storage of the file can stop when the bytes are no longer needed (DL_CANCELLED). If it is NULL, the file uses the
 * cancel token of `options`. Errors: DL_ERR_TRUNCATED, DL_ERR_CHANGED, DL_ERR_IO, which name path and offset.
 * Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_file_read(const dl_file* file, int64_t offset, int64_t bytes,
                                                        void* out, const int32_t* cancelled, dl_error* error);
/* Destroys the file: once, after all reads. NULL is allowed. */
DL_API DL_UNSTABLE void dl_file_destroy(dl_file* file);

/* A key that a format accepts in a URI. */
typedef struct dl_format_key {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;
  /* The accepted words, as in `error|ignore` (all others are rejected), or the kind of value, as in "INTEGER". */
  const char* values;
  const char* default_value; /* NULL: none */
  const char* doc;
} dl_format_key;

/* What a format must open. */
typedef struct dl_format_request {
  uint32_t struct_size;
  int32_t key_count;
  const char* path; /* one path of the URI; if there are several, their datasets are concatenated */
  /* [key_count], in the order of the table: the value in the URI, or else the default; NULL: neither. */
  const char* const* values;
  const dl_options* options; /* options of the caller, for calls that `open` makes; never NULL */
  /* Becomes nonzero when the dataset is no longer needed: `open` may then return DL_CANCELLED. Read it atomically
   * (relaxed), between files and in long loops. Never NULL. Since 0.3. */
  const int32_t* cancelled;
  /* `open` may call this to report its progress, for dl_opening_progress and the log: `files` of the `total_files`
   * in the path are open. Neither number may decrease. Call it only on the thread that called `open`. Since
   * 0.3. */
  void (*report)(const struct dl_format_request* request, int64_t files, int64_t total_files);
} dl_format_request;

/* How certain a format is that it can read a file. */
#define DL_SNIFF_NO 0
#define DL_SNIFF_GUESS 1
#define DL_SNIFF_LIKELY 2  /* a header that other data could start with by chance */
#define DL_SNIFF_CERTAIN 3 /* a magic number that is long enough to be unique */

/* A format. Users open it as `name:path?key=value`. It is also detected by content or suffix, unless a format of
 * the library is more certain about the file. */
typedef struct dl_format {
  uint32_t struct_size;
  int32_t key_count;
  const char* name; /* 2 to 32 characters of a-z 0-9 _, a letter first; keys and arguments: 1 to 32 */
  const char* doc;
  const dl_format_key* keys; /* [key_count]; NULL for none */
  /* Suffixes of file names, separated by spaces: ".wav .flac"; NULL for none. Case is ignored. `open` receives the
   * path of a directory unchanged. It must read the files with these suffixes, and leave out hidden names (".x")
   * and `__MACOSX`. The library adds a note (dl_dataset_note) about the other files. */
  const char* suffixes;
  void* context;
  /* Returns DL_SNIFF_*, from the first bytes of a file (up to 512) and its size. May be NULL. */
  int32_t (*sniff)(void* context, const char* path, const void* bytes, int64_t count, int64_t file_bytes);
  /* Creates the dataset, with any function that creates one. The library then owns *out. */
  dl_status (*open)(void* context, const dl_format_request* request, dl_dataset** out, dl_error* error);
  void (*destroy)(void* context);
} dl_format;
/* Adds a format: datasets opened with these extensions can use it. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_add_format(dl_extensions* extensions,
                                                                    const dl_format* format, dl_error* error);

/* An argument of one use of an operator. */
typedef struct dl_argument_value {
  uint32_t struct_size;
  int32_t given;         /* 1: set by the user; 0: the default */
  const char* text;      /* as written, but text without its quotes; NULL: absent (the default is "none") */
  const double* numbers; /* for a number, a shape (3x32x32) or a list of numbers; else NULL */
  int64_t number_count;
} dl_argument_value;

/* One use of an operator in a transform. */
typedef struct dl_operator_use {
  uint32_t struct_size;
  int32_t argument_count;
  const dl_argument_value* arguments; /* in the order of the table; step by struct_size */
  const dl_view* input;               /* the input field of one sample, as in dl_dataset_fields */
  /* kind, dtype, rank, shape, axes and max_bytes describe the output field. In: the input field. */
  int32_t kind; /* DL_KIND_DENSE or DL_KIND_RAGGED */
  int32_t dtype;
  int32_t rank;
  int32_t draws;              /* nonzero: the output also depends on slot, epoch and seed */
  int64_t shape[DL_MAX_RANK]; /* ragged: the first dim is -1 */
  char axes[40];              /* one letter per dim, or "" */
  int64_t max_bytes;          /* ragged: of the largest sample; -1: the option max_bytes_per_sample */
  int32_t heavy;              /* nonzero: a row takes 100 us or more, so workers claim rows one by one */
  /* On error: the index of the wrong argument, so that dl_error.column points to it; else -1. */
  int32_t wrong_argument;
  void* state; /* kept for `apply`, passed to `forget` when the use ends */
  uint64_t reserved[4];
} dl_operator_use;

/* One row that an operator processes. */
typedef struct dl_operator_row {
  uint32_t struct_size;
  uint32_t reserved32;
  void* state;       /* set by `prepare`; shared by all threads */
  const void* input; /* any alignment */
  int64_t input_bytes;
  void* output; /* room for `capacity` bytes; not the input */
  int64_t capacity;
  /* In, dense: the sample's bytes, else 0. Out: bytes written, which must be whole items. More than capacity means
   * that the sample is too large (DL_ERR_TOO_LARGE). */
  int64_t bytes;
  int64_t slot; /* the row's place in the order of the epoch */
  int64_t epoch;
  uint64_t seed;
  uint64_t draw[3]; /* for dl_operator_random */
  uint64_t reserved[4];
} dl_operator_row;

/* A transform operator: one field in, one field out, row by row. */
typedef struct dl_operator {
  uint32_t struct_size;
  int32_t argument_count;
  const char* name; /* same rules as for the name of a format */
  const char* doc;
  const char* source;                /* the reference definition it follows; NULL for none */
  const dl_argument_info* arguments; /* [argument_count]; passed in this order, or by name */
  void* context;
  /* Called when a loader is created: checks arguments and input, and describes the output field. */
  dl_status (*prepare)(void* context, dl_operator_use* use, dl_error* error);
  dl_status (*apply)(void* context, dl_operator_row* row, dl_error* error); /* an error is a bad sample */
  void (*forget)(void* context, void* state);                               /* may be NULL */
  void (*destroy)(void* context);
} dl_operator;
/* Adds an operator: loaders created with these extensions can use it. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_add_operator(dl_extensions* extensions,
                                                                      const dl_operator* table,
                                                                      dl_error* error);
/* Returns random number `number` (0, 1, ...) of this operator for this row, as the library's own operators use it.
 * It is a pure function of seed, epoch, slot, the operator's place in the transform and `number`. It does not
 * depend on threads. */
DL_API DL_UNSTABLE uint64_t dl_operator_random(const dl_operator_row* row, int64_t number);

/* An object that a storage opens. */
typedef struct dl_storage_object {
  uint32_t struct_size;
  uint32_t reserved32;
  const char* path; /* complete, with its scheme */
  /* Becomes nonzero when the open is cancelled. Read it atomically. Never NULL. */
  const int32_t* cancelled;
  /* Options of the caller, for a storage that opens objects of another storage with dl_file_open. Never NULL. */
  const dl_options* options;
  void* object;  /* out: for `read` and `close` */
  int64_t bytes; /* out */
  /* Out: a string that changes when the bytes of the object change, such as a version or an ETag (since 0.3). The
   * library reads it before any other call for the object. NULL: changes cannot be detected, so the option `cache`
   * and a resumed conversion reject the object. */
  const char* fingerprint;
  uint64_t reserved[3];
} dl_storage_object;

/* Bytes that a storage must read. */
typedef struct dl_storage_read {
  uint32_t struct_size;
  uint32_t reserved32;
  void* object;
  int64_t offset;
  int64_t bytes; /* within the object; all of them are needed */
  void* out;
  /* Becomes nonzero when the bytes are no longer needed: the loader that reads is being destroyed, or was
   * cancelled. Outside of a loader: the token of the options was cancelled. Read it atomically. `read` may then
   * return DL_CANCELLED, and the samples do not count as bad. Valid until `read` returns. Never NULL. */
  const int32_t* cancelled;
  uint64_t reserved[4];
} dl_storage_read;

/* A storage provides the bytes of paths that start with `scheme://`. Formats read them as they read files with
 * pread. Formats that need a directory (folder, mnist, cifar10, cifar100) do not support storages. */
typedef struct dl_storage {
  uint32_t struct_size;
  uint32_t reserved;
  const char* scheme; /* like the name of a format, but may contain + */
  const char* doc;
  void* context;
  dl_status (*open)(void* context, dl_storage_object* object, dl_error* error);
  dl_status (*read)(void* context, dl_storage_read* request, dl_error* error);
  void (*close)(void* context, void* object); /* may be NULL */
  void (*destroy)(void* context);
} dl_storage;
/* Adds a storage: datasets opened with these extensions can use it. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_add_storage(dl_extensions* extensions,
                                                                     const dl_storage* storage,
                                                                     dl_error* error);

/* The threads that workers run on. */
typedef struct dl_threads {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  /* Called on each worker thread when it starts and before it ends, to name, pin or register it. `worker` counts
   * from 0. May be NULL. */
  void (*start)(void* context, int32_t worker, const char* name);
  void (*end)(void* context, int32_t worker);
  /* NULL: the library starts the threads. Otherwise dl_loader_create calls this function, which must arrange that
   * main(argument) soon runs once on a host thread. main returns when the loader is destroyed. Returns 0, or an
   * error number (DL_ERR_THREAD). The thread needs 128 KiB of stack, in addition to what host readers and
   * operators use. The host is responsible for its signals.
   *
   * dl_loader_destroy does not wait for workers whose main has not been called yet. If main(argument) is called
   * after that, it frees its argument and returns immediately. If it is never called, a few bytes leak. */
  int32_t (*run)(void* context, int32_t worker, const char* name, void (*main)(void* argument),
                 void* argument);
  void (*destroy)(void* context);
} dl_threads;
/* Sets the threads, and replaces those that were set before. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_set_threads(dl_extensions* extensions,
                                                                     const dl_threads* threads,
                                                                     dl_error* error);

typedef void (*dl_function)(void); /* a function of any type; cast it to its own type before the call */

/* What a plug-in receives. A plug-in is a shared library that exports the function
 * `dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error)`. The function sets plugin->built_for and adds
 * to plugin->extensions. A plug-in may link with this library, or call it only through plugin->find(name). The
 * latter also works if the host links the library statically. */
typedef struct dl_plugin {
  uint32_t struct_size;
  int32_t abi_version; /* DL_ABI_VERSION of the library */
  int32_t built_for;   /* out: DL_ABI_VERSION of the header that the plug-in was built with */
  int32_t reserved32;
  dl_extensions* extensions;
  dl_function (*find)(const char* name); /* an exported function of the library, or NULL */
  uint64_t reserved[4];
} dl_plugin;
/* The type of dl_plugin_register. */
typedef dl_status (*dl_plugin_register_function)(dl_plugin* plugin, dl_error* error);

/* Loads a plug-in: a path, or a NAME without `/`, which the dynamic linker looks up as libdataline-NAME.so. It
 * stays loaded until the process ends. If registration fails, nothing that it adds is kept.
 *
 * Errors:
 *   - DL_ERR_NOT_FOUND: the message states why the dynamic linker could not load it.
 *   - DL_ERR_TRUNCATED: the file is truncated. It is not loaded, because that would crash the process.
 *   - DL_ERR_UNSUPPORTED: no such entry point, or a different ABI.
 *   - DL_ERR_NOT_A_FILE, and what the plug-in returns. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_load(dl_extensions* extensions, const char* path,
                                                              dl_error* error);

/* A format, as dl_format_at describes it. */
typedef struct dl_format_info {
  uint32_t struct_size;
  int32_t key_count;
  const char* name;
  const char* doc;
} dl_format_info;
/* dl_format_count is the number of formats: those of the library, then those of `extensions` (may be NULL).
 * dl_format_at fills *out with a format, dl_format_key_at with one of its keys. The strings live as long as the
 * library, or as `extensions`. Errors: DL_ERR_INVALID_ARGUMENT (no such format or key). */
DL_API DL_UNSTABLE int32_t dl_format_count(const dl_extensions* extensions);
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_format_at(const dl_extensions* extensions, int32_t index,
                                                        dl_format_info* out, dl_error* error);
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_format_key_at(const dl_extensions* extensions, int32_t index,
                                                            int32_t key, dl_format_key* out, dl_error* error);
/* dl_storage_count is the number of storages of `extensions`. dl_storage_at fills *out: struct_size, scheme and
 * doc; the rest is NULL. Errors: DL_ERR_INVALID_ARGUMENT (no such storage). */
DL_API DL_UNSTABLE int32_t dl_storage_count(const dl_extensions* extensions);
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_storage_at(const dl_extensions* extensions, int32_t index,
                                                         dl_storage* out, dl_error* error);

#endif /* DL_STABLE_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* DATALINE_H */
