/* Loaders.
 *
 * A call keeps the handle alive by counting itself in `calls`, so that close from another thread, or the end of the
 * interpreter, cancels and leaves the destroying to the last call that leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

static const int64_t kSliceNs = 50 * 1000 * 1000; /* the longest wait between two looks for signals */

static Loader* first = NULL; /* all that have a handle */

static void link_loader(Loader* self) {
  self->before = NULL;
  self->after = first;
  if (first != NULL) first->before = self;
  first = self;
}

static void unlink_loader(Loader* self) {
  if (self->before != NULL) self->before->after = self->after;
  if (self->after != NULL) self->after->before = self->before;
  if (first == self) first = self->after;
  self->before = self->after = NULL;
}

static void destroy(Loader* self) {
  dl_loader* handle = self->handle;
  self->handle = NULL;
  if (handle == NULL) return;
  unlink_loader(self);
  Py_BEGIN_ALLOW_THREADS dl_loader_destroy(handle);
  Py_END_ALLOW_THREADS mailbox_empty();
}

static void close_loader(Loader* self) {
  self->closed = true;
  if (self->handle == NULL) return;
  if (self->calls == 0)
    destroy(self);
  else
    dl_loader_cancel(self->handle);
}

void loaders_close_all(void) {
  while (first != NULL) {
    Loader* self = first;
    Py_INCREF((PyObject*)self);
    close_loader(self);
    if (self->handle != NULL)
      unlink_loader(self); /* a daemon thread is in it, and will end with the process */
    Py_DECREF((PyObject*)self);
  }
}

void loaders_after_fork(void) {
  for (Loader* self = first; self != NULL; self = self->after) loop_after_fork(self);
}

bool loader_enter(Loader* self) {
  if (self->handle != NULL && !self->closed) {
    self->calls++;
    return true;
  }
  raise_local(DL_ERR_WRONG_STATE, "the loader is closed");
  return false;
}

void loader_leave(Loader* self) {
  if (--self->calls == 0 && self->closed) destroy(self);
}

static void loader_free(Loader* self) {
  close_loader(self);
  if (self->loop_lock != NULL) PyThread_free_lock(self->loop_lock);
  object_free((PyObject*)self);
}

static PyObject* loader_create(Loader* self, PyObject* arguments) {
  Dataset* dataset;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "O!O!:_create", dataset_type, &dataset, options_type, &options))
    return NULL;
  if (self->handle != NULL || self->closed)
    return raise_local(DL_ERR_WRONG_STATE, "the loader was made already");
  if (!interpreter_open()) return raise_local(DL_ERR_WRONG_STATE, "Python is ending");
  if (self->loop_lock == NULL && (self->loop_lock = PyThread_allocate_lock()) == NULL)
    return PyErr_NoMemory();
  if (!dataset_enter(dataset)) return NULL;
  dl_loader* made = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = dl_loader_create(dataset->handle, options->handle, &made, &error);
  Py_END_ALLOW_THREADS dataset_leave(dataset);
  mailbox_empty();
  if (!check(status, &error)) return NULL;
  self->handle = made;
  link_loader(self);
  dl_stats stats = {.struct_size = sizeof stats};
  self->in_caller = dl_loader_stats(made, &stats, NULL) == DL_OK && stats.num_workers == 0;
  Py_RETURN_NONE;
}

/* Waits in slices, so that Ctrl-C is seen. False: an exception is set, and nothing was delivered. */
static bool wait_for_batch(Loader* self, int64_t timeout_ns, dl_batch** batch, dl_status* status,
                           dl_error* error) {
  for (int64_t left = timeout_ns;;) {
    int64_t slice = left >= 0 && left < kSliceNs ? left : kSliceNs;
    Py_BEGIN_ALLOW_THREADS* status = dl_loader_next(self->handle, slice, batch, error);
    Py_END_ALLOW_THREADS if (left >= 0) left -= slice;
    if (*status != DL_TIMEOUT && *status != DL_INTERRUPTED) return true;
    if (PyErr_CheckSignals() != 0) return false;
    if (*status == DL_INTERRUPTED || left == 0 || self->closed) return true;
  }
}

