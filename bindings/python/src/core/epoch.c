/* A loop over one epoch.
 *
 * The library has one position per loader, and its `next` returns the next batch of whichever epoch. To give a loop only
 * the batches of one epoch, whatever threads do:
 *   - Starting a loop and taking a batch for it happen under the loader's `loop_lock`. Of several threads that share an
 *     iterator one waits inside the library, and when it gets the end of the epoch the others find the loop over, instead
 *     of taking the first batches of the next epoch.
 *   - With num_workers=0 `Loader.next` takes the lock too: of several threads one does the work, and the others, which in the
 *     library would wait until that is done, see signals here.
 *   - Starting a loop makes the previous one stale: its next step raises, because its epoch was left.
 * Python code that runs while its thread takes a batch (a reader with num_workers=0, a signal handler) gets an error when
 * it requests one from the same loader, instead of deadlocking. `cancel`, `interrupt` and `close` do not take the lock, and end
 * the waits for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

typedef struct {
  PyObject_HEAD Loader* loader;
  int64_t number; /* of the loader's loops */
  atomic_bool over;
} Epoch;

enum { kLookMs = 50 }; /* the longest wait between two looks for signals */

/* Whether a wait for the lock is over without it; then an exception is set. */
static bool loop_wait_ended(Loader* self, Told told) {
  if (PyErr_CheckSignals() != 0) return true;
  if (self->handle.closed) return raise_local(DL_ERR_WRONG_STATE, "the loader was closed") == NULL;
  if (self->cancels != told.cancels) return !check(DL_CANCELLED, NULL);
  return self->interrupts != told.interrupts && !check(DL_INTERRUPTED, NULL);
}

bool loop_enter(Loader* self, Told told, int64_t* timeout_ns) {
  const unsigned long me = PyThread_get_thread_ident();
  bool mine = PyThread_acquire_lock(self->loop_lock, NOWAIT_LOCK);
  while (!mine) {
    if (self->loop_thread == me) {
      raise_local(DL_ERR_WRONG_STATE,
                  "this thread is taking a batch of the loader already: a reader or a handler of "
                  "a signal cannot loop over it");
      return false;
    }
    if (*timeout_ns == 0) return check(DL_TIMEOUT, NULL);
    int64_t wait_ms =
        *timeout_ns > 0 && *timeout_ns < kLookMs * 1000000 ? (*timeout_ns + 999999) / 1000000 : kLookMs;
    Py_BEGIN_ALLOW_THREADS mine =
        PyThread_acquire_lock_timed(self->loop_lock, wait_ms * 1000, 1) == PY_LOCK_ACQUIRED;
    Py_END_ALLOW_THREADS if (*timeout_ns > 0)* timeout_ns -=
        wait_ms * 1000000 < *timeout_ns ? wait_ms * 1000000 : *timeout_ns;
    if (!mine && loop_wait_ended(self, told)) return false;
  }
  self->loop_thread = me;
  return true;
}

void loop_leave(Loader* self) {
  self->loop_thread = 0;
  PyThread_release_lock(self->loop_lock);
}

PyObject* loader_iterate(Loader* self) {
  NEW_ERROR(error);
  dl_status status = DL_OK;
  int64_t no_limit = -1, number = 0;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  bool entered = loop_enter(self, loader_told(self), &no_limit);
  if (entered) {
    Py_BEGIN_ALLOW_THREADS status = dl_loader_begin_epoch(loader, &error);
    Py_END_ALLOW_THREADS if (status == DL_OK) self->loop++;
    number = self->loop;
    loop_leave(self);
  }
  loader_leave(self);
  mailbox_empty();
  if (!entered || (status != DL_END && !check(status, &error))) return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(epoch_type, Py_tp_alloc);
  Epoch* epoch = (Epoch*)allocate(epoch_type, 0);
  if (epoch == NULL) return NULL;
  Py_INCREF((PyObject*)self);
  epoch->loader = self;
  epoch->number = number;
  epoch->over = status == DL_END;
  return (PyObject*)epoch;
}

/* A batch; NULL at the end, and with an exception. */
static PyObject* take(Epoch* self, int64_t timeout_ns) {
  Loader* loader = self->loader;
  dl_status status = DL_OK;
  PyObject* batch = NULL;
  const Told told = loader_told(loader);
  if (self->over || !loop_enter(loader, told, &timeout_ns)) return NULL;
  if (self->over || loader->ended == self->number)
    self->over = true;
  else if (loader->loop != self->number)
    raise_local(DL_ERR_WRONG_STATE,
                "this loop was left when another one began over the same loader: take one loader "
                "a loop, or share one iterator");
  else if ((batch = loader_next_batch(loader, told, timeout_ns, &status)) == NULL && !PyErr_Occurred())
    self->over = true;
  loop_leave(loader);
  return batch;
}

static PyObject* epoch_next(Epoch* self) { return take(self, -1); }

/* _next(timeout in ns, -1 for ever): a Batch, or None at the end. */
static PyObject* epoch_next_in(Epoch* self, PyObject* timeout) {
  int64_t timeout_ns = PyLong_AsLongLong(timeout);
  if (timeout_ns == -1 && PyErr_Occurred()) return NULL;
  PyObject* batch = take(self, timeout_ns);
  if (batch != NULL || PyErr_Occurred()) return batch;
  Py_RETURN_NONE;
}

static PyObject* epoch_length_hint(Epoch* self, PyObject* none) {
  (void)none;
  if (self->over || self->loader->loop != self->number) return PyLong_FromLong(0);
  int64_t epoch = 0, step = 0;
  CALL(self->loader, dl_loader_position(loader, &epoch, &step, &error));
  Py_ssize_t steps = loader_length(self->loader);
  return steps < 0 ? NULL : PyLong_FromLongLong(steps - step);
}

static PyObject* epoch_self(PyObject* self) {
  Py_INCREF(self);
  return self;
}

static void epoch_free(Epoch* self) {
  Py_XDECREF((PyObject*)self->loader);
  object_free((PyObject*)self);
}

static PyMethodDef epoch_methods[] = {
    {"_next", (PyCFunction)epoch_next_in, METH_O, "_next($self, timeout_ns, /)\n--\n\n"},
    {"__length_hint__", (PyCFunction)epoch_length_hint, METH_NOARGS,
     "__length_hint__($self, /)\n--\n\nBatches that are left."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot epoch_slots[] = {
    {Py_tp_doc,
     "The batches of one epoch; a loader gives it to a `for`. Threads may share it: each "
     "batch goes to one of them."},
    {Py_tp_dealloc, epoch_free},
    {Py_tp_iter, epoch_self},
    {Py_tp_iternext, epoch_next},
    {Py_tp_methods, epoch_methods},
    {Py_tp_new, not_by_hand},
    {0, NULL}};
PyType_Spec epoch_spec = {"dataline.Epoch", sizeof(Epoch), 0, Py_TPFLAGS_DEFAULT, epoch_slots};
