/* From the making of a loader to its end. The end of the interpreter closes all that there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

static Loader* first = NULL; /* all that were made; it, `before` and `after` are under the lock of handles */

static void destroy(void* loader) { dl_loader_destroy(loader); }
static void cancel(void* loader) { dl_loader_cancel(loader); }
static void interrupt(void* loader) { dl_loader_interrupt(loader); }

static const HandleKind kLoader = {"the loader is closed", "the loader already exists", destroy, cancel};

static void link_loader(Loader* self) {
  self->before = NULL;
  self->after = first;
  if (first != NULL) first->before = self;
  first = self;
}

/* Nothing for one that is not linked. */
static void unlink_loader(Loader* self) {
  if (self->before != NULL) self->before->after = self->after;
  if (self->after != NULL) self->after->before = self->before;
  if (first == self) first = self->after;
  self->before = self->after = NULL;
}

bool loader_begin(Loader* self, dl_loader* made, bool in_caller) {
  handles_lock();
  bool fresh = handle_fill(&self->handle, made);
  if (fresh) {
    self->in_caller = in_caller;
    link_loader(self);
  }
  handles_unlock();
  return fresh || handle_refuse(&kLoader, made);
}

dl_loader* loader_enter(Loader* self) { return handle_enter(&self->handle, &kLoader); }

/* Once it is destroyed: nothing more is written to its trace. */
static void end_trace(Loader* self) {
  handles_lock();
  if (self->pieces != NULL) pieces_end(self->pieces);
  handles_unlock();
}

void loader_leave(Loader* self) {
  if (handle_leave(&self->handle, &kLoader)) end_trace(self);
}

PyObject* loader_cancel(Loader* self, PyObject* none) {
  (void)none;
  handle_tell(&self->handle, cancel);
  Py_RETURN_NONE;
}

PyObject* loader_interrupt(Loader* self, PyObject* none) {
  (void)none;
  handle_tell(&self->handle, interrupt);
  Py_RETURN_NONE;
}

PyObject* loader_close(Loader* self, PyObject* none) {
  (void)none;
  if (handle_close(&self->handle, &kLoader)) end_trace(self);
  Py_RETURN_NONE;
}

PyObject* loader_is_closed(Loader* self, void* none) {
  (void)none;
  return PyBool_FromLong(!handle_is_open(&self->handle));
}

/* Closes it for good, under the lock: what the caller has to destroy after that. */
static void* end_locked(Loader* self) {
  unlink_loader(self);
  return handle_shut(&self->handle, &kLoader);
}

void loader_end(Loader* self) {
  handles_lock();
  void* unused = end_locked(self);
  handles_unlock();
  handle_destroy(&kLoader, unused);
  end_trace(self);
}

void loaders_close_all(void) {
  for (;;) {
    handles_lock();
    Loader* self = first;
    void* unused = self == NULL ? NULL : end_locked(self);
    PyObject* pieces = self == NULL ? NULL : self->pieces;
    Py_XINCREF(pieces);
    handles_unlock();
    if (self == NULL) return;
    handle_destroy(&kLoader, unused); /* NULL: a daemon thread is in it, which will end with the process */
    if (pieces != NULL) pieces_end(pieces);
    Py_XDECREF(pieces);
  }
}