/* A reader that ran in this thread was left by KeyboardInterrupt or the like: the step is as if never asked for. */
static bool undo_interrupted(Loader* self, dl_batch* batch) {
  if (!reader_interrupted()) return false;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  int64_t epoch = 0, step = 0;
  dl_batch_info info = {.struct_size = sizeof info};
  dl_status status = batch != NULL ? dl_batch_get_info(batch, &info, NULL)
                                   : dl_loader_position(self->handle, &epoch, &step, NULL);
  if (batch != NULL) epoch = info.epoch, step = info.step;
  dl_batch_release(batch);
  if (status == DL_OK) status = dl_loader_seek(self->handle, epoch, step, NULL);
  PyErr_Restore(type, value, traceback); /* what could not be undone is told by the next call */
  return true;
}

/* Of a failed sample of a reader of the host's: the exception that is set gets the one that the reader raised as its cause.
 * The package knows which; without an answer it stays as it is. */
static void add_cause(Loader* self) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject* done = PyObject_CallMethod((PyObject*)self, "_explain", "O", value);
  if (done == NULL) PyErr_Clear();
  Py_XDECREF(done);
  PyErr_Restore(type, value, traceback);
}

/* The next batch. NULL with an exception, or with a soft status. */
PyObject* loader_next_batch(Loader* self, int64_t timeout_ns, dl_status* status) {
  dl_batch* batch = NULL;
  NEW_ERROR(error);
  if (!loader_enter(self)) return NULL;
  const int64_t loop = self->loop; /* another may begin while this waits */
  /* A batch that is ready costs no change of the lock: with time-out 0 nothing waits and no reader is called. */
  *status = self->in_caller ? DL_TIMEOUT : dl_loader_next(self->handle, 0, &batch, &error);
  reader_in_caller(self->in_caller);
  bool ended = *status == DL_TIMEOUT && (timeout_ns != 0 || self->in_caller) &&
               !wait_for_batch(self, timeout_ns, &batch, status, &error);
  reader_in_caller(false);
  if (!ended && self->in_caller && undo_interrupted(self, batch)) ended = true;
  bool closed = self->closed;
  if (!ended && (*status == DL_END_OF_EPOCH || *status == DL_END) && self->ended < loop) self->ended = loop;
  loader_leave(self);
  mailbox_empty();
  if (ended) return NULL;
  if (*status == DL_OK) return batch_own(batch);
  if (closed) return raise_local(DL_ERR_WRONG_STATE, "the loader was closed");
  if (*status == DL_END_OF_EPOCH || *status == DL_END) return NULL;
  check(*status, &error);
  if (*status < 0) add_cause(self);
  return NULL;
}

/* _next(timeout in ns, -1 for ever): a Batch, or None at the end of an epoch. */
static PyObject* loader_next(Loader* self, PyObject* timeout) {
  int64_t timeout_ns = PyLong_AsLongLong(timeout);
  if (timeout_ns == -1 && PyErr_Occurred()) return NULL;
  dl_status status = DL_OK;
  PyObject* batch = loader_next_batch(self, timeout_ns, &status);
  if (batch != NULL || PyErr_Occurred()) return batch;
  if (status == DL_END_OF_EPOCH) Py_RETURN_NONE;
  NEW_ERROR(error);
  check(status, &error);
  return NULL;
}

static PyObject* loader_seek(Loader* self, PyObject* arguments) {
  long long epoch, step;
  if (!PyArg_ParseTuple(arguments, "LL:_seek", &epoch, &step)) return NULL;
  CALL(self, dl_loader_seek(self->handle, epoch, step, &error));
  Py_RETURN_NONE;
}

static PyObject* loader_load_state(Loader* self, PyObject* arguments) {
  const char* text;
  if (!PyArg_ParseTuple(arguments, "s:load_state", &text)) return NULL;
  CALL(self, dl_loader_state_load(self->handle, text, &error));
  Py_RETURN_NONE;
}

static PyObject* loader_set_indices(Loader* self, PyObject* arguments) {
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "O!:_set_indices", loan_type, &loan)) return NULL;
  letter* kept = letter_new((PyObject*)loan);
  if (kept == NULL) return NULL;
  NEW_ERROR(error);
  dl_status status = DL_ERR_WRONG_STATE;
  if (loader_enter(self)) {
    Py_BEGIN_ALLOW_THREADS status = dl_loader_set_indices(self->handle, (const int64_t*)loan->data,
                                                          loan->shape[0], give_back, kept, &error);
    Py_END_ALLOW_THREADS loader_leave(self);
    check(status, &error);
  }
  if (status != DL_OK) letter_discard(kept);
  mailbox_empty();
  if (status != DL_OK) return NULL;
  Py_RETURN_NONE;
}

