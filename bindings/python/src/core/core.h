/* Declarations shared by the files of the extension. Everything runs with the GIL held unless its comment states otherwise.
 * In a free-threaded Python, which has no GIL, the thread is attached to the interpreter, and several run concurrently.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_CORE_H
#define DATALINE_PYTHON_CORE_H

#include "handle.h"
#include "stable.h"

#include <dataline.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- Types. One of each in a process: the module loads once, in the main interpreter only (module.c). ---- */

extern PyTypeObject *options_type, *token_type, *loan_type, *dataset_type, *cells_type, *loader_type,
    *epoch_type, *batch_type, *tensor_type, *opening_type, *extensions_type, *lent_type, *file_type,
    *metrics_type, *pieces_type, *writer_type;

typedef struct {
  PyObject_HEAD dl_options* handle;
} Options;

typedef struct {
  PyObject_HEAD dl_cancel_token* handle;
} Token;

typedef struct {
  PyObject_HEAD dl_extensions* handle;
} Extensions;

typedef struct {
  PyObject_HEAD Handle handle; /* a dl_dataset, once it is opened */
} Dataset;

typedef struct {
  PyObject_HEAD Handle handle; /* a dl_opening, once it is started */
} Opening;

typedef struct {
  PyObject_HEAD Handle handle; /* a dl_writer, once it is made */
} Writer;

/* Memory of another object, kept alive and in place while this lives. */
typedef struct {
  PyObject_HEAD char* data;
  int32_t dtype;
  int32_t rank;
  int64_t shape[DL_MAX_RANK];
  int64_t strides[DL_MAX_RANK]; /* bytes */
  int32_t held;                 /* which of the next holds the memory */
  union {
    Py_buffer buffer;
    void* dlpack;
    PyObject* object;
  } by;
} Loan;

typedef struct Loader {
  PyObject_HEAD Handle handle; /* a dl_loader, once it is made */
  bool in_caller;              /* num_workers=0: the thread that takes a batch loads it */
  PyObject* pieces;            /* that the last trace was written to; NULL: none. Under the lock of handles */
  struct Loader *before, *after; /* all that were made, for the end of the interpreter */
} Loader;

typedef struct {
  PyObject_HEAD dl_batch* handle; /* NULL: released */
  _Atomic uintptr_t stream;       /* the last that waits for it; 0: none */
  bool on_device;
} Batch;

/* ---- object.c ---- */

/* An attribute of a Python module of the package, as a new reference. */
PyObject* from_package(const char* module, const char* name);
/* Stores an object in a place that is empty or was filled by another thread meanwhile. Returns the stored object, borrowed
 * forever. Takes the reference. */
PyObject* keep_first(_Atomic(PyObject*)* place, PyObject* made);
/* from_package, once. */
PyObject* kept_from_package(_Atomic(PyObject*)* place, const char* module, const char* name);
/* The text of `call(of, room, bytes, error)`, which follows the protocol of dl_loader_state_save. Without the interpreter's lock.
 * *text: the caller frees it; NULL when the status is not DL_OK. */
dl_status text_from(dl_status (*call)(const void*, char*, size_t*, dl_error*), const void* of, char** text,
                    dl_error* error);
void object_free(PyObject* self); /* the end of each dealloc */
/* tp_new of what the library makes. */
PyObject* not_by_hand(PyTypeObject* type, PyObject* arguments, PyObject* keywords);
bool add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type);

/* ---- error.c ---- */

#define NEW_ERROR(name) \
  dl_error name;        \
  dl_error_init(&name, sizeof name)

PyObject* raise_error(const dl_error* error);                   /* NULL, always */
PyObject* raise_local(dl_status code, const char* format, ...); /* an error that the binding detects */
/* DL_OK: true. Else false, with the exception set; soft results become exceptions too. */
bool check(dl_status status, const dl_error* error);

/* ---- mailbox.c: messages from threads without the interpreter's lock ---- */

typedef struct letter letter;
/* Keeps `owner` until `give_back(letter)` is called, by any thread, at any time; NULL: no memory. */
letter* letter_new(PyObject* owner);
void letter_discard(letter* unused);
PyObject* letter_owner(letter* of);
void give_back(void* context);
/* Runs `function(level, text)` soon, on a thread that has the lock. `context` is the function's letter. */
void remark(void* context, int32_t level, const char* message, size_t length);
void mailbox_empty(void); /* does what is due; called after all that may have given something back */

/* ---- interpreter.c: threads of the library that call Python ---- */

void interpreter_begin(void); /* once, at import */
bool interpreter_open(void);
/* True: it does not end before interpreter_let_go, which comes soon and after nothing that waits. */
bool interpreter_hold(void);
void interpreter_let_go(void);
/* PyGILState_Ensure; false: it is ending. Before it pthread_cleanup_push(thread_is_ended, NULL). */
bool interpreter_enter(PyGILState_STATE* state);
void interpreter_leave(PyGILState_STATE state);
/* No call into it from here on. Returns when those that are in it have left, or at the deadline. */
void interpreter_close(int64_t deadline_ns);
void interpreter_after_fork(void); /* in the child */
/* What a thread does that the interpreter ends in a callback: it sleeps. */
void thread_is_ended(void* unused);
/* Whether this thread is Python's main one, which runs the handlers of signals, or might be. */
bool thread_may_handle_signals(void);
int64_t monotonic_ns(void);

