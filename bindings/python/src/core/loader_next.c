/* Taking batches of a loader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

static const int64_t kSliceNs = 50 * 1000 * 1000; /* the longest wait between two looks for signals */

static dl_status take(dl_loader* loader, dl_epoch* loop, int64_t timeout_ns, dl_batch** batch,
                      dl_error* error) {
  return loop != NULL ? dl_epoch_next(loop, timeout_ns, batch, error)
                      : dl_loader_next(loader, timeout_ns, batch, error);
}

/* The thread that runs signal handlers waits in slices, because the library does not notice signals; other threads wait in one
 * call. An interrupt between two slices ends the next one, unless another thread waits at that moment: then it ends only the
 * other thread's wait. An exception of a reader in this thread is kept for the next call if there is a batch all the same, of
 * another thread's work. False: an exception is set. */
static bool wait_for_batch(dl_loader* loader, dl_epoch* loop, int64_t timeout_ns, dl_batch** batch,
                           dl_status* status, dl_error* error) {
  const bool looks = thread_may_handle_signals();
  for (int64_t left = timeout_ns;;) {
    int64_t slice = looks && (left < 0 || left > kSliceNs) ? kSliceNs : left;
    Py_BEGIN_ALLOW_THREADS* status = take(loader, loop, slice, batch, error);
    Py_END_ALLOW_THREADS if (*status != DL_OK && caller_raises()) return false;
    if (left >= 0) left -= slice;
    if (*status != DL_TIMEOUT || left == 0) return true;
    if (PyErr_CheckSignals() != 0) return false;
  }
}

/* For a failed sample of a Python reader: sets the exception that the reader raised as the cause of the current exception.
 * The package knows which; without an answer the exception does not change. */
static void add_cause(Loader* self) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject* done = PyObject_CallMethod((PyObject*)self, "_explain", "O", value);
  if (done == NULL) PyErr_Clear();
  Py_XDECREF(done);
  PyErr_Restore(type, value, traceback);
}

PyObject* loader_next_batch(Loader* self, dl_epoch* loop, int64_t timeout_ns, dl_status* status) {
  dl_batch* batch = NULL;
  NEW_ERROR(error);
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  bool returned = false;
  if (caller_raises()) {
    /* kept by the call before this one */
  } else if (!self->in_caller) {
    /* A batch that is ready costs no change of the lock: with time-out 0 nothing waits and no reader is called. */
    *status = take(loader, loop, 0, &batch, &error);
    returned = *status != DL_TIMEOUT || timeout_ns == 0 ||
               wait_for_batch(loader, loop, timeout_ns, &batch, status, &error);
  } else {
    caller_enter();
    returned = wait_for_batch(loader, loop, timeout_ns, &batch, status, &error);
    caller_leave();
  }
  const bool closed = self->handle.closed;
  loader_leave(self);
  mailbox_empty();
  if (!returned) return NULL;
  if (*status == DL_OK) return batch_own(batch);
  if (*status == DL_END_OF_EPOCH || *status == DL_END) return NULL;
  if (closed) return raise_local(DL_ERR_WRONG_STATE, "the loader was closed");
  check(*status, &error);
  if (*status < 0) add_cause(self);
  return NULL;
}
