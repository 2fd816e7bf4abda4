/* Taking batches of a loader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

static const int64_t kSliceNs = 50 * 1000 * 1000; /* the longest wait between two looks for signals */

Told loader_told(Loader* self) { return (Told){self->interrupts, self->cancels}; }

/* Waits in slices, so that Ctrl-C is seen. An interrupt that comes between two of them, where this thread may have to wait for
 * Python's lock, ends it too. False: an exception is set, and nothing was delivered. */
static bool wait_for_batch(Loader* self, dl_loader* loader, Told told, int64_t timeout_ns, dl_batch** batch,
                           dl_status* status, dl_error* error) {
  for (int64_t left = timeout_ns;;) {
    int64_t slice = left >= 0 && left < kSliceNs ? left : kSliceNs;
    Py_BEGIN_ALLOW_THREADS* status = dl_loader_next(loader, slice, batch, error);
    Py_END_ALLOW_THREADS if (left >= 0) left -= slice;
    if (*status != DL_TIMEOUT && *status != DL_INTERRUPTED) return true;
    if (PyErr_CheckSignals() != 0) return false;
    if (self->interrupts != told.interrupts) *status = DL_INTERRUPTED;
    if (*status == DL_INTERRUPTED || left == 0 || self->handle.closed) return true;
  }
}

/* A reader that ran in this thread was left by KeyboardInterrupt or the like: the step is as if never asked for. */
static bool undo_interrupted(dl_loader* loader, dl_batch* batch) {
  if (!reader_interrupted()) return false;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  int64_t epoch = 0, step = 0;
  dl_batch_info info = {.struct_size = sizeof info};
  dl_status status =
      batch != NULL ? dl_batch_get_info(batch, &info, NULL) : dl_loader_position(loader, &epoch, &step, NULL);
  if (batch != NULL) epoch = info.epoch, step = info.step;
  dl_batch_release(batch);
  if (status == DL_OK) status = dl_loader_seek(loader, epoch, step, NULL);
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

/* The end of this loop was told; loops are told in order, but for those that a thread sleeps through. */
static void tell_end(Loader* self, int64_t loop) {
  int64_t ended = self->ended;
  while (ended < loop && !atomic_compare_exchange_weak(&self->ended, &ended, loop)) {
  }
}

PyObject* loader_next_batch(Loader* self, Told told, int64_t timeout_ns, dl_status* status) {
  dl_batch* batch = NULL;
  NEW_ERROR(error);
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  const int64_t loop = self->loop; /* another may begin while this waits */
  /* A batch that is ready costs no change of the lock: with time-out 0 nothing waits and no reader is called. */
  *status = self->in_caller ? DL_TIMEOUT : dl_loader_next(loader, 0, &batch, &error);
  if (*status == DL_INTERRUPTED) *status = DL_TIMEOUT; /* a look is no wait, and who waits is told below */
  reader_in_caller(self->in_caller);
  bool ended = *status == DL_TIMEOUT && (timeout_ns != 0 || self->in_caller) &&
               !wait_for_batch(self, loader, told, timeout_ns, &batch, status, &error);
  reader_in_caller(false);
  if (!ended && self->in_caller && undo_interrupted(loader, batch)) ended = true;
  bool closed = self->handle.closed;
  if (!ended && (*status == DL_END_OF_EPOCH || *status == DL_END)) tell_end(self, loop);
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