/* ---- stream.c: a stream is a handle, never 0 ---- */

#define STREAM_LEGACY ((uintptr_t)1) /* the default stream that orders itself with all blocking ones */

bool stream_of(PyObject* stream,
               uintptr_t* out); /* None, a number, or a stream of PyTorch, CuPy, cuda.core */
bool stream_waits(dl_batch* batch, uintptr_t stream);
bool stream_waits_dlpack(dl_batch* batch, PyObject* stream); /* as __dlpack__ takes it; BufferError */
bool batch_release_after(dl_batch* batch, uintptr_t stream); /* takes the reference, whatever it returns */
void batch_give_up(dl_batch* batch, bool on_device);         /* dl_batch_release; NULL is fine */

/* ---- Other files ---- */

extern PyType_Spec options_spec, token_spec, loan_spec, dataset_spec, cells_spec, loader_spec, epoch_spec,
    batch_spec, tensor_spec, opening_spec, extensions_spec, lent_spec, file_spec, metrics_spec, pieces_spec,
    writer_spec;

PyObject* fields_of(const dl_view* views, int32_t count); /* schema.c: a tuple of tuples */
/* Fields that Python describes as tuples: (name, Loan, axes or None, Loan of offsets or None), which dataset.c reads; and
 * (name, dtype, shape, ragged, axes, bytes), which reader.c reads, with space for its shape. */
bool array_of_tuple(PyObject* described, dl_array* array);
bool field_of_tuple(PyObject* described, dl_view* view, int64_t* shape);
PyObject* shape_tuple(const int64_t* shape, int32_t rank, int64_t factor);
PyObject* option_table(PyObject* self, PyObject* none);           /* tables.c */
PyObject* options_set_environment(Options* self, PyObject* list); /* launcher.c */
PyObject* launcher(PyObject* self, PyObject* list);
PyObject* transform_table(PyObject* self, PyObject* extensions); /* an Extensions, or None */
PyObject* format_table(PyObject* self, PyObject* extensions);
PyObject* storage_table(PyObject* self, PyObject* extensions);
PyObject* operator_random(PyObject* self, PyObject* arguments); /* host_operator.c */
PyObject* library_version(PyObject* self, PyObject* none);
PyObject* dtype_names(PyObject* self, PyObject* none);

PyObject* loan_of_capsule(PyObject* type, PyObject* capsule); /* loan.c */
void dlpack_release(void* managed, bool versioned);           /* dlpack.c */
PyObject* dlpack_export(dl_batch* batch, int32_t field, bool versioned);
PyObject* dlpack_copy(const dl_view* view, bool versioned);
PyObject* dataset_from_arrow(Dataset* self, PyObject* arguments); /* arrow.c */
void copy_strided(char* to, const char* from, int32_t rank, const int64_t* shape, const int64_t* strides,
                  int64_t item_bytes); /* strided.c; strides in bytes */
int64_t item_count(const int64_t* shape, int32_t rank);

PyObject* batch_own(dl_batch* handle);                  /* batch.c; takes the reference */
PyObject* tensor_of(dl_batch* batch, int32_t field);    /* tensor_make.c; takes its own reference */
void tensor_waited(PyObject* tensor, uintptr_t stream); /* this stream waits for its batch */
PyObject* array_of(dl_batch* batch, int32_t field);     /* a NumPy array, or a Ragged of two */
PyObject* integers_of(dl_batch* batch, const int64_t* values, int64_t count); /* a memoryview */

/* dataset.c. NULL: an exception is set; else dataset_leave has to follow. */
dl_dataset* dataset_enter(Dataset* self);
void dataset_leave(Dataset* self);
/* What a call that opens `self` returns: None, or NULL with the exception. */
PyObject* dataset_opened(Dataset* self, dl_dataset* made, dl_status status, const dl_error* error);
PyObject* dataset_from_reader(Dataset* self, PyObject* arguments); /* reader.c */
PyObject* dataset_fields(Dataset* self, PyObject* none);           /* dataset_about.c */
PyObject* dataset_classes(Dataset* self, PyObject* none);
PyObject* dataset_read(Dataset* self, PyObject* arguments);
PyObject* dataset_about(Dataset* self, PyObject* none);
PyObject* dataset_identity(Dataset* self, PyObject* none);
void loaders_close_all(void); /* loader_life.c */

/* ---- caller.c: calls of the library that may run Python code on this thread ---- */

void caller_enter(void); /* before such a call */
void caller_leave(void); /* after it */
/* Keeps the exception that is set if the caller must see it: not a failure of data (KeyboardInterrupt, SystemExit), and not
 * in a worker, where it has no recipient. The library then returns as soon as it can. */
bool caller_keeps_exception(void);
bool caller_has_exception(void);
/* Once the library has returned: sets the exception that was kept. False: there was none. */
bool caller_raises(void);

#endif
