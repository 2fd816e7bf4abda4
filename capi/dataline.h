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
 * Text       In: UTF-8, NUL-terminated. Out: NUL-terminated and borrowed.
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
 *            fork() a dataset stays usable in the child; a loader there returns DL_ERR_FORKED, and may be destroyed.
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

#ifndef DL_API
#if defined(__GNUC__)
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
/* "highway mimalloc libjpeg; gcc 12.2.0": the optional parts of the build, and the compiler. Then missing parts, if any,
 * with what each costs: "mimalloc; gcc 12.2.0; missing: highway (normalised rows ... slower), libwebp (...)". */
DL_API const char* dl_build_info(void);

#define DL_STRUCT_MAX_BYTES 4096 /* no struct of any release is larger */

/* ---- Status and errors ------------------------------------------------------------------------------------ */

typedef int32_t dl_status;

#define DL_OK 0
/* Soft results. */
#define DL_END_OF_EPOCH 1 /* once at the end of each epoch, including the last */
#define DL_END 2          /* after the last of `epochs` epochs, on every call */
#define DL_TIMEOUT 3      /* nothing is lost: a later call returns the batch */
#define DL_CANCELLED 4    /* dl_loader_cancel or a cancel token; until a seek */
#define DL_INTERRUPTED 5  /* dl_loader_interrupt ended this wait */
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
#define DL_ERR_OVER_BUDGET (-21) /* names the minimum memory_budget that works and the option to change */
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
#define DL_ERR_READER (-52)       /* the host's reader callback failed */
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
  int32_t os_error;      /* errno, or 0 */
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
DL_API void dl_error_init(dl_error* error, uint32_t struct_size);

/* ---- Handles ---------------------------------------------------------------------------------------------- */

typedef struct dl_options dl_options; /* key-value settings of a dataset and of a loader */
typedef struct dl_dataset dl_dataset; /* samples by index; immutable */
typedef struct dl_loader dl_loader;   /* a job's stream of batches; owns threads, slots and position */
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