static PyObject* loader_cancel(Loader* self, PyObject* none) {
  (void)none;
  if (self->handle != NULL) dl_loader_cancel(self->handle);
  Py_RETURN_NONE;
}

static PyObject* loader_interrupt(Loader* self, PyObject* none) {
  (void)none;
  if (self->handle != NULL) dl_loader_interrupt(self->handle);
  Py_RETURN_NONE;
}

static PyObject* loader_close(Loader* self, PyObject* none) {
  (void)none;
  close_loader(self);
  Py_RETURN_NONE;
}

static PyObject* loader_is_closed(Loader* self, void* none) {
  (void)none;
  return PyBool_FromLong(self->handle == NULL || self->closed);
}

Py_ssize_t loader_length(Loader* self) {
  if (!loader_enter(self)) return -1;
  int64_t steps = dl_loader_steps(self->handle);
  loader_leave(self);
  if (steps >= 0) return (Py_ssize_t)steps;
  PyErr_SetString(PyExc_TypeError, "the number of batches is not known");
  return -1;
}

static PyMethodDef loader_methods[] = {
    {"_create", (PyCFunction)loader_create, METH_VARARGS, "_create($self, dataset, options, /)\n--\n\n"},
    {"_next", (PyCFunction)loader_next, METH_O, "_next($self, timeout_ns, /)\n--\n\n"},
    {"_position", (PyCFunction)loader_position, METH_NOARGS, "_position($self, /)\n--\n\n"},
    {"_seek", (PyCFunction)loader_seek, METH_VARARGS, "_seek($self, epoch, step, /)\n--\n\n"},
    {"_set_indices", (PyCFunction)loader_set_indices, METH_VARARGS, "_set_indices($self, loan, /)\n--\n\n"},
    {"_fields", (PyCFunction)loader_fields, METH_NOARGS, "_fields($self, /)\n--\n\n"},
    {"_stats", (PyCFunction)loader_stats, METH_NOARGS, "_stats($self, /)\n--\n\n"},
    {"_pixel_scale", (PyCFunction)loader_pixel_scale, METH_VARARGS,
     "_pixel_scale($self, field, channel, /)\n--\n\n"},
    {"_plan", (PyCFunction)loader_plan, METH_NOARGS, "_plan($self, /)\n--\n\n"},
    {"_bad_samples", (PyCFunction)loader_bad_samples, METH_NOARGS, "_bad_samples($self, /)\n--\n\n"},
    {"save_state", (PyCFunction)loader_save_state, METH_NOARGS,
     "save_state($self, /)\n--\n\nThe position and what identifies the job, as text under 4 KiB. It counts "
     "what was "
     "delivered, never what was loaded ahead."},
    {"load_state", (PyCFunction)loader_load_state, METH_VARARGS,
     "load_state($self, text, /)\n--\n\nGoes to a saved position. Threads, depth, I/O, memory and transform "
     "may differ "
     "from the saving job's; rank and world size too, at an equal global batch.\n\nRaises StateError: "
     "damaged, or of "
     "another job; it names both values."},
    {"cancel", (PyCFunction)loader_cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nEnds every wait, now and later, with CancelledError, until a seek or load. Any "
     "thread; "
     "never blocks."},
    {"interrupt", (PyCFunction)loader_interrupt, METH_NOARGS,
     "interrupt($self, /)\n--\n\nEnds only the waits in progress, with Interrupted; nothing is lost. Any "
     "thread; never "
     "blocks."},
    {"fileno", (PyCFunction)loader_fileno, METH_NOARGS,
     "fileno($self, /)\n--\n\nA descriptor that is readable while ``next`` would not wait, so that select, "
     "selectors and "
     "asyncio take the loader. Never read it or close it."},
    {"close", (PyCFunction)loader_close, METH_NOARGS,
     "close($self, /)\n--\n\nStops the workers and frees what is not held; batches stay valid. Any thread, "
     "also while "
     "another is in ``next``, which then fails. Twice is fine."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef loader_properties[] = {
    {"closed", (getter)loader_is_closed, NULL, "After ``close``.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot loader_slots[] = {{Py_tp_doc, "A handle on a loader."},
                                     {Py_tp_dealloc, loader_free},
                                     {Py_tp_methods, loader_methods},
                                     {Py_tp_getset, loader_properties},
                                     {Py_tp_iter, loader_iterate},
                                     {Py_sq_length, loader_length},
                                     {0, NULL}};
PyType_Spec loader_spec = {"dataline._core.Loader", sizeof(Loader), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, loader_slots};
