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
 *   // A ragged field: its samples differ in length (encoded pictures, text, tokens) and lie one behind the other. Sample i is
 *   // rows offsets[i] to offsets[i + 1], without the latter; of rank 1, as here, a row is one item. `samples`: of the batch.
 *   static void print_ragged_bytes(const dl_view *field, int64_t samples) {
 *     const uint8_t *rows = (const uint8_t *)field->data + field->byte_offset;
 *     for (int64_t i = 0; i < samples; ++i) {
 *       const uint8_t *sample = rows + field->offsets[i];
 *       int64_t length = field->offsets[i + 1] - field->offsets[i];
 *       printf("sample %lld: %lld bytes, the first is %d\n", (long long)i, (long long)length, length > 0 ? sample[0] : -1);
 *     }
 *   }
 *
 * Conventions. They hold for every function unless its comment says otherwise.
 *
 * Status     Functions that can fail return a dl_status: 0 (DL_OK), a positive soft result, or a negative error.
 * Errors     The last parameter of such a function is a nullable, caller-owned dl_error, written only when the status
 *            is negative. There is no other error state: no thread-local, nothing to free. Errors are local: the
 *            object stays usable.
 * Outputs    Unless the status is DL_OK, an output pointer is set to NULL and output numbers are left unchanged.
 * Ownership  A pointer returned through `**out` belongs to the caller, who passes it to the matching destroy or
 *            release. A pointer that is the return value is borrowed from the object of the first parameter and lives
 *            as long as it. Arguments are copied unless the comment says borrowed.
 * Text       In: UTF-8, NUL-terminated, paths too, on Windows as elsewhere. Out: NUL-terminated and borrowed.
 * Structs    The caller zeroes a struct and sets its struct_size to sizeof (DL_ERROR_INIT and dl_error_init do both);
 *            later releases only append. The library reads and writes only members within struct_size, no byte past it.
 *            Structs the library fills: any struct_size of 4 or more. Structs the host passes in: any struct_size from
 *            that of release 0.2 to DL_STRUCT_MAX_BYTES; members that an older host does not know count as zero.
 *            Members named reserved, and what lies beyond the struct that this library knows, must be zero: a host
 *            built for a newer library is refused (DL_ERR_UNSUPPORTED, with the struct and the offset) only if it uses
 *            something that this library lacks.
 * Arrays     In an array of structs, in either direction, every struct_size is the same, and it is the distance in bytes
 *            from one element to the next (dl_view_at). Never index such an array with [i]: the other side may have
 *            been built with a longer struct.
 * Threading  Every function may be called from any thread, and from several at once, also on the same object, with
 *            two exceptions. Options: a call on a dl_options must not run beside another on the same one. Destroying:
 *            no other call on the object may be in progress or follow (dl_batch_release is no such call: each holder
 *            of a reference releases it when it likes). Concurrent dl_loader_next calls each get a different batch;
 *            a seek, a load or a new epoch beside them takes effect between two batches.
 * Callbacks  The library calls the host only through tables the host gave it. A callback must not throw or longjmp,
 *            and must not call Dataline unless the comment says so.
 * Numbers    Sizes are bytes, times nanoseconds; names say so. Booleans are int32_t, 0 or 1.
 * Process    Prints nothing, installs no signal handler (except for fault_guard, see dl_dataset_open), reads no
 *            environment variable, keeps no globals. Do not cancel (pthread_cancel) a thread inside a call. After
 *            fork() a dataset stays usable in the child; a loader or an opening there returns DL_ERR_FORKED, and may be
 *            destroyed.
 *
 * One file, although it is long: hosts include one header, authors of bindings read one document, and the ABI is
 * compared as one text.
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

/* What makes a function visible outside the library, and its calling convention: the platform's own for C (on Windows that
 * of x64; do not include this header under /Gv). On Windows a host that links the static library defines DL_STATIC, other
 * hosts nothing; DL_BUILD is for the library itself. */
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

/* ---- Version. Functions exist since 0.2; later ones will say "Since".      ------------------------------ */

#define DL_VERSION_MAJOR 0
#define DL_VERSION_MINOR 2
#define DL_VERSION_PATCH 0
/* Incremented when a program built against an older header could break. */
#define DL_ABI_VERSION 2

DL_API int32_t dl_version_number(void);     /* major * 10000 + minor * 100 + patch of the library in use */
DL_API const char* dl_version_string(void); /* "0.2.0" */
DL_API int32_t dl_abi_version(void);        /* compare with DL_ABI_VERSION */
/* "highway mimalloc libjpeg; gcc 12.2.0": the optional parts of the build, and the compiler. Then, if there are any, the kernels
 * for devices, by the CUDA that compiled them, with the cards they have code for ("; kernels: CUDA 12.0, sm_75 sm_80"), and missing
 * parts with what each costs: "mimalloc; gcc 12.2.0; missing: highway (normalised rows ... slower), libwebp (...)". */
DL_API const char* dl_build_info(void);

#define DL_STRUCT_MAX_BYTES 4096 /* no struct of any release is larger */

/* ---- Status and errors ------------------------------------------------------------------------------------ */

typedef int32_t dl_status; /* 0 (DL_OK), a positive soft result, or a negative error */

#define DL_OK 0
/* Soft results. */
#define DL_END_OF_EPOCH 1 /* once at the end of each epoch, including the last */
#define DL_END 2          /* after the last of `epochs` epochs, on every call */
#define DL_TIMEOUT 3      /* nothing is lost: a later call returns the batch */
#define DL_CANCELLED 4    /* dl_loader_cancel or a cancel token; until a seek */
#define DL_INTERRUPTED 5  /* dl_loader_interrupt or dl_epoch_interrupt ended this call */
/* The call. */
#define DL_ERR_INVALID_ARGUMENT (-1) /* NULL, a wrong struct_size, an invalid value */
#define DL_ERR_UNKNOWN_OPTION (-2)
#define DL_ERR_BAD_OPTION (-3)    /* wrong type, out of range, or conflicting options */
#define DL_ERR_BAD_URI (-4)       /* does not parse; unknown scheme or key; error.column */
#define DL_ERR_BAD_TRANSFORM (-5) /* does not parse or does not fit the fields; error.column */
#define DL_ERR_NO_SUCH_FIELD (-6)
#define DL_ERR_UNSUPPORTED (-7) /* known, but not in this build, this release or this kind of dataset */
#define DL_ERR_WRONG_STATE (-8)
#define DL_ERR_FORKED (-9) /* the loader belongs to the parent process */
/* The machine. */
#define DL_ERR_NO_MEMORY (-20)
#define DL_ERR_OVER_BUDGET (-21) /* memory_budget is too small: names the bytes and the option */
#define DL_ERR_LEASES_HELD (-22) /* names max_leases and how many are held */
#define DL_ERR_THREAD (-23)      /* a worker thread could not be started */
#define DL_ERR_TOO_MANY_FILES (-24)
/* The data. */
#define DL_ERR_NOT_FOUND (-40)
#define DL_ERR_PERMISSION (-41)
#define DL_ERR_NOT_A_FILE (-42) /* a directory, FIFO, socket or device where a file is needed */
#define DL_ERR_IO (-43)
#define DL_ERR_TRUNCATED (-44) /* a file is shorter than it says, or became shorter while in use */
#define DL_ERR_CORRUPT (-45)
#define DL_ERR_UNSAFE_TYPE (-46)  /* object arrays and pickles */
#define DL_ERR_MISMATCH (-47)     /* parts of a dataset that do not fit each other */
#define DL_ERR_CHANGED (-48)      /* a file was modified while in use */
#define DL_ERR_BAD_SAMPLE (-49)   /* on_error=raise: names the step, the samples and the causes */
#define DL_ERR_TOO_MANY_BAD (-50) /* more than max_bad distinct bad samples */
#define DL_ERR_OUT_OF_RANGE (-51) /* an index, label, weight, epoch or step */
#define DL_ERR_READER (-52)       /* a callback of the host's failed: a reader, or an extension */
#define DL_ERR_TOO_LARGE (-53)    /* larger than max_bytes_per_sample or another limit */
#define DL_ERR_EMPTY (-54)        /* nothing to deliver, now or later */
/* Saved state. */
#define DL_ERR_BAD_STATE (-70)     /* not a state, damaged, or of another version */
#define DL_ERR_STATE_REFUSED (-71) /* of another dataset or configuration: names both values */
/* The accelerator. */
#define DL_ERR_NO_DEVICE (-80) /* no driver, one that is too old, or no such device: names what is missing */
#define DL_ERR_DEVICE_LOST (-81) /* permanent: the loader can only be destroyed */
/* A bug in the library; please report it. */
#define DL_ERR_INTERNAL (-99)

DL_API const char* dl_status_name(dl_status status); /* "DL_ERR_CORRUPT"; never NULL */