DL_API DL_MUST_CHECK dl_status dl_options_create(dl_options** out, dl_error* error);
DL_API void dl_options_destroy(dl_options* options); /* NULL is fine */

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
DL_API DL_MUST_CHECK dl_status dl_options_set_allocator(dl_options* options, const dl_allocator* allocator,
                                                        dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_options_set_log(dl_options* options, const dl_log* log, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_options_set_cancel_token(dl_options* options, dl_cancel_token* token,
                                                           dl_error* error); /* keeps its own reference */
/* The current value as text (the default when not set; "" for none). Borrowed until the next change. */
DL_API DL_MUST_CHECK dl_status dl_options_get(const dl_options* options, const char* key, const char** out,
                                              dl_error* error);

#define DL_OPTION_BOOL 1
#define DL_OPTION_INT 2
#define DL_OPTION_SIZE 3 /* bytes */
#define DL_OPTION_WORD 4 /* one of `choices` */
#define DL_OPTION_TEXT 5
#define DL_OPTION_INDICES 6 /* i64 array */
#define DL_OPTION_WEIGHTS 7 /* f64 array */

#define DL_SCOPE_DATASET 1
#define DL_SCOPE_LOADER 2 /* both: 3 */

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

DL_API int32_t dl_option_count(void);
/* Fills *out; its strings are never freed. */
DL_API DL_MUST_CHECK dl_status dl_option_at(int32_t index, dl_option_info* out, dl_error* error);

/* Transform operators, enumerated in the same way. */
typedef struct dl_transform_info {
  uint32_t struct_size;
  int32_t argument_count;
  const char* name;
  const char* doc;
  const char* source; /* the reference definition it follows */
  const char* since;
} dl_transform_info;
typedef struct dl_argument_info {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;
  const char* type;
  const char* default_value; /* "": required */
} dl_argument_info;
DL_API int32_t dl_transform_count(void);
DL_API DL_MUST_CHECK dl_status dl_transform_at(int32_t index, dl_transform_info* out, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_transform_argument_at(int32_t index, int32_t argument,
                                                        dl_argument_info* out, dl_error* error);

/* A cancelled token ends dl_dataset_open and the waits of every loader created with it (DL_CANCELLED).
 * dl_cancel_token_cancel: any thread, never blocks, cannot be undone. */
DL_API DL_MUST_CHECK dl_status dl_cancel_token_create(dl_cancel_token** out, dl_error* error);
DL_API void dl_cancel_token_cancel(dl_cancel_token* token);
DL_API void dl_cancel_token_destroy(dl_cancel_token* token); /* NULL is fine */

/* ---- Tensors ---------------------------------------------------------------------------------------------- */

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

#define DL_KIND_DENSE 0
#define DL_KIND_RAGGED 1
#define DL_KIND_STRIDED 2 /* only in dl_array: dense, with rows row_stride_bytes apart */

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

/* One field of one record that a reader fills. */
typedef struct dl_reader_cell {
  void* data;       /* write at most capacity bytes here; 64-byte aligned */
  int64_t capacity; /* dense: the field's bytes; ragged: max_bytes_per_sample */
  int64_t bytes;    /* in: the field's bytes (dense) or 0; out, ragged: bytes written, whole items. More than
                       capacity means that the sample is too large (DL_ERR_TOO_LARGE) */
  int32_t status;   /* out: nonzero when this record is bad; any code of the host's */
  int32_t reserved;
} dl_reader_cell;

/* Records from the host's own code. `read` is called from worker threads (with num_workers=0 from the thread in
 * dl_loader_next), concurrently, with up to 64 records: cells[r * field_count + f]. It returns 0, or another value when
 * all records of the call are bad, and may write a reason (NUL-terminated) to message[message_bytes].
 * `fields` is the schema (name, kind, dtype, rank, shape without the batch dim, axes). `destroy` (may be NULL) is called
 * once, when `read` will not be called again. */
typedef struct dl_reader {
  uint32_t struct_size;
  int32_t field_count;
  const dl_view* fields; /* read during the call only */
  int64_t record_count;
  void* context;
  int32_t (*read)(void* context, const int64_t* indices, int64_t count, dl_reader_cell* cells, char* message,
                  size_t message_bytes);
  void (*destroy)(void* context);
  const char* fingerprint; /* text that identifies the data in a saved state; NULL for none */
} dl_reader;
DL_API DL_MUST_CHECK dl_status dl_dataset_from_reader(const dl_reader* reader, const dl_options* options,
                                                      dl_dataset** out, dl_error* error);

/* Composed datasets keep their own references to the parts. options may be NULL; the copy that subset makes of its indices
 * comes from their allocator, within their memory_budget.
 * zip: fields side by side; equal lengths; names[i] renames (one field) or prefixes ("name/field") those of part i;
 * names may be NULL. concat: one after another; equal fields. subset: samples indices[0..count) of a dataset; borrowed
 * with `release`, else copied. */
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
DL_API const dl_view* dl_dataset_fields(const dl_dataset* dataset, int32_t* count);
DL_API const char* dl_dataset_format(const dl_dataset* dataset); /* "idx", "zip", "arrays", ... */
DL_API const char* dl_dataset_uri(const dl_dataset* dataset);    /* as given to open, or "" */
DL_API int32_t dl_dataset_note_count(const dl_dataset* dataset);
DL_API const char* dl_dataset_note(const dl_dataset* dataset, int32_t index); /* a remark for the user */
/* Class names, indexed by label (a folder's class directories, in order). The count is 0 where the dataset has none.
 * Composed datasets take those of their first part that has any. A name is UTF-8, or the raw bytes of a directory's name
 * that is not; it lives as long as the dataset; "" out of range. */
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
 * DL_ERR_UNSUPPORTED, and with device=cuda DL_ERR_NO_DEVICE, DL_ERR_DEVICE_LOST. A driver is
 * opened only for device=cuda and pin_memory. */
DL_API DL_MUST_CHECK dl_status dl_loader_create(dl_dataset* dataset, const dl_options* options,
                                                dl_loader** out, dl_error* error);

/* The next batch, in order. timeout_ns: < 0 waits without limit, 0 polls. dl_batch_release returns the batch's slot.
 * DL_END_OF_EPOCH ends each epoch once; DL_END follows the last. With num_workers=0 the call does the work itself,
 * whatever the timeout; otherwise a call that would wait fills rows too, in pieces of at most about 50 us, but never
 * calls the host's reader and never with timeout 0. Threading: any thread; each call gets a different batch.
 * Errors: DL_ERR_BAD_SAMPLE (once per step, the position stays; the next call delivers the step's good samples),
 * DL_ERR_TOO_MANY_BAD, DL_ERR_LEASES_HELD, DL_ERR_OVER_BUDGET, DL_ERR_FORKED, and with device=cuda DL_ERR_DEVICE_LOST,
 * then on every call, even for batches loaded before.
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
 * DL_CANCELLED, DL_INTERRUPTED; errors: DL_ERR_FORKED, DL_ERR_DEVICE_LOST. */
DL_API DL_MUST_CHECK dl_status dl_loader_work(dl_loader* loader, int64_t budget_ns, dl_error* error);

/* For a `for` loop: starts the next epoch at step 0 if this one was left in the middle, or its end is due; does nothing at
 * the start of an epoch, or right after a seek or load (the loop continues there). DL_END after the last epoch. */
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

/* The position and the identity of the job, as text of any length. *bytes: in, the room in text; out, the bytes of the
 * text with its NUL. text may be NULL to ask for that length; a later call may need more or less, when the position has
 * moved. DL_ERR_INVALID_ARGUMENT when the room is too small: *bytes then says what is needed, and nothing is written. */
DL_API DL_MUST_CHECK dl_status dl_loader_state_save(const dl_loader* loader, char* text, size_t* bytes,
                                                    dl_error* error);
/* Seeks to a saved position. num_workers, prefetch_depth, io, memory and transform may differ from the saving job; rank
 * and world_size too, with an equal global batch. DL_ERR_BAD_STATE; DL_ERR_STATE_REFUSED names both values. */
DL_API DL_MUST_CHECK dl_status dl_loader_state_load(dl_loader* loader, const char* text, dl_error* error);

/* Ends every current and later wait with DL_CANCELLED, until a seek or load. Any thread; never blocks. */
DL_API void dl_loader_cancel(dl_loader* loader);
/* Ends only the current waits, with DL_INTERRUPTED. Any thread; never blocks. */
DL_API void dl_loader_interrupt(dl_loader* loader);

/* A handle that is readable while next would not wait: an eventfd on Linux (poll it, never read or close it). With
 * num_workers=0 always readable. Made on the first call; lives as long as the loader. */
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
  int64_t lease_copies;      /* batches delivered as a fresh allocation (lease_overflow=copy) */
  int64_t ready_batches;     /* loaded and not yet delivered */
  int64_t pinned_bytes;      /* page-locked; 0 where that was refused (logged once) */
  int64_t threads_abandoned; /* workers abandoned in a reader callback that did not return */
  int64_t device_bytes;      /* device memory the loader holds now */
  int64_t copied_bytes;      /* copied over the bus to the device */
  int64_t warned;            /* images delivered although the decoder warned of damage (on_warning=accept) */
} dl_stats;
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
DL_API int64_t dl_loader_bad_sample_count(const dl_loader* loader);
DL_API DL_MUST_CHECK dl_status dl_loader_bad_sample_at(const dl_loader* loader, int64_t index,
                                                       dl_bad_sample* out, dl_error* error);

/* Cancels, joins the workers and frees; NULL is fine. Batches still leased stay valid until they are released. A worker
 * inside a reader callback is given one second, then abandoned together with what it uses (and this is logged). With a
 * device, waits for the copies in flight and for the work queued on released batches.
 * Threading: once, when no other call on the loader is in progress or follows. */
DL_API void dl_loader_destroy(dl_loader* loader);

/* ---- Batches ---------------------------------------------------------------------------------------------- */

/* All fields, in the order of dl_loader_fields. */
DL_API const dl_view* dl_batch_views(const dl_batch* batch, int32_t* count);

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
DL_API DL_MUST_CHECK dl_status dl_batch_get_info(const dl_batch* batch, dl_batch_info* out, dl_error* error);

/* Retain and release: any thread; NULL is fine. The last release returns the slot. */
DL_API void dl_batch_retain(dl_batch* batch);
DL_API void dl_batch_release(dl_batch* batch);

/* Batches in device memory (device=cuda:N) are delivered while their copies are still in flight. A `stream` is a
 * CUstream or cudaStream_t of that device; NULL is CUDA's legacy stream. Neither call waits on the host.
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
 * On the cpu device there is nothing to wait for, and dl_batch_release_on is dl_batch_release.
 * Errors: DL_ERR_INVALID_ARGUMENT (a stream of another device), DL_ERR_DEVICE_LOST, DL_ERR_FORKED. dl_batch_release_on
 * drops the reference whatever it returns.
 * Threading: any thread; the thread's current CUDA context is preserved. */
DL_API DL_MUST_CHECK dl_status dl_batch_wait(dl_batch* batch, void* stream, dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_batch_release_on(dl_batch* batch, void* stream, dl_error* error);

/* A field as a DLPack tensor, which holds the batch until its deleter is called (any thread, also after the loader is
 * destroyed). Versioned (1.x): flagged read-only where the view is. Unversioned tensors have no such flag: read-only fields
 * are refused with DL_ERR_UNSUPPORTED. Ragged: the packed data. In device memory this call does not wait: use
 * dl_batch_wait for each stream; the deleter is a dl_batch_release. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
DL_API DL_MUST_CHECK dl_status dl_batch_dlpack(dl_batch* batch, int32_t field, struct DLManagedTensor** out,
                                               dl_error* error);
DL_API DL_MUST_CHECK dl_status dl_batch_dlpack_versioned(dl_batch* batch, int32_t field,
                                                         struct DLManagedTensorVersioned** out,
                                                         dl_error* error);

/* ---- Unstable --------------------------------------------------------------------------------------------- */
/* Calls that may still change, or go, in a minor release; they have a version node of their own (DATALINE_UNSTABLE), so
 * that a program that uses one and meets a library without it is refused by the dynamic linker, and does not crash.
 * Define DL_STABLE_ONLY before the include to leave them out. */
#ifndef DL_STABLE_ONLY
#define DL_UNSTABLE /* marks them */

/* The header of an encoded image. */
#define DL_IMAGE_JPEG 1
#define DL_IMAGE_PNG 2
#define DL_IMAGE_WEBP 3
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
DL_API DL_UNSTABLE int32_t dl_loader_plan_count(const dl_loader* loader);
/* Fills *out. DL_ERR_INVALID_ARGUMENT: no such stage. Threading: any thread. */
DL_API DL_UNSTABLE DL_MUST_CHECK dl_status dl_loader_plan_at(const dl_loader* loader, int32_t index,
                                                             dl_plan_stage* out, dl_error* error);

#endif /* DL_STABLE_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* DATALINE_H */