/* An error. The message is one line with file, offset, sample or option, expected and got. */
typedef struct dl_error {
  uint32_t struct_size;
  dl_status code;
  int32_t os_error;      /* errno (on Windows the one that fits the system's error), or 0 */
  int32_t column;        /* 1-based, in a URI or transform text, or 0 */
  int64_t sample_index;  /* the (first) sample concerned, or -1 */
  int64_t sample_source; /* the dataset of a mix that it belongs to (dl_batch_info.sample_sources); 0 */
  char message[512];     /* NUL-terminated, one line of printable UTF-8, truncated when longer */
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
/* What DL_ERROR_INIT does, for hosts that cannot use a macro; struct_size is the bytes that the host has. */
DL_API void dl_error_init(dl_error* error, uint32_t struct_size);

/* ---- Handles ---------------------------------------------------------------------------------------------- */

typedef struct dl_options dl_options; /* key-value settings of a dataset and of a loader */
typedef struct dl_dataset dl_dataset; /* samples by index; immutable */
typedef struct dl_loader dl_loader;   /* a job's stream of batches; owns threads, slots and position */
typedef struct dl_epoch dl_epoch;     /* a loop over one epoch of a loader; threads may share it */
typedef struct dl_batch dl_batch;     /* a lease on one batch; reference-counted; may outlive its loader */
typedef struct dl_cancel_token dl_cancel_token; /* ends opens and waits from another thread */

/* ---- Tables the host may provide -------------------------------------------------------------------------- */

/* What a block of memory is used for. */
#define DL_MEMORY_METADATA 0
#define DL_MEMORY_TABLE 1 /* orders, indices, weights */
#define DL_MEMORY_ARENA 2 /* the batch slots, 2 MiB aligned, page-locked for a device; one block per loader */
#define DL_MEMORY_DATA 3  /* datasets held in memory, 2 MiB aligned */
#define DL_MEMORY_OVERFLOW 4 /* a batch beyond max_leases */
/* 2 MiB aligned address space that is touched only as needed: images being decoded (one block per worker), rows without a
 * fixed size (one block per loader) */
#define DL_MEMORY_FRAMES 5

/* Memory for the datasets and loaders created with it: slots, tables, data, copies. Small descriptions (handles, names,
 * schemas) come from the C++ run-time's operator new. Called from any thread. `allocate` returns NULL on failure (the
 * call then returns DL_ERR_NO_MEMORY); alignment is a power of two. `release` gets the bytes, alignment and kind of the
 * allocation. The table is copied. `destroy` (may be NULL) is called once with `context`, from any thread, when neither
 * the options nor any dataset, loader or batch made with them needs the table; not if the call that takes it fails. */
typedef struct dl_allocator {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void* (*allocate)(void* context, size_t bytes, size_t alignment, int32_t kind);
  void (*release)(void* context, void* memory, size_t bytes, size_t alignment, int32_t kind);
  void (*destroy)(void* context);
} dl_allocator;

#define DL_LOG_PROGRESS 0 /* opening a large dataset makes progress */
#define DL_LOG_INFO 1
#define DL_LOG_WARNING 2

/* Log messages. Called from any thread; `message` is valid during the call. Without a table nothing is logged. `destroy`
 * as in dl_allocator. */
typedef struct dl_log {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void (*write)(void* context, int32_t level, const char* message, size_t length);
  void (*destroy)(void* context);
} dl_log;

/* ---- Options ---------------------------------------------------------------------------------------------- */
/* Keys, types, defaults, limits and docs are in a table, from which bindings build arguments and the shell its help. Open
 * and create copy the options; later changes have no effect on them. When a key is set twice, the last value holds. */

/* Options that are all at their defaults. */
DL_API DL_MUST_CHECK dl_status dl_options_create(dl_options** out, dl_error* error);
DL_API void dl_options_destroy(dl_options* options); /* NULL is fine */
/* The same settings once more: a later change of one is none of the other. Arrays, tables, extensions and the cancel token
 * are shared, not copied; their `release` and `destroy` are called when neither needs them. */
DL_API DL_MUST_CHECK dl_status dl_options_copy(const dl_options* options, dl_options** out, dl_error* error);

/* As text, as the shell does: "256", "true", "64MiB", "full". Any key except the arrays.
 * DL_ERR_UNKNOWN_OPTION names the nearest key; DL_ERR_BAD_OPTION says what was expected. */
DL_API DL_MUST_CHECK dl_status dl_options_set(dl_options* options, const char* key, const char* value,
                                              dl_error* error);
/* As a number, for integer, size and boolean keys. */
DL_API DL_MUST_CHECK dl_status dl_options_set_i64(dl_options* options, const char* key, int64_t value,
                                                  dl_error* error);
/* The array of `sample_indices`. `release` NULL: copied now. Else borrowed: `release(context)` is called once, when
 * neither these options nor anything created from them needs the array. When the call fails nothing is borrowed and
 * `release` is not called. The same holds for every `release` parameter. */
DL_API DL_MUST_CHECK dl_status dl_options_set_indices(dl_options* options, const int64_t* indices,
                                                      int64_t count, void (*release)(void* context),
                                                      void* context, dl_error* error);
/* The array of `weights`, one per sample; lifetime as for indices. */
DL_API DL_MUST_CHECK dl_status dl_options_set_weights(dl_options* options, const double* weights,
                                                      int64_t count, void (*release)(void* context),
                                                      void* context, dl_error* error);
/* The array of `lengths`, one per sample; lifetime as for indices. */
DL_API DL_MUST_CHECK dl_status dl_options_set_lengths(dl_options* options, const int64_t* lengths,
                                                      int64_t count, void (*release)(void* context),
                                                      void* context, dl_error* error);
/* The tables are copied; what they point to must live until their `destroy`. dl_options_set_allocator and dl_options_set_log
 * replace what was set before. DL_ERR_INVALID_ARGUMENT: a function is missing, or a wrong struct_size. */
DL_API DL_MUST_CHECK dl_status dl_options_set_allocator(dl_options* options, const dl_allocator* allocator,
                                                        dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_options_set_log(dl_options* options, const dl_log* log, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_options_set_cancel_token(dl_options* options, dl_cancel_token* token,
                                                           dl_error* error); /* keeps its own reference */
/* The environment, as "NAME=value" strings ended by NULL (environ of C), for `rank=auto` and `world_size=auto`: the library reads
 * none by itself. Variables of launchers are copied, all others are ignored; dl_loader_create looks at them when one of the
 * two options is auto. DL_ERR_INVALID_ARGUMENT of that call names variables that are no ranks or contradict each other,
 * DL_ERR_BAD_OPTION a number beside auto that is not the launcher's. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_options_set_environment(dl_options* options, const char* const* environment,
                                                          dl_error* error);
/* The current value as text (the default when not set; "" for none). Borrowed until the next change. */
DL_API DL_MUST_CHECK dl_status dl_options_get(const dl_options* options, const char* key, const char** out,
                                              dl_error* error);

/* The type of an option. */
#define DL_OPTION_BOOL 1
#define DL_OPTION_INT 2
#define DL_OPTION_SIZE 3 /* bytes */
#define DL_OPTION_WORD 4 /* one of `choices` */
#define DL_OPTION_TEXT 5
#define DL_OPTION_INDICES 6 /* i64 array */
#define DL_OPTION_WEIGHTS 7 /* f64 array */
#define DL_OPTION_LENGTHS 8 /* i64 array */

/* Which process of a job a launcher says that this one is. Since 0.3. */
typedef struct dl_launcher {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t rank;
  int64_t world_size;       /* -1: it tells the rank only (pmix, kubernetes) */
  int64_t local_rank;       /* among those of this machine, to choose a device; -1: it does not say */
  int64_t local_world_size; /* -1: it does not say */
  const char*
      family; /* "torchrun", "jax", "openmpi", "pmi", "slurm", "pmix", "kubernetes", or "none": process 0 of 1 */
} dl_launcher;
/* What `environment` says, as for dl_options_set_environment: RANK and WORLD_SIZE (torchrun), else JAX_PROCESS_ID and
 * JAX_NUM_PROCESSES, else Open MPI's, PMI's, those of a Slurm step, else PMIX_RANK, else JOB_COMPLETION_INDEX. Rank and size are
 * always of one family. Of Slurm only a step counts, and one with a task a machine whose tasks start another launcher
 * does not.
 * Errors: DL_ERR_INVALID_ARGUMENT names the variables and their values: half a set, two families that contradict each
 * other, values that are no ranks. Threading: any thread. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_launcher_detect(const char* const* environment, dl_launcher* out,
                                                  dl_error* error);

/* What an option applies to. */
#define DL_SCOPE_DATASET 1
#define DL_SCOPE_LOADER 2 /* both: 3 */

/* A row of the table of options. */
typedef struct dl_option_info {
  uint32_t struct_size;
  int32_t type;
  int32_t scope;
  int32_t has_range; /* minimum and maximum apply */
  int64_t minimum;
  int64_t maximum;
  const char* key;
  const char* default_value; /* as text; "" for none */
  const char* choices;       /* "keep|drop|pad", or "" */
  const char* unit;          /* "bytes", "samples", "" */
  const char* doc;
  const char* since;
} dl_option_info;

DL_API int32_t dl_option_count(void); /* rows of the table */
/* Fills *out; its strings are never freed. */
DL_API DL_MUST_CHECK dl_status dl_option_at(int32_t index, dl_option_info* out, dl_error* error);

/* Transform operators, enumerated in the same way: those of the library, then those of `extensions` (may be NULL), whose
 * strings live as long as it does. */
typedef struct dl_transform_info {
  uint32_t struct_size;
  int32_t argument_count;
  const char* name;
  const char* doc;
  const char* source; /* the reference definition it follows */
  const char* since;
} dl_transform_info;
/* An argument of an operator. */
typedef struct dl_argument_info {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;
  const char* type;
  const char* default_value; /* "": required */
} dl_argument_info;
typedef struct dl_extensions dl_extensions; /* formats, operators, ... of the host's: see "Extensions" */
DL_API int32_t dl_transform_count(const dl_extensions* extensions); /* operators */
/* dl_transform_at and dl_transform_argument_at fill *out, whose strings live as long as the library, or as `extensions`.
 * DL_ERR_INVALID_ARGUMENT: no such operator or argument. */
DL_API DL_MUST_CHECK dl_status dl_transform_at(const dl_extensions* extensions, int32_t index,
                                               dl_transform_info* out, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_transform_argument_at(const dl_extensions* extensions, int32_t index,
                                                        int32_t argument, dl_argument_info* out,
                                                        dl_error* error);

/* A cancelled token ends dl_dataset_open and the waits of every loader created with it (DL_CANCELLED).
 * dl_cancel_token_cancel: any thread, never blocks, cannot be undone. */
DL_API DL_MUST_CHECK dl_status dl_cancel_token_create(dl_cancel_token** out, dl_error* error);
DL_API void dl_cancel_token_cancel(dl_cancel_token* token);
DL_API void dl_cancel_token_destroy(dl_cancel_token* token); /* NULL is fine */

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
DL_API const char* dl_dtype_name(int32_t dtype);     /* "u8"; "?" for an unknown value */
DL_API int32_t dl_dtype_bytes(int32_t dtype);        /* 0 for an unknown value */
DL_API int32_t dl_dtype_from_name(const char* name); /* 0 for an unknown name */

/* How the samples of a field lie in memory. */
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

/* One tensor of a batch, or of a schema. The first dim of a batch is the samples; a dataset's schema has no such dim; in
 * a loader's schema it is batch_size, or -1 where batches may differ in size.
 * Ragged (samples of different length): `data` is packed, its first dim is the sum of all lengths, and sample i is
 * rows [offsets[i], offsets[i + 1]). Bytes and UTF-8 text are ragged u8. In a schema that first dim is -1. */
typedef struct dl_view {
  uint32_t struct_size;
  int32_t kind;
  uint64_t flags;
  const char* name;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;   /* [rank]; -1: unknown or varying (schemas only) */
  const int64_t* strides; /* [rank], in elements; never NULL */
  const char* axes;       /* one letter per dim ("NHWC"), or "" when unknown */
  int32_t device_type;
  int32_t device_index;
  void* data;             /* on device_type; 256-byte aligned for batches in slots; NULL in a schema */
  uint64_t byte_offset;   /* from data to the first element */
  const int64_t* offsets; /* ragged: [samples + 1], host memory; else NULL */
  int64_t bytes;        /* of the data delivered (dense: product of shape; ragged: packed); -1 when varying */
  uint64_t reserved[4]; /* zero; later: offsets in device memory, a second level of offsets, an event */
} dl_view;
/* Element `index` of an array of views; see "Arrays" above. */
static inline const dl_view* dl_view_at(const dl_view* views, int32_t index) {
#ifdef __cplusplus
  return reinterpret_cast<const dl_view*>(reinterpret_cast<const char*>(views) +
                                          static_cast<size_t>(index) * views->struct_size);
#else
  return (const dl_view*)(const void*)((const char*)views + (size_t)index * views->struct_size);
#endif
}

/* ---- Datasets --------------------------------------------------------------------------------------------- */

/* Opens `scheme:path[,path...][?key=value&...]` or a bare path, whose format is detected. Files stay open; only headers
 * are read (except .gz and io=memory). options may be NULL; those of scope dataset apply.
 * Errors: DL_ERR_BAD_URI, DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_NOT_A_FILE, DL_ERR_TRUNCATED, DL_ERR_CORRUPT,
 * DL_ERR_MISMATCH, DL_ERR_UNSAFE_TYPE, DL_ERR_UNSUPPORTED, DL_ERR_EMPTY, DL_ERR_TOO_MANY_FILES, DL_ERR_OVER_BUDGET,
 * DL_ERR_NO_MEMORY; DL_CANCELLED.
 *
 * Files that change while in use. Every file is checked before a batch reads from it and again when the batch has been
 * copied, so that truncated data is a bad sample (DL_ERR_TRUNCATED, with file and offset) and never zeros. A file of
 * unchanged size that was modified since open (by its modification time) is DL_ERR_CHANGED as a whole: open it again. One
 * that grew, was unlinked, renamed or replaced is read as it was at open. A change of contents that affects neither size
 * nor modification time is not detected. io=auto maps files of local file systems and reads all others (network, user
 * space, unknown ones without a block device) by pread, as io=pread does.
 *
 * fault_guard=true. When a whole page of a mapped file is truncated, or its disk fails, during a read, the kernel sends
 * SIGBUS, which kills the process. With this option a SIGBUS handler turns it into an error like the above
 * (DL_ERR_TRUNCATED, DL_ERR_IO). Its rules:
 *   Others     It acts only on loads from mapped files of datasets opened with this option, and forwards everything else
 *              to the previous handler (with its flags and mask) or the default action. The first such dl_dataset_open
 *              installs it, with SA_ONSTACK, until the process ends. A handler that the host installs later must forward
 *              faults it does not know. When another such dataset is opened, a handler installed over ours is logged, and
 *              ours is installed again if the host has restored the default action.
 *   Threads    It runs in the loading thread: a worker, or the one in dl_loader_next. Workers block all signals except
 *              SIGBUS; a host thread that blocks SIGBUS and calls dl_loader_next is not guarded.
 *   fork       A child inherits the handler and its datasets stay guarded.
 *   Unloading  A shared library that has installed it stays in memory (RTLD_NODELETE); dlclose is harmless.
 *   Copies     Two copies of the library in one process both work: the later one forwards to the earlier.
 *   Windows    DL_ERR_UNSUPPORTED: the system does not let a mapped file be truncated.
 * io=pread and io=memory need no guard; the option has no effect there. */
DL_API DL_MUST_CHECK dl_status dl_dataset_open(const char* uri, const dl_options* options, dl_dataset** out,
                                               dl_error* error);

/* A field in host memory. Dense: shape[0] is the samples, in C order and packed. Strided: the same, but sample i is at
 * data + i * row_stride_bytes, itself in C order and packed; with less than a row, samples overlap, with 0 all are the
 * same row, and a negative stride goes down from data. Ragged: data is packed, shape[0] its rows, offsets[samples + 1] as
 * in dl_view. */
typedef struct dl_array {
  uint32_t struct_size;
  int32_t kind;
  const char* name;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  const char* axes; /* of one sample: "HWC"; NULL when unknown */
  const void* data;
  int64_t row_stride_bytes; /* strided: any number; else 0 */
  const int64_t* offsets;
  int64_t sample_count; /* ragged: entries in offsets minus one; dense: 0 or shape[0] */
} dl_array;
/* `release` NULL: copied. Else the arrays are borrowed and must not change; `release(context)` is called once, from
 * any thread, when the dataset and everything made from it (loaders, composed datasets) are gone. */
DL_API DL_MUST_CHECK dl_status dl_dataset_from_arrays(const dl_array* arrays, int32_t count,
                                                      void (*release)(void* context), void* context,
                                                      const dl_options* options, dl_dataset** out,
                                                      dl_error* error);

/* A table in memory, by Arrow's C stream interface (dl_dataset_from_arrow: all its arrays) or C data interface
 * (dl_dataset_from_arrow_array: one): structs whose children are the columns, or arrays of one column, which is called `data`
 * if it has no name. Fields and types are those of the format `arrow`: numbers, bool, times as their integers, binary and
 * strings as ragged u8, fixed_size_list as dims, list as ragged, leaves of structs as `struct/leaf`, dictionaries as their
 * values. Values are delivered from where they lie; copied are bool, which Arrow stores as bits, and values with nulls that are
 * filled. `keys`: those of an `arrow:` URI, as "fields=image/bytes,label&nulls=fill(0)"; NULL: all columns, and a sample with
 * a null is bad.
 *
 * What is passed is taken, on an error too: its `release` is NULL afterwards. The arrays are released when the dataset and all
 * that came of it are gone, by any thread; they must not change. The stream is read and released in this call, its schema too.
 * What Arrow's structs cannot say, how long a buffer is, the host answers for; offsets and indices are checked.
 * A saved state belongs to the same rows in the same arrays.
 * Errors: DL_ERR_READER (the stream's own, with its text), DL_ERR_CORRUPT, DL_ERR_UNSUPPORTED (a type that is not read, by
 * name), DL_ERR_NO_SUCH_FIELD, DL_ERR_BAD_URI (in `keys`), DL_ERR_TOO_LARGE, DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY,
 * DL_ERR_INVALID_ARGUMENT (released already); DL_CANCELLED. */
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

/* One field of one record, for a reader to fill. No struct_size: cells stand request->cell_bytes apart, so that later ones
 * may be longer; take them with dl_reader_cell_at. */
typedef struct dl_reader_cell {
  void* data; /* write at most capacity bytes here; 64-byte aligned */
  /* dense: the field's bytes; ragged: max_bytes_per_sample, or the field's own maximum if less */
  int64_t capacity;
  /* in: the field's bytes (dense) or 0; out, ragged: bytes of the record, whole items. More than capacity means that the
   * sample is too large (DL_ERR_TOO_LARGE) */
  int64_t bytes;
  /* out: NULL: the bytes are at data. Else they are here, in memory of the host's that does not change while the dataset or
   * anything made from it lives, or until request->release is called, if that is set. Rows are converted straight from it;
   * any alignment */
  const void* borrowed;
  int32_t status; /* out: nonzero when this record is bad; any code of the host's */
  int32_t reserved32;
  uint64_t reserved[3]; /* what the host writes here is ignored */
} dl_reader_cell;

/* What one call of `read` is asked for. Valid during the call only, unlike the memory that `release` returns. */
typedef struct dl_reader_request {
  uint32_t struct_size;
  int32_t record_count;   /* 1 to 64 */
  int32_t field_count;    /* that of dl_reader */
  int32_t cell_bytes;     /* from one cell to the next */
  const int64_t* indices; /* [record_count] */
  /* [record_count]: the place of each record in the epoch's order, for random draws (a sample that replaces a bad one has
   * the slot of that one); -1 where the record is not read for a place in an epoch (dl_dataset_image_info; the upload of
   * io=device) */
  const int64_t* slots;
  int64_t epoch; /* -1 where slots are */
  uint64_t seed; /* of the loader; 0 in dl_dataset_image_info */
  /* becomes nonzero when nobody wants the records any more: the loader is being destroyed, or was cancelled. Read it
   * atomically (relaxed). `read` may then return any nonzero value; the records do not count as bad. Valid until `read`
   * returns */
  const int32_t* cancelled;
  dl_reader_cell* cells; /* record r, field f: dl_reader_cell_at(request, r, f) */
  /* why a record is bad: the text of record r begins at messages + r * message_bytes; zeroed. Of a call that fails, records
   * without a text have that of record 0 */
  char* messages;
  int64_t message_bytes; /* of one text with its NUL */
  /* out: called once, from the thread that called `read`, when no borrowed memory of this call is read any more; also when
   * the call failed. Must not call Dataline. NULL: what is borrowed lives as long as the dataset. */
  void (*release)(void* release_context);
  void* release_context; /* out: for `release` */
  uint64_t reserved[4];  /* as in the cell */
} dl_reader_request;
#define DL_READER_INTERRUPTED (-1000000005) /* what `read` returns when it was interrupted; no errno */
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

/* Records from the host's own code. `read` is called from worker threads, concurrently; with num_workers=0 from the thread
 * in dl_loader_next, with `prompt` from both. It returns 0, or another value (an errno, for example) when all records of the
 * call are bad, but DL_READER_INTERRUPTED when the host wants its thread back: the records do not count as bad, the position
 * stays, dl_loader_next returns DL_INTERRUPTED, and the next call reads the batch again.
 * `fields` is the schema (name, kind, dtype, rank, shape without the batch dim, axes; of a ragged field, bytes is its
 * maximum, 0 where that is not known). `destroy` (may be NULL) is called once, when `read` will not be called again and
 * nothing borrowed is read any more. */
typedef struct dl_reader {
  uint32_t struct_size;
  int32_t field_count;
  const dl_view* fields; /* read during the call only */
  int64_t record_count;
  void* context;
  int32_t (*read)(void* context, dl_reader_request* request);
  void (*destroy)(void* context);
  /* text that is another one when the data is; NULL for none. Saved states compare it, and so does the option `cache`, which
   * reuses samples as long as it and `files` stay the same */
  const char* fingerprint;
  /* Records that cost little together once one of them is read, such as those of a compressed group: block i ends before
   * record block_ends[i], rising, the last one is record_count. shuffle=window takes these blocks as they are, whatever
   * shuffle_block says, so that each is read within one stretch of an epoch. Copied. NULL, with 0: none */
  int64_t block_count;
  const int64_t* block_ends; /* [block_count] */
  /* so many blocks the reader can keep open; reading a record of one more costs as much as opening it again. 0: any number.
   * shuffle=window opens fewer at a time: shuffle_blocks is at most a quarter of it, and at least 1 */
  int64_t held_blocks;
  /* 1: a call takes as long as copying its records does, and now and then some milliseconds; it waits for nothing but this
   * machine's storage. A consumer that waits for a batch then calls `read` too, in its own thread, as long as calls take tens of
   * microseconds on average; its deadline may be late by one call. Workers take whole batches. 0: only workers call it */
  int32_t prompt;
  int32_t reserved; /* zero */
  /* Block `block` of block_ends is read soon: a hint, so that what costs, as inflating it, can be done while other threads read
   * or the consumer computes. Called with shuffle=window, about once an epoch for each block, in the order in which they are
   * opened, by threads that then call `read`, concurrently. It notes the number and returns at once: a batch waits for it.
   * Not every block is told of, and after a seek some that were are not read. NULL: none */
  void (*advise)(void* context, int64_t block);
  /* The files that the records are read from, in order: paths of this machine, or of storages that the options know. Each must
   * exist. The library notes them as they are now, so a file that is opened later may be another one. It compares them wherever it
   * compares its own files: in saved states, for the option `cache`, in dl_dataset_identity. Copied. NULL, with 0: none */
  int64_t file_count;
  const char* const* files;
  /* [file_count]: the record after the last one of each file, rising to record_count; NULL: a record may be in any file. With
   * it a file that was changed makes only its own samples anew in a cache. Copied */
  const int64_t* file_ends;
} dl_reader;
/* A dataset over the reader, whose table is copied. */
DL_API DL_MUST_CHECK dl_status dl_dataset_from_reader(const dl_reader* reader, const dl_options* options,
                                                      dl_dataset** out, dl_error* error);

/* Composed datasets keep their own references to the parts. options may be NULL; the copy that subset makes of its indices
 * comes from their allocator, within their memory_budget, and pack_length packs what was composed.
 *
 * dl_dataset_zip: fields side by side; equal lengths; names[i] renames (one field) or prefixes ("name/field") those of
 *   part i; names may be NULL.
 * dl_dataset_concat: one after another; equal fields.
 * dl_dataset_subset: samples indices[0..count) of a dataset; borrowed with `release`, else copied. */
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

DL_API int64_t dl_dataset_count(const dl_dataset* dataset); /* samples; -1 unknown (streams, later) */
/* The schema: *count views, stepped through by dl_view_at. count may be NULL. */
DL_API const dl_view* dl_dataset_fields(const dl_dataset* dataset, int32_t* count);
DL_API const char* dl_dataset_format(const dl_dataset* dataset); /* "idx", "zip", "arrays", ... */
DL_API const char* dl_dataset_uri(const dl_dataset* dataset);    /* as given to open, or "" */
DL_API int32_t dl_dataset_note_count(const dl_dataset* dataset); /* of dl_dataset_note */
/* A remark for the user. One that begins with "left out: " names a file, or bytes of one, that are not in the dataset (bad_files=skip);
 * with "damaged: ", a file or a set that is not what was written. */
DL_API const char* dl_dataset_note(const dl_dataset* dataset, int32_t index);
/* Class names, indexed by label (a folder's class directories, in order). The count is 0 where the dataset has none.
 * Composed datasets take those of their first part that has any. A name is UTF-8, or the raw bytes of a directory's name
 * that is not; it lives as long as the dataset. dl_dataset_class_name is "" out of range. */
DL_API int64_t dl_dataset_class_count(const dl_dataset* dataset);
DL_API const char* dl_dataset_class_name(const dl_dataset* dataset, int64_t index);

/* One sample through the transforms of `options`, as a batch of one: for viewers, tests and checks. The options that say
 * what a sample is apply (transform, seed, device, limits, memory); those of order, batches, threads and bad samples do
 * not. Random operators draw as for the first sample of epoch 0. It plans and allocates as dl_loader_create does, so it is
 * no way to train. Errors: those of dl_loader_create and dl_loader_next; DL_ERR_OUT_OF_RANGE for the index. */
DL_API DL_MUST_CHECK dl_status dl_dataset_read(const dl_dataset* dataset, int64_t index,
                                               const dl_options* options, dl_batch** out, dl_error* error);

DL_API void dl_dataset_destroy(dl_dataset* dataset); /* drops the caller's reference; NULL is fine */

/* ---- Loaders ---------------------------------------------------------------------------------------------- */

/* Plans memory, starts the workers and begins to load. Keeps its own reference to the dataset. options may be NULL.
 * Errors: DL_ERR_BAD_OPTION, DL_ERR_BAD_TRANSFORM, DL_ERR_NO_SUCH_FIELD, DL_ERR_OUT_OF_RANGE (indices, weights, start),
 * DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY (of a device: says how much is needed and free), DL_ERR_THREAD, DL_ERR_EMPTY,
 * DL_ERR_UNSUPPORTED, DL_ERR_MISMATCH (parts of a mix whose samples do not fit one batch), and with device=cuda DL_ERR_NO_DEVICE, DL_ERR_DEVICE_LOST. A driver is
 * opened only for device=cuda and pin_memory. */
DL_API DL_MUST_CHECK dl_status dl_loader_create(dl_dataset* dataset, const dl_options* options,
                                                dl_loader** out, dl_error* error);

/* The next batch, in order. timeout_ns: < 0 waits without limit, 0 polls. dl_batch_release returns the batch's slot.
 * DL_END_OF_EPOCH ends each epoch once; DL_END follows the last. With num_workers=0 the call does the work itself,
 * whatever the timeout; while another thread does the work, the call waits for that as for a worker. With workers a call
 * that would wait fills rows too, in pieces of at most about 50 us, but never calls the host's reader and never with
 * timeout 0. Threading: any thread; each call gets a different batch.
 * Errors: DL_ERR_BAD_SAMPLE (once per step, the position stays; the next call delivers the step's good samples),
 * DL_ERR_TOO_MANY_BAD, DL_ERR_LEASES_HELD, DL_ERR_OVER_BUDGET, DL_ERR_FORKED, and with device=cuda DL_ERR_DEVICE_LOST,
 * then on every call, even for batches loaded before, and DL_ERR_WRONG_STATE (dl_batch_wait says of CUDA graphs when).
 * DL_ERR_WRONG_STATE also in a reader, an operator or a storage that is called to fill a batch of this loader, where the call
 * would wait for what its own thread does.
 * A failure of the machine while a batch is filled is never a bad sample, whatever on_error says: DL_ERR_NO_MEMORY,
 * DL_ERR_TOO_MANY_FILES, or DL_ERR_IO (a device that fails every read, a call that is always interrupted), with os_error
 * and the file. The position stays, nothing is counted, and the next call fills the batch again, with the same bytes. A
 * failed device read is tried twice, and is a bad sample only if other samples can be read. */
DL_API DL_MUST_CHECK dl_status dl_loader_next(dl_loader* loader, int64_t timeout_ns, dl_batch** out,
                                              dl_error* error);

/* num_workers=0: loads on the calling thread, for about budget_ns, so that a frame loop can spread a batch over several
 * frames. DL_OK: a batch, an end or an error is due, and dl_loader_next returns at once. DL_TIMEOUT: the budget is spent
 * and more is to be done. The budget is looked at after each run (a sample where images are decoded, else up to 256
 * samples or about 1 MiB): a call loads one run at least, and lasts one longer at most. With a budget of 0 or less, or
 * with workers, it loads nothing and only says whether something is due. With lease_overflow=wait dl_loader_next still
 * waits for a release where all leases are held.
 * DL_CANCELLED, DL_INTERRUPTED; errors: DL_ERR_FORKED, DL_ERR_DEVICE_LOST, DL_ERR_WRONG_STATE (as dl_loader_next). */
DL_API DL_MUST_CHECK dl_status dl_loader_work(dl_loader* loader, int64_t budget_ns, dl_error* error);

/* A loop over one epoch, as the `for` loops of the bindings are: the rest of this epoch at its start or right after a seek
 * or load, else the next one from step 0. It ends the loop before it. *out is released by dl_epoch_release. Since 0.3.
 * DL_END after the last epoch; DL_CANCELLED. Errors: DL_ERR_FORKED, DL_ERR_NO_MEMORY; the loop before it then continues. */
DL_API DL_MUST_CHECK dl_status dl_loader_epoch(dl_loader* loader, dl_epoch** out, dl_error* error);
/* A handle without an epoch, for a caller whose waits end alone: dl_epoch_next on it is dl_loader_next, also with DL_END, and
 * dl_epoch_interrupt ends no other caller's wait. It ends no loop, and nothing ends it but the end of the loader (DL_CANCELLED).
 * Cheap: one for each wait will do. *out is released by dl_epoch_release. Since 0.3. Errors: DL_ERR_FORKED, DL_ERR_NO_MEMORY. */
DL_API DL_MUST_CHECK dl_status dl_loader_stream(dl_loader* loader, dl_epoch** out, dl_error* error);
/* As dl_loader_next, for one loop. Several threads may share it: each batch goes to one of them.
 *
 * DL_END_OF_EPOCH when the epoch is over. The first one moves the position to (epoch + 1, 0); every other caller that waits
 * and every later call also gets it, and moves nothing, so that all threads see the end and none reaches into the next epoch.
 * DL_ERR_WRONG_STATE when the loop was ended before that, by a newer dl_loader_epoch or dl_loader_begin_epoch, a seek, a
 * loaded state or the end of the loader; callers that wait get it too, and no batch is lost.
 * dl_loader_next takes from the same stream and ends no loop: its batches are missing here, and an end that it returned is
 * the loop's end too. Other results and errors: as dl_loader_next, but never DL_END. Since 0.3. */
DL_API DL_MUST_CHECK dl_status dl_epoch_next(dl_epoch* epoch, int64_t timeout_ns, dl_batch** out,
                                             dl_error* error);
/* Every dl_epoch_next that waits on this handle returns DL_INTERRUPTED; if none waits, the next call does. So it is never
 * lost. Any thread, also in a signal handler; never blocks. NULL is fine. Since 0.3. */
DL_API void dl_epoch_interrupt(dl_epoch* epoch);
/* Frees the handle, also after its loader was destroyed; NULL is fine. Threading: once, when no other call on the handle is
 * in progress or follows. An epoch that is released in the middle stays the current one until another loop begins. Since
 * 0.3. */
DL_API void dl_epoch_release(dl_epoch* epoch);

/* dl_loader_epoch without a handle, for one thread that calls dl_loader_next. DL_END after the last epoch. */
DL_API DL_MUST_CHECK dl_status dl_loader_begin_epoch(dl_loader* loader, dl_error* error);

/* Position: (epoch, step), 0 <= step <= steps. (e, steps): DL_END_OF_EPOCH of epoch e is still due; (e + 1, 0): it was
 * delivered. Counts what dl_loader_next delivered, not what was loaded ahead. */
DL_API DL_MUST_CHECK dl_status dl_loader_position(const dl_loader* loader, int64_t* epoch, int64_t* step,
                                                  dl_error* error);
/* O(1) (a Fisher-Yates or weighted order builds its table first). Clears a cancel. Leased batches stay valid. */
DL_API DL_MUST_CHECK dl_status dl_loader_seek(dl_loader* loader, int64_t epoch, int64_t step,
                                              dl_error* error);
DL_API int64_t
dl_loader_steps(const dl_loader* loader); /* batches in an epoch, the same on every rank; -1 unknown */

/* Replaces the order (sample_indices) from the next epoch that has not begun; lifetime as in dl_options_set_indices. The
 * length must be that of the first. Only for loaders created with sample_indices. The replaced order is kept until the
 * next such call, so that a state saved under it can be loaded; to load an older one, set its order again first. */
DL_API DL_MUST_CHECK dl_status dl_loader_set_indices(dl_loader* loader, const int64_t* indices, int64_t count,
                                                     void (*release)(void* context), void* context,
                                                     dl_error* error);

/* The position and the identity of the job, as text of any length. It identifies the data by what a copy on another machine
 * has too: base names and sizes of the files in order, and a checksum of the first and last 64 KiB of each (at most 64 files).
 * A device that cannot read them fails the call; the loader stays usable. *bytes: in, the room in text; out, the bytes of the
 * text with its NUL. text may be NULL to ask for that length; a later call may need more or less, when the position has
 * moved. DL_ERR_INVALID_ARGUMENT when the room is too small: *bytes then says what is needed, and nothing is written. */
DL_API DL_MUST_CHECK dl_status dl_loader_state_save(const dl_loader* loader, char* text, size_t* bytes,
                                                    dl_error* error);
/* Seeks to a saved position. num_workers, prefetch_depth, io, memory and transform may differ from the saving job; rank
 * and world_size too, with an equal global batch. With tune=on it begins with the workers and the depth that the saving
 * job had found. DL_ERR_BAD_STATE; DL_ERR_STATE_REFUSED names the first line that differs, with both values. */
DL_API DL_MUST_CHECK dl_status dl_loader_state_load(dl_loader* loader, const char* text, dl_error* error);

/* Ends every current and later wait with DL_CANCELLED, until a seek or load. Any thread; never blocks. */
DL_API void dl_loader_cancel(dl_loader* loader);
/* Every dl_loader_next, dl_epoch_next and dl_loader_work that waits returns DL_INTERRUPTED; if none waits, the next of these
 * calls does. So it is never lost, but for a seek or load, which clears it. Any thread, also in a signal handler; never
 * blocks. */
DL_API void dl_loader_interrupt(dl_loader* loader);

/* A handle for the host's event loop, signalled while next would not wait. On Linux a descriptor that poll, select and epoll
 * report as readable; on Windows a HANDLE that WaitForMultipleObjects takes; elsewhere DL_ERR_UNSUPPORTED. Of what kind it
 * is beyond that may change: only wait on it, never read, write, reset or close it. With num_workers=0 signalled, except
 * where lease_overflow=wait has next wait for a release.
 * Made on the first call (DL_ERR_TOO_MANY_FILES, DL_ERR_NO_MEMORY); lives as long as the loader. */
DL_API DL_MUST_CHECK dl_status dl_loader_wait_handle(dl_loader* loader, intptr_t* out, dl_error* error);

/* The output schema after transforms. */
DL_API const dl_view* dl_loader_fields(const dl_loader* loader, int32_t* count);

/* Counters since create. delivered + skipped + dropped = the rank's slots of the epochs so far. */
typedef struct dl_stats {
  uint32_t struct_size;
  int32_t num_workers;       /* in use; 0: the caller's thread */
  int64_t batches;           /* delivered */
  int64_t samples;           /* delivered, without pads */
  int64_t bytes;             /* delivered */
  int64_t skipped;           /* bad samples left out */
  int64_t dropped;           /* slots left out by last_batch=drop */
  int64_t padded;            /* rows added by last_batch=pad */
  int64_t replaced;          /* rows filled with a replacement sample */
  int64_t bad;               /* distinct bad samples seen */
  int64_t wait_ns;           /* consumers waited in next; 0 with num_workers=0 */
  int64_t waits;             /* calls of next that had to wait */
  int64_t worker_cpu_ns;     /* CPU time of worker threads; 0 with num_workers=0 */
  int64_t arena_bytes;       /* the slots; for rows without a fixed size, what was touched so far */
  int64_t held_bytes;        /* all host memory the loader holds now */
  int64_t budget_bytes;      /* the limit in force */
  int64_t leases_held;       /* batches held by consumers now */
  int64_t lease_copies;      /* batches delivered as a fresh allocation, beyond the slots for leases */
  int64_t ready_batches;     /* loaded and not yet delivered */
  int64_t pinned_bytes;      /* page-locked; 0 where that was refused (logged once) */
  int64_t threads_abandoned; /* workers abandoned in a read of the host's that did not return */
  int64_t device_bytes;      /* device memory the loader holds now */
  int64_t copied_bytes;      /* copied over the bus to the device */
  int64_t warned;            /* images delivered although the decoder warned of damage (on_warning=accept) */
  int64_t cache_read;        /* samples that were found in the cache (option cache) */
  int64_t cache_made;        /* samples that were not, and were read and made; 0 without a cache */
} dl_stats;
/* Fills *out. */
DL_API DL_MUST_CHECK dl_status dl_loader_stats(const dl_loader* loader, dl_stats* out, dl_error* error);

/* A bad sample found so far (on_error replace, quarantine or raise), in order of delivery. */
typedef struct dl_bad_sample {
  uint32_t struct_size;
  dl_status code;
  int64_t source;
  int64_t index;
  int64_t epoch; /* where it was first found */
  int64_t step;
  int64_t slot;
  int64_t replacement; /* the replacement sample, or -1: skipped */
  char message[256];   /* where the sample is stored (file, member or record), then what is wrong with it */
} dl_bad_sample;
DL_API int64_t dl_loader_bad_sample_count(const dl_loader* loader); /* found so far */
/* Fills *out. DL_ERR_INVALID_ARGUMENT: no such bad sample. */
DL_API DL_MUST_CHECK dl_status dl_loader_bad_sample_at(const dl_loader* loader, int64_t index,
                                                       dl_bad_sample* out, dl_error* error);

/* Cancels, joins the workers and frees; NULL is fine. Batches still leased stay valid until they are released. A worker
 * inside a read of the host's (dl_reader, dl_storage) sees request->cancelled and is given one second, then abandoned together
 * with what it uses, and this is logged. With a device, waits for the copies in flight and for the work queued on released
 * batches.
 * Threading: once, when no other call on the loader or on one of its loops is in progress; no call on the loader follows.
 * Its loops have ended: dl_epoch_next returns DL_ERR_WRONG_STATE, and they are released as ever. */
DL_API void dl_loader_destroy(dl_loader* loader);

/* ---- Batches ---------------------------------------------------------------------------------------------- */

/* All fields, in the order of dl_loader_fields. */
DL_API const dl_view* dl_batch_views(const dl_batch* batch, int32_t* count);

/* What a batch is: its place in the job, and where its rows come from. The arrays live as long as the batch. */
typedef struct dl_batch_info {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t epoch;
  int64_t step;
  int64_t samples;               /* rows, pads included */
  int64_t valid;                 /* rows that are not pads */
  const int64_t* sample_sources; /* [samples]: which dataset of a mix; 0 */
  const int64_t* sample_indices; /* [samples]: index in it; for replaced samples, of the replacement */
} dl_batch_info;
/* Fills *out. */
DL_API DL_MUST_CHECK dl_status dl_batch_get_info(const dl_batch* batch, dl_batch_info* out, dl_error* error);

/* dl_batch_retain adds a reference, dl_batch_release drops one: any thread; NULL is fine. The last release returns the
 * slot. */
DL_API void dl_batch_retain(dl_batch* batch);
DL_API void dl_batch_release(dl_batch* batch);

/* Batches in device memory (device=cuda:N) are delivered while their copies are still in flight. A `stream` is a
 * CUstream or cudaStream_t of that device. NULL and cudaStreamLegacy are CUDA's legacy stream, whatever the program was
 * compiled for; cudaStreamPerThread is that of the thread that calls, and a batch that waited in it may be released by any
 * thread: the legacy stream, which comes after the streams of all threads, then stands for it. Neither call waits on the host.
 *
 * dl_batch_wait: work queued later in `stream` starts after the batch is complete. Call it before the first use in each
 *   stream that reads the batch. It always records the stream, which must live until the batch is released; with
 *   device_sync=host batches are complete already, and that is all it does.
 * dl_batch_release_on: dl_batch_release, but the memory is written again only after the work now in `stream` is done.
 * dl_batch_release: the same for every stream that waited for the batch and was not released since.
 *
 * A stream that reads a batch without having waited for it must be finished, or be passed to dl_batch_release_on, before
 * the batch is released.
 *
 * CUDA graphs: every call may be made while a graph is captured, on any thread, and breaks no capture. dl_batch_wait refuses
 * a stream that is being captured (DL_ERR_WRONG_STATE), since a batch's memory holds another batch when the graph runs: wait
 * before the capture begins, and copy the batch into memory of your own that the graph reads. A batch that is released while
 * a stream that used it is being captured is ordered behind that stream when the capture is over: the stream must live until
 * then, and if no other memory is left dl_loader_next returns DL_ERR_WRONG_STATE after a second.
 *
 * fork(): a child must not touch the memory of batches or slots. Where they are page-locked (device=cuda, pin_memory) and the
 * kernel is older than 5.9, whose fork() may give the parent other pages than the device reads, do not fork while a loader
 * lives: start processes by posix_spawn or before the loader.
 *
 * On the cpu device there is nothing to wait for, and dl_batch_release_on is dl_batch_release.
 * Errors: DL_ERR_INVALID_ARGUMENT (a stream of another device, or one that was destroyed: before the memory is written again
 * the host then waits for the whole device), DL_ERR_WRONG_STATE, DL_ERR_DEVICE_LOST, DL_ERR_FORKED.
 * dl_batch_release_on drops the reference whatever it returns.
 * Threading: any thread; the thread's current CUDA context is preserved. */
DL_API DL_MUST_CHECK dl_status dl_batch_wait(dl_batch* batch, void* stream, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_batch_release_on(dl_batch* batch, void* stream, dl_error* error);

/* A field as a DLPack tensor, which holds the batch until its deleter is called (any thread, also after the loader is
 * destroyed). dl_batch_dlpack_versioned (1.x): flagged read-only where the view is. dl_batch_dlpack: such tensors have no
 * such flag, and read-only fields are refused with DL_ERR_UNSUPPORTED. Ragged: the packed data. In device memory these
 * calls do not wait: use dl_batch_wait for each stream; the deleter is a dl_batch_release. Where no stream has waited, as with
 * DLPack's stream=-1, the memory is written again only after the work that CUDA's legacy stream, and with it each blocking
 * stream, has when the batch is released. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
DL_API DL_MUST_CHECK dl_status dl_batch_dlpack(dl_batch* batch, int32_t field, struct DLManagedTensor** out,
                                               dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_batch_dlpack_versioned(dl_batch* batch, int32_t field,
                                                         struct DLManagedTensorVersioned** out,
                                                         dl_error* error);

/* dl_batch_arrow: the batch as a record batch of Arrow's C data interface, which is a struct array of the rows that are not pads,
 * with a child for each field of dl_batch_views, without nulls. Dense: the type of its values, inside a fixed_size_list for each dim after the
 * first; ragged: large_list of that; ragged u8 of one dim: large_binary. The array shares the batch's memory and holds the
 * batch until it is released (any thread, also after the loader is destroyed), as its children do where they were moved
 * out. Copied are bool, which Arrow stores as bits, and fields whose rows do not lie one after another (flag
 * DL_VIEW_OVERLAPPING, several fields of one record). The schema holds nothing. What *schema and *array hold before is not
 * looked at; after an error it is still there.
 * Errors: DL_ERR_UNSUPPORTED: bf16 and complex numbers, a dim above 2^31 - 1, a batch in device memory. */
DL_API DL_MUST_CHECK dl_status dl_batch_arrow(dl_batch* batch, struct ArrowSchema* schema,
                                              struct ArrowArray* array, dl_error* error);

/* ---- Unstable --------------------------------------------------------------------------------------------- */
/* Calls that may still change, or go, in a minor release; they have a version node of their own (DATALINE_UNSTABLE), so
 * that a program that uses one and meets a library without it is refused by the dynamic linker, and does not crash.
 * Define DL_STABLE_ONLY before the include to leave them out. */
#ifndef DL_STABLE_ONLY
#define DL_UNSTABLE /* marks them */

/* Opening without waiting, for hosts that must not block and want to show how far it is. dl_dataset_open_async begins
 * what dl_dataset_open does, on a thread of the library, and returns. The options are copied; their log and allocator are
 * called from that thread. Errors: DL_ERR_THREAD (the thread could not be started); whatever is wrong with the URI or the
 * data, dl_opening_wait says. */
typedef struct dl_opening dl_opening; /* a dataset that is being opened */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_open_async(const char* uri, const dl_options* options,
                                                                 dl_opening** out, dl_error* error);
/* timeout_ns: < 0 waits without limit, 0 polls. DL_TIMEOUT: it is not open yet. DL_OK: *out is the dataset, for the caller
 * to destroy; it is handed out once, and needs the opening no more. After that: DL_ERR_WRONG_STATE. DL_CANCELLED, and the
 * errors of dl_dataset_open: on every call. DL_ERR_FORKED in a forked child. Threading: any thread; of several that wait
 * one gets the dataset. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_opening_wait(dl_opening* opening, int64_t timeout_ns,
                                                           dl_dataset** out, dl_error* error);
/* A handle that is readable once dl_opening_wait would not wait: an eventfd on Linux (poll it, never read or close it).
 * Made on the first call; lives as long as the opening. Errors: DL_ERR_TOO_MANY_FILES, DL_ERR_UNSUPPORTED, DL_ERR_FORKED. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_opening_wait_handle(dl_opening* opening, intptr_t* out,
                                                                  dl_error* error);
/* How far an opening is. All numbers only grow; totals grow too, as more becomes known (files are listed before the first
 * is opened), and are never less than what is done of them. The log's DL_LOG_PROGRESS lines are made of the same numbers. */
typedef struct dl_progress {
  uint32_t struct_size;
  int32_t done;        /* dl_opening_wait would not wait */
  int64_t files;       /* opened */
  int64_t total_files; /* that the URI stands for; 0: not known yet */
  int64_t bytes;       /* read into memory (io=memory, .gz: as stored, then inflated) or searched */
  int64_t total_bytes; /* of those files that were begun; 0: only headers are read */
  int64_t entries;     /* found in folders, label files and tars */
} dl_progress;
/* Fills *out. Threading: any thread; never blocks. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_opening_progress(const dl_opening* opening, dl_progress* out,
                                                               dl_error* error);
/* Ends it soon, with DL_CANCELLED, unless it is done by then. The cancel token of the options does so too; this cancels no
 * token. Any thread; never blocks; NULL is fine. */
DL_API DL_UNSTABLE void dl_opening_cancel(dl_opening* opening);
/* Cancels, waits for the thread (which looks at it between files, pieces of 8 MiB, members of a .gz and 1024 entries) and
 * frees, also the dataset if nobody took it; NULL is fine. In a forked child it only frees. Not from a callback. */
DL_API DL_UNSTABLE void dl_opening_destroy(dl_opening* opening);

/* Which files of this machine the dataset is read from, as text of lines "key: value": compare it to decide whether something
 * that was made of the dataset earlier may be reused. Two texts are equal while the structure (formats, fields, keys, order of
 * parts) and, of each file, canonical path, size, times of modification and of status change, and inode are; a remount changes
 * nothing. Paths are in it as digests. An object of a storage has its fingerprint instead. Looks at every file of a folder.
 * *bytes and text: as in dl_loader_state_save.
 * Errors: DL_ERR_UNSUPPORTED for data in memory, a reader without files and fingerprint, and objects without one: nobody can
 * tell when these change. Threading: any thread. Since 0.3. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_identity(const dl_dataset* dataset, char* text,
                                                               size_t* bytes, dl_error* error);

/* The format of an encoded image. */
#define DL_IMAGE_JPEG 1
#define DL_IMAGE_PNG 2
#define DL_IMAGE_WEBP 3
#define DL_IMAGE_PNM 4 /* PGM, PPM, PAM; since 0.2 */
/* The header of an encoded image. */
typedef struct dl_image_info {
  uint32_t struct_size;
  int32_t format; /* DL_IMAGE_* */
  int64_t width;  /* pixels, as stored: before any Exif orientation */
  int64_t height;
  int32_t channels;    /* as stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK) */
  int32_t bits;        /* per channel */
  int32_t orientation; /* Exif, 1 to 8; 1 when absent */
  int32_t progressive; /* or interlaced */
  int64_t bytes;       /* encoded */
} dl_image_info;
/* Reads the header of an encoded image (a ragged u8 field) without decoding it. field NULL: `image`, or the only field of
 * that kind. Errors: DL_ERR_NO_SUCH_FIELD, DL_ERR_UNSUPPORTED (a field of another kind), DL_ERR_OUT_OF_RANGE,
 * DL_ERR_CORRUPT (not an image, or an inconsistent header), DL_ERR_TRUNCATED, and the errors of reading the sample; the
 * error's sample_index is `index`. For a dataset from a reader this calls `read`. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_image_info(const dl_dataset* dataset, const char* field,
                                                                 int64_t index, dl_image_info* out,
                                                                 dl_error* error);

/* How to recover pixels: the value delivered in a channel of field `field` (index in dl_loader_fields) is
 * pixel * scale + offset, where pixel is the stored u8 or u16. Where all channels are alike, any channel will do.
 * Errors: DL_ERR_INVALID_ARGUMENT (no such field or channel), DL_ERR_UNSUPPORTED (the values do not map back to pixels).
 * Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_pixel_scale(const dl_loader* loader, int32_t field,
                                                                 int64_t channel, double* scale,
                                                                 double* offset, dl_error* error);

/* Where each stage of a sample runs, in order, field by field: on the host, as a copy over the bus, on the device. The
 * bytes of all copies add up to the bus traffic of a sample. */
typedef struct dl_plan_stage {
  uint32_t struct_size;
  int32_t device_type; /* DL_DEVICE_CPU or DL_DEVICE_CUDA; for a copy, the destination */
  const char* field;   /* borrowed from the loader, like `text` */
  const char*
      text; /* "gather", "copy", operators as written ("normalize(mnist), chw"), or "with F": the field is
                           part of the bytes of field F */
  int64_t bytes_in; /* per sample; -1 when varying */
  int64_t bytes_out;
} dl_plan_stage;
DL_API DL_UNSTABLE int32_t dl_loader_plan_count(const dl_loader* loader); /* stages */
/* Fills *out. DL_ERR_INVALID_ARGUMENT: no such stage. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_plan_at(const dl_loader* loader, int32_t index,
                                                             dl_plan_stage* out, dl_error* error);

/* ---- Measurements ----------------------------------------------------------------------------------------- */
/* Where the time goes. The counters of dl_stats are always there; with stats=full, or once a trace has begun, each worker's time
 * too, by stage and by what it waits for, and the consumer's calls of dl_loader_next. The cost is at most 1 %, or 0.1 us a
 * batch: of runs that take microseconds one in several is measured and stands for the others. */

typedef struct dl_metrics dl_metrics; /* what a loader measures; outlives it */
/* What a loader measures, as a table. It stays valid when the loader is destroyed, and tells its last numbers then. *out ends with
 * dl_metrics_destroy (NULL is fine). In a forked child its calls return DL_ERR_FORKED.
 * Threading: any thread; any number of threads may read one dl_metrics, also while its loader is destroyed. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_metrics(const dl_loader* loader, dl_metrics** out,
                                                             dl_error* error);
DL_API DL_UNSTABLE void dl_metrics_destroy(dl_metrics* metrics);

#define DL_METRIC_COUNTER 1     /* only grows */
#define DL_METRIC_GAUGE 2       /* now */
#define DL_METRIC_DURATION 3    /* how often, how long */
#define DL_THREAD_ALL (-1)      /* of dl_metric.thread: all together */
#define DL_THREAD_CONSUMER (-2) /* whoever calls dl_loader_next */

/* A row of the table. Names, by kind:
 *   counters and gauges   the members of dl_stats
 *   next, between         calls of dl_loader_next that delivered a batch; the time from one to the next
 *   work                  a thread fills batches; `part` is the stage: "order", "read" (finding records, waiting for storage), per field
 *                         "image: decode" and its other operators or "label: copy", "pack", "copy to device"
 *   wait                  a worker waits; `part` is why: "no room" (prefetch_depth batches are ready, the consumer is slower), "no work"
 *                         (others load what is left), "parked" (there is no CPU for it), "device" (all slots are still read by it)
 *   off_cpu               of work, without a CPU: "no CPU" (others had them all), "storage" (and what else blocks); 0 where the system
 *                         does not tell
 *   device                the device works for a batch, by its own clock: "copy", "kernels"; known when the slot is used again */
typedef struct dl_metric {
  uint32_t struct_size;
  int32_t kind;     /* DL_METRIC_* */
  const char* name; /* like the three below, borrowed from the dl_metrics */
  const char* part; /* "" where nothing is divided */
  const char* unit; /* "ns", "bytes", "samples", ... */
  const char* doc;
  int32_t thread; /* a worker, from 0; DL_THREAD_ALL; DL_THREAD_CONSUMER */
  uint32_t reserved;
  int64_t value; /* of a duration the sum */
  int64_t count; /* of a duration: how often; of what is timed only now and then an estimate, as the sum is */
  int64_t bytes; /* of a stage: what it read or made */
  int64_t p50_ns; /* of one time: half were at most this long, rounded up by an eighth at most */
  int64_t p99_ns;
  int64_t max_ns;
} dl_metric;
DL_API DL_UNSTABLE int64_t
dl_metrics_count(const dl_metrics* metrics); /* rows; grows once, when a trace begins */
/* Fills *out. DL_ERR_INVALID_ARGUMENT: no such row. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_metrics_at(const dl_metrics* metrics, int64_t index,
                                                         dl_metric* out, dl_error* error);

/* The table in Prometheus's text format 0.0.4, names as dataline_batches_total, dataline_worker_work_seconds_total{thread="0",stage="read"};
 * dataline_exposed_seconds_total is what consumers waited in dl_loader_next.
 * labels: `rank="0",job="x"`, added to each series; NULL: none. *bytes as in dl_loader_state_save. DL_ERR_INVALID_ARGUMENT: labels that are
 * not of that form, or too little room.
 * Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_metrics_text(const dl_metrics* metrics, const char* labels,
                                                           char* text, size_t* bytes, dl_error* error);

/* A call of dl_loader_next that took 10 ms or more; calls that end with DL_TIMEOUT count as one with the call that then delivers,
 * without the time between them. */
typedef struct dl_stall {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t epoch; /* of the batch that it delivered */
  int64_t step;
  int64_t wait_ns;
  const char*
      cause; /* what the workers spent that time with, as `part` of dl_metric; "leases": the consumer held max_leases
                        batches. Borrowed from the dl_metrics */
} dl_stall;
DL_API DL_UNSTABLE int64_t dl_metrics_stall_count(const dl_metrics* metrics); /* the last 64 are kept */
/* Fills *out, from the oldest that is kept. DL_ERR_INVALID_ARGUMENT: no such stall. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_metrics_stall_at(const dl_metrics* metrics, int64_t index,
                                                               dl_stall* out, dl_error* error);

/* Where a trace goes instead of a file. */
typedef struct dl_trace_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  /* Takes the next piece of the text. 0, or an error number, which ends the trace. Called from any thread, one at a time; it must not
   * call Dataline. Not after dl_loader_trace_stop or dl_loader_destroy has returned. */
  int32_t (*write)(void* context, const char* text, size_t bytes);
} dl_trace_sink;

/* Writes what each thread does from now on, and the life of each batch, as JSON in Chrome's trace event format, which Perfetto and
 * speedscope open. Times are the time of day, in microseconds, from one look at that clock: they never jump. path: a new file, an
 * empty one or an older trace, which is overwritten; or NULL, and sink takes the text. At most 256 MiB; then, or when the disk is full, the trace ends with a line in the log and the
 * job goes on.
 * Errors: DL_ERR_INVALID_ARGUMENT (neither or both), DL_ERR_WRONG_STATE (a trace is being written; the file
 * holds other data), DL_ERR_NOT_A_FILE (a FIFO, a device, a directory), DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_IO.
 * Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_trace_start(dl_loader* loader, const char* path,
                                                                 const dl_trace_sink* sink, dl_error* error);
/* Ends the trace; so does dl_loader_destroy. Without one it does nothing. Where it could not be written whole, why: DL_ERR_IO, on
 * some limits DL_ERR_TOO_LARGE. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_trace_stop(dl_loader* loader, dl_error* error);

/* ---- Tuning ----------------------------------------------------------------------------------------------- */
/* The number of workers and the prefetch depth can change while a job runs: the loader changes them (option `tune`, by
 * default on with num_workers=auto), or the host does. The delivered bytes stay the same.
 * Limits: num_workers=auto allows the number of CPUs, or 8 if that is more; prefetch_depth=auto, or not set, allows 16
 * batches; a number is the limit itself. The memory plan contains the limits from the start. They are lower where
 * memory_budget requires it, or where the system refuses a thread.
 * The loader measures what the consumer receives: batches per second, and the share of the time that it waits. It takes
 * back each change that does not help. When nothing is left to try, it rests until the rate falls by a tenth, the waiting
 * grows by a tenth of the time, or the number of CPUs changes. It logs each decision (DL_LOG_INFO). */

/* Sets the number of workers that work: 1 to dl_tuned.most_workers. Other workers finish the rows that they are loading and
 * then sleep. This ends tuning.
 * Errors: DL_ERR_OUT_OF_RANGE, DL_ERR_WRONG_STATE (created with num_workers=0), DL_ERR_FORKED.
 * Threading: any thread; never blocks for long. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_set_workers(dl_loader* loader, int64_t count,
                                                                 dl_error* error);

#define DL_TUNE_OFF 0
#define DL_TUNE_WATCH 1
#define DL_TUNE_ON 2
/* What is in force, and what tuning makes of it. */
typedef struct dl_tuned {
  uint32_t struct_size;
  int32_t mode;           /* DL_TUNE_* */
  int64_t num_workers;    /* that work now, perhaps only to be tried; 0: the caller's thread */
  int64_t prefetch_depth; /* now */
  int64_t most_workers;   /* that memory is planned for */
  int64_t most_depth;
  int64_t wanted_workers; /* the best so far; with DL_TUNE_WATCH what would be tried next */
  int64_t wanted_depth;
  int64_t changes; /* of what is in force, so far */
  int32_t frozen;  /* 1: nothing is tried now */
  uint32_t reserved;
  double batches_per_s; /* consumed, in the last whole measurement; 0 before that, like wait_share */
  double wait_share;    /* of that time, the consumer waited; 0 to 1 */
  char text[160];       /* what it does, and why */
} dl_tuned;
/* Fills *out. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_tuned(const dl_loader* loader, dl_tuned* out,
                                                           dl_error* error);

/* ---- Mixes ------------------------------------------------------------------------------------------------ */
/* A mix draws from several datasets (parts) in given shares, or gives every sample of a part so many times in an epoch. A
 * loader over it delivers them in one stream: dl_batch_info.sample_sources says which part each row is of, sample_indices
 * which sample of it. `mix:recipe.json` is the same as a file. Which part each slot of the stream belongs to is a pure
 * function of the recipe, the seed and the position: docs/pages/reference/order.md. A mix takes every shuffle, and
 * homogeneous=batch; with repeats not shuffle=window and homogeneous=batch together (DL_ERR_UNSUPPORTED). Not with a mix:
 * weights, bucket_edges (DL_ERR_BAD_OPTION). */

/* A part of a mix. Either every part has a repeat, or none. */
typedef struct dl_mix_part {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;          /* in messages, states and statistics; NULL: its number. No two are equal */
  const dl_dataset* dataset; /* keeps its own reference */
  double
      weight; /* relative to the others; 0: not drawn, until a stage says otherwise. A part goes through its own epochs */
  double
      repeat; /* each sample comes floor(repeat) times in an epoch; the fraction of them, drawn for each epoch, once more */
  const char* transform; /* of its samples, before the loader's; NULL: none */
} dl_mix_part;

/* Weights that hold from a step of the job on, which counts over all epochs. */
typedef struct dl_mix_stage {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t step;          /* at least 1; ascending from stage to stage */
  const double* weights; /* [part_count] */
} dl_mix_stage;

/* A mix of datasets whose fields have the same names. Fields that are stored differently become alike by the transforms of
 * parts; where only sizes differ, batches of one part each may have them (homogeneous=batch). stages may be NULL with a
 * stage_count of 0. samples_per_epoch: of weights; -1: as many as all parts have together. options may be NULL: of them,
 * pack_length packs the documents that an epoch draws (with shuffle=full and seed 0), and what comes of it is no mix any
 * more, but rows of all parts. Parts, stages, names and transforms are copied; the mix keeps its own references to the datasets.
 * Errors: DL_ERR_INVALID_ARGUMENT (a NULL, two equal names, weights and repeats in one mix, repeats with stages or
 * samples_per_epoch), DL_ERR_OUT_OF_RANGE (a weight, repeat, step or samples_per_epoch that cannot be; all weights 0),
 * DL_ERR_MISMATCH (names both parts and what would make them fit), DL_ERR_EMPTY (a part without samples),
 * DL_ERR_BAD_TRANSFORM and DL_ERR_NO_SUCH_FIELD (of a part's transform), DL_ERR_TOO_LARGE (over 1,024 different transforms
 * and shapes), DL_ERR_UNSUPPORTED (a part that is a mix; with pack_length: stages, parts that hold no documents, transforms of
 * parts), DL_ERR_OVER_BUDGET (the documents to pack need 8 bytes each). Only a loader makes the samples of a mix whose parts
 * have transforms or shapes of their own: dl_dataset_zip, _concat and _subset refuse it (DL_ERR_UNSUPPORTED).
 * Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_mix(const dl_mix_part* parts, int32_t part_count,
                                                          const dl_mix_stage* stages, int32_t stage_count,
                                                          int64_t samples_per_epoch,
                                                          const dl_options* options, dl_dataset** out,
                                                          dl_error* error);

/* A part as its dataset or a loader describes it. */
typedef struct dl_part {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name; /* borrowed from the dataset or loader, like `uri` and `transform` */
  const char* uri; /* of the dataset: as the recipe has it, or as its dataset was opened; of a loader: NULL */
  int64_t samples; /* the part has */
  int64_t delivered; /* of a loader: to this rank since create, without pads */
  double repeat;     /* of the dataset; 0: it has a weight */
  double
      epochs; /* of a loader: how often the job has gone through the part by its position, over all ranks */
  double share_asked;    /* of the samples drawn now; of the dataset: at the beginning of a job */
  double share_got;      /* of a loader: of what was delivered */
  const char* transform; /* of the dataset: the part's own, "" for none; of a loader: NULL */
} dl_part;
/* The parts of a mix; 0 for other datasets. */
DL_API DL_UNSTABLE int32_t dl_dataset_part_count(const dl_dataset* dataset);
/* Fills *out. DL_ERR_INVALID_ARGUMENT: no such part. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_dataset_part_at(const dl_dataset* dataset, int32_t index,
                                                              dl_part* out, dl_error* error);
/* The parts of the mix that a loader delivers; 0 for other datasets. */
DL_API DL_UNSTABLE int32_t dl_loader_part_count(const dl_loader* loader);
/* Fills *out. DL_ERR_INVALID_ARGUMENT: no such part. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_part_at(const dl_loader* loader, int32_t index,
                                                             dl_part* out, dl_error* error);

/* ---- Writing sets ------------------------------------------------------------------------------------------ */

/* Writes rows as a set: a directory of shards (part-00000.arrow, ...) and a manifest, dataline.manifest, that dl_dataset_open
 * reads by `FORMAT:PATH`. Until dl_writer_finish it is PATH.partial, so that PATH is a whole set or is not there. A shard is on
 * the disk (fsync) before the manifest counts it. After a crash, or dl_writer_destroy without finish, dl_writer_create with the same
 * arguments goes on behind the last such shard, once its bytes have been compared with their checksum; shards that are not
 * what the manifest says are written again, from the first one on.
 *
 * uri: `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`; formats are arrow and parquet (any field but bf16 and complex ones), tar
 * (bytes, texts, a label; by WebDataset's conventions), tfrecord (tf.train.Example: bytes, whole numbers as i64, f32), npy (one dense
 * field) and tokens (the whole numbers of one field, one after another, without where samples end). A shard ends with the append by
 * which it has shard_bytes (256MiB). arrow and parquet take a codec: none (the default), lz4 or zstd. A set of parquet is read by
 * the plug-in for Parquet.
 * fields: those of one sample, as in dl_reader; read during the call only. Names are 1 to 255 bytes of UTF-8 without control
 * characters, so that every set opens again. job: text that says what the set is made of; a
 * PATH.partial with finished shards of another job, other fields, another shard_bytes or codec is refused. So is one that no writer
 * made: a link, a file, a directory with files and without a manifest of a set; nothing in it is changed. NULL: "".
 * Threads: append, finish and the counts from any thread, also at once; an append is one piece.
 * Since 0.3. */
typedef struct dl_writer dl_writer;
/* Errors: DL_ERR_BAD_URI, DL_ERR_UNSUPPORTED (a field that the format does not hold), DL_ERR_INVALID_ARGUMENT, DL_ERR_WRONG_STATE (PATH
 * exists, another process writes it, or PATH.partial was not made by a writer), DL_ERR_STATE_REFUSED (PATH.partial is another job's), DL_ERR_CORRUPT (its manifest),
 * DL_ERR_NOT_FOUND (the directory around it), DL_ERR_PERMISSION, DL_ERR_IO. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_create(const char* uri, const dl_view* fields,
                                                            int32_t field_count, const char* job,
                                                            dl_writer** out, dl_error* error);
/* Appends the samples of all arrays: one array per field, in their order, of the same name, kind, dtype and shape. They are read
 * during the call only. position (may be NULL): what the host needs to go on after these rows; dl_writer_position gives that
 * of the last finished shard back.
 * Rows that cannot be stored (DL_ERR_MISMATCH, DL_ERR_INVALID_ARGUMENT, DL_ERR_OUT_OF_RANGE, DL_ERR_TOO_LARGE) are refused as a whole, and
 * the writer stays usable. After a failure of the file system (DL_ERR_IO, DL_ERR_PERMISSION, ...: a full disk) each call gives that
 * error; what is finished stays for the next dl_writer_create. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_append(dl_writer* writer, const dl_array* arrays,
                                                            int32_t count, const char* position,
                                                            dl_error* error);
/* Ends the last shard and gives the set its name. DL_ERR_EMPTY: there is no row. Afterwards the writer can be destroyed only. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_finish(dl_writer* writer, dl_error* error);
/* How far a writer is. */
typedef struct dl_writer_info {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t samples;         /* appended, with those that were there at create */
  int64_t resumed_samples; /* that were there at create */
  int64_t shards;          /* finished */
  int64_t bytes;           /* of them */
} dl_writer_info;
/* Errors: DL_ERR_INVALID_ARGUMENT. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_writer_get_info(const dl_writer* writer, dl_writer_info* out,
                                                              dl_error* error);
/* The position of the last shard that was there at create; "": none. Valid as long as the writer. */
DL_API DL_UNSTABLE const char* dl_writer_position(const dl_writer* writer);
/* NULL is fine. Without dl_writer_finish what is finished stays; rows of the shard that is open are lost. */
DL_API DL_UNSTABLE void dl_writer_destroy(dl_writer* writer);
/* How many formats are written. */
DL_API DL_UNSTABLE int32_t dl_writer_format_count(void);
/* The name of one, and a line on it; NULL for an index that is none. */
DL_API DL_UNSTABLE const char* dl_writer_format_name(int32_t index);
DL_API DL_UNSTABLE const char* dl_writer_format_doc(int32_t index); /* see dl_writer_format_name */

/* ---- Extensions ------------------------------------------------------------------------------------------- */
/* Formats, operators, storages and threads of the host's own, without globals: add them to a dl_extensions and set that in
 * options. Datasets opened with these options know its formats and storages, loaders its operators and threads.
 *
 * Tables are copied, with their strings and arrays. `destroy` (may be NULL) is called once with `context`, from any thread,
 * when no extensions, options, dataset or loader needs the table; not if the call that takes it fails. A name that the
 * library or the object already has is refused (DL_ERR_INVALID_ARGUMENT).
 *
 * Callbacks are called from several threads at once. Those that return a dl_status return DL_OK, or an error that they
 * describe with dl_error_set. DL_CANCELLED passes from a call that was cancelled. Any other value becomes DL_ERR_READER, whose
 * message names the function and the code (from `prepare` of an operator: DL_ERR_BAD_TRANSFORM). Structs that callbacks get are
 * valid during the call, and as long as their struct_size says.
 *
 * Threading: calls that add to a dl_extensions, set it in options or list it: one at a time. */

/* One with nothing in it. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_create(dl_extensions** out, dl_error* error);
DL_API DL_UNSTABLE void dl_extensions_destroy(dl_extensions* extensions); /* NULL is fine */
/* What was added so far; later additions have no effect on the options. NULL: none. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_options_set_extensions(dl_options* options,
                                                                     const dl_extensions* extensions,
                                                                     dl_error* error);
/* For callbacks: writes code and message (NUL-terminated UTF-8, truncated when longer) as far as the struct has room, and
 * returns the code. `error` may be NULL. Threading: any thread. */
DL_API DL_UNSTABLE dl_status dl_error_set(dl_error* error, dl_status code, const char* message);

typedef struct dl_file dl_file; /* a file, read where it is: for formats and storages of the host's */
/* Opens a local path, or `scheme://...` of a storage that `options` (may be NULL) know. Errors: those of dl_dataset_open for
 * a file. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_file_open(const char* path, const dl_options* options,
                                                        dl_file** out, dl_error* error);
DL_API DL_UNSTABLE int64_t dl_file_bytes(const dl_file* file); /* its size when it was opened */
/* All `bytes` bytes from `offset` on. `cancelled`: the word that a callback was given, so that a storage that the file is in
 * gives up when nobody wants the bytes any more (DL_CANCELLED); NULL: the token of the options tells.
 * DL_ERR_TRUNCATED, DL_ERR_CHANGED, DL_ERR_IO name path and offset. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_file_read(const dl_file* file, int64_t offset, int64_t bytes,
                                                        void* out, const int32_t* cancelled, dl_error* error);
DL_API DL_UNSTABLE void dl_file_destroy(dl_file* file); /* once, after all reads; NULL is fine */

/* A key that a format takes in a URI. */
typedef struct dl_format_key {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;
  const char*
      values; /* the words it takes, "error|ignore" (others are refused), or what it takes, "INTEGER" */
  const char* default_value; /* NULL: none */
  const char* doc;
} dl_format_key;

/* What a format is asked to open. */
typedef struct dl_format_request {
  uint32_t struct_size;
  int32_t key_count;
  const char* path; /* one path of the URI; several are opened one by one, and concatenated */
  const char* const*
      values; /* [key_count], in the order of the table: as given, else the default; NULL: neither */
  const dl_options* options; /* of the caller, for calls that `open` makes; never NULL */
  /* becomes nonzero when nobody wants the dataset any more: `open` may then return DL_CANCELLED. Read it atomically
   * (relaxed), between files and in long loops. Never NULL */
  const int32_t* cancelled;
  /* `open` says how far it is, for dl_opening_progress and the log: `files` opened of the `total_files` that the path stands
   * for, which both only grow. From the thread that `open` was called in */
  void (*report)(const struct dl_format_request* request, int64_t files, int64_t total_files);
} dl_format_request;

/* How sure a format is that a file is one of its own. */
#define DL_SNIFF_NO 0
#define DL_SNIFF_GUESS 1
#define DL_SNIFF_LIKELY 2  /* a header that other data could start with by chance */
#define DL_SNIFF_CERTAIN 3 /* a magic that is long enough */

/* A format: opened as `name:path?key=value`, or found by content or suffix where no format of the library claims the file
 * with more certainty. */
typedef struct dl_format {
  uint32_t struct_size;
  int32_t key_count;
  const char* name; /* 2 to 32 of a-z 0-9 _, a letter first; those of keys and arguments may have 1 */
  const char* doc;
  const dl_format_key* keys; /* [key_count]; NULL for none */
  /* Suffixes of file names, separated by spaces: ".wav .flac"; NULL for none. They ignore case. `open` receives the path of a
   * directory as it is. It must read the files with these suffixes, and leave out hidden names (".x") and __MACOSX; the
   * library adds a note (dl_dataset_note) about the other files. */
  const char* suffixes;
  void* context;
  /* DL_SNIFF_*, from the first bytes of a file (up to 512) and its size. May be NULL. */
  int32_t (*sniff)(void* context, const char* path, const void* bytes, int64_t count, int64_t file_bytes);
  /* Makes the dataset, by any of the calls that do: the library takes over the reference in *out. */
  dl_status (*open)(void* context, const dl_format_request* request, dl_dataset** out, dl_error* error);
  void (*destroy)(void* context);
} dl_format;
/* The format becomes known to datasets opened with these extensions. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_add_format(dl_extensions* extensions,
                                                                    const dl_format* format, dl_error* error);

/* An argument of one use of an operator. */
typedef struct dl_argument_value {
  uint32_t struct_size;
  int32_t given;         /* by the user; else the default */
  const char* text;      /* as written, a text without its quotes; NULL: absent (the default is "none") */
  const double* numbers; /* of a number, a shape (3x32x32) or a list of numbers; NULL otherwise */
  int64_t number_count;
} dl_argument_value;

/* One use of an operator in a transform. */
typedef struct dl_operator_use {
  uint32_t struct_size;
  int32_t argument_count;
  const dl_argument_value* arguments; /* in the order of the table; stepped through by struct_size */
  const dl_view* input;               /* the field before, of one sample, as in dl_dataset_fields */
  /* The field after. In: as before. */
  int32_t kind; /* DL_KIND_DENSE or DL_KIND_RAGGED */
  int32_t dtype;
  int32_t rank;
  int32_t draws;              /* nonzero: rows depend on slot, epoch and seed too, not on the input alone */
  int64_t shape[DL_MAX_RANK]; /* ragged: the first dim is -1 */
  char axes[40];              /* one letter per dim, or "" */
  int64_t max_bytes;          /* ragged: of the largest sample; -1: the option max_bytes_per_sample */
  int32_t heavy; /* nonzero: a row takes 100 us or more, so that rows are shared out one by one */
  int32_t
      wrong_argument; /* with an error: the argument that is wrong, so that error.column points there; else -1 */
  void* state;        /* kept for `apply`, given to `forget` when the use is over */
  uint64_t reserved[4];
} dl_operator_use;

/* One row that an operator makes. */
typedef struct dl_operator_row {
  uint32_t struct_size;
  uint32_t reserved32;
  void* state;       /* of the use; shared by all threads */
  const void* input; /* any alignment */
  int64_t input_bytes;
  void* output; /* room for `capacity` bytes; not the input */
  int64_t capacity;
  int64_t
      bytes; /* in: dense: the sample's bytes, else 0. Out: bytes written, whole items; more than capacity means
                       that the sample is too large (DL_ERR_TOO_LARGE) */
  int64_t slot; /* the row's place in the epoch's order */
  int64_t epoch;
  uint64_t seed;
  uint64_t draw[3]; /* for dl_operator_random */
  uint64_t reserved[4];
} dl_operator_row;

/* An operator of transforms: one field in, one field out, row by row. */
typedef struct dl_operator {
  uint32_t struct_size;
  int32_t argument_count;
  const char* name; /* as a format's */
  const char* doc;
  const char* source;                /* the reference definition it follows; NULL for none */
  const dl_argument_info* arguments; /* [argument_count]; by their places in this order, or by name */
  void* context;
  /* At create: checks arguments and input, and says what comes out. */
  dl_status (*prepare)(void* context, dl_operator_use* use, dl_error* error);
  dl_status (*apply)(void* context, dl_operator_row* row, dl_error* error); /* an error is a bad sample */
  void (*forget)(void* context, void* state);                               /* may be NULL */
  void (*destroy)(void* context);
} dl_operator;
/* The operator becomes known to loaders created with these extensions. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_add_operator(dl_extensions* extensions,
                                                                      const dl_operator* table,
                                                                      dl_error* error);
/* Draw `number` (0, 1, ...) of this operator for this row: a pure function of seed, epoch, slot, the operator's place in the
 * transform and the number, as the library's own operators draw. Does not depend on threads. */
DL_API DL_UNSTABLE uint64_t dl_operator_random(const dl_operator_row* row, int64_t number);

/* An object that a storage opens. */
typedef struct dl_storage_object {
  uint32_t struct_size;
  uint32_t reserved32;
  const char* path;         /* whole, with its scheme */
  const int32_t* cancelled; /* becomes nonzero (read it atomically) when the open is cancelled; never NULL */
  const dl_options*
      options;   /* of the caller: a storage that wraps another opens that with dl_file_open; never NULL */
  void* object;  /* out: for `read` and `close` */
  int64_t bytes; /* out */
  /* out: text that is another one when the object has other bytes, such as a version or an ETag; read before any other call for
   * the object. NULL: nobody can tell when it changes, so the option `cache` and a conversion that resumes refuse it */
  const char* fingerprint;
  uint64_t reserved[3];
} dl_storage_object;

/* Bytes that a storage is asked for. */
typedef struct dl_storage_read {
  uint32_t struct_size;
  uint32_t reserved32;
  void* object;
  int64_t offset;
  int64_t bytes; /* within the object; all of them are wanted */
  void* out;
  /* becomes nonzero (read it atomically) when nobody wants the bytes any more: the loader that reads is being destroyed, or
   * was cancelled; outside of a loader, when the token of the options is cancelled. `read` may then return DL_CANCELLED;
   * the samples do not count as bad. Valid until `read` returns; never NULL */
  const int32_t* cancelled;
  uint64_t reserved[4];
} dl_storage_read;

/* A storage: where the bytes of paths that begin with `scheme://` are. Formats read them as they read files by pread; only
 * formats that need a directory (folder, mnist, cifar10, cifar100) refuse them. */
typedef struct dl_storage {
  uint32_t struct_size;
  uint32_t reserved;
  const char* scheme; /* as a format's name, also with + */
  const char* doc;
  void* context;
  dl_status (*open)(void* context, dl_storage_object* object, dl_error* error);
  dl_status (*read)(void* context, dl_storage_read* request, dl_error* error);
  void (*close)(void* context, void* object); /* may be NULL */
  void (*destroy)(void* context);
} dl_storage;
/* The storage becomes known to datasets opened with these extensions. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_add_storage(dl_extensions* extensions,
                                                                     const dl_storage* storage,
                                                                     dl_error* error);

/* The workers' threads. */
typedef struct dl_threads {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  /* On each worker, first and last (to name, pin or register it). `worker` counts from 0. May be NULL. */
  void (*start)(void* context, int32_t worker, const char* name);
  void (*end)(void* context, int32_t worker);
  /* NULL: the library starts threads. Else called in dl_loader_create: arranges that main(argument) runs once, soon, on a
   * thread of the host's that may be used until it returns, which is when the loader is destroyed; 0, or an error number
   * (DL_ERR_THREAD). It needs 128 KiB of stack, besides what readers and operators of the host's take. Signals are the
   * host's business then. Workers that have not begun load nothing; dl_loader_destroy does not wait for them, and
   * main(argument) may then still be called, and returns at once; it frees what it was given, so never calling it leaks
   * a few bytes. */
  int32_t (*run)(void* context, int32_t worker, const char* name, void (*main)(void* argument),
                 void* argument);
  void (*destroy)(void* context);
} dl_threads;
/* Replaces those set before. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_set_threads(dl_extensions* extensions,
                                                                     const dl_threads* threads,
                                                                     dl_error* error);

typedef void (*dl_function)(void); /* a function of any type, to be cast to its own before it is called */

/* What a plug-in gets: a shared library that exports the function
 * `dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error)`, which sets plugin->built_for and adds what it has to
 * plugin->extensions. It may link with this library, or call it through plugin->find(name) alone, which also works where
 * the host has the library linked statically. */
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

/* Loads a plug-in: a path, or a NAME without `/`, for which libdataline-NAME.so is looked for as the dynamic linker does. It
 * stays loaded until the process ends. All that it adds is added, or nothing. Errors: DL_ERR_NOT_FOUND (says why the
 * linker refused), DL_ERR_NOT_A_FILE, DL_ERR_TRUNCATED (a library that was cut is not loaded: it would end the process),
 * DL_ERR_UNSUPPORTED (no such entry point; another ABI), what the plug-in returns. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_extensions_load(dl_extensions* extensions, const char* path,
                                                              dl_error* error);

/* A format, as dl_format_at shows it. */
typedef struct dl_format_info {
  uint32_t struct_size;
  int32_t key_count;
  const char* name;
  const char* doc;
} dl_format_info;
/* Formats: those of the library, then those of `extensions` (may be NULL), enumerated as transforms are: dl_format_count of
 * them. dl_format_at and dl_format_key_at fill *out, whose strings live as long as the library, or as `extensions`.
 * DL_ERR_INVALID_ARGUMENT: no such format or key. */
DL_API DL_UNSTABLE int32_t dl_format_count(const dl_extensions* extensions);
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_format_at(const dl_extensions* extensions, int32_t index,
                                                        dl_format_info* out, dl_error* error);
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_format_key_at(const dl_extensions* extensions, int32_t index,
                                                            int32_t key, dl_format_key* out, dl_error* error);
/* Storages of `extensions`: dl_storage_count of them. dl_storage_at fills *out: struct_size, scheme and doc, the rest
 * is NULL. DL_ERR_INVALID_ARGUMENT: no such storage. */
DL_API DL_UNSTABLE int32_t dl_storage_count(const dl_extensions* extensions);
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_storage_at(const dl_extensions* extensions, int32_t index,
                                                         dl_storage* out, dl_error* error);

#endif /* DL_STABLE_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* DATALINE_H */
