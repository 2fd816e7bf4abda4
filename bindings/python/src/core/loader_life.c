/* The life of a loader's handle.
 *
 * A call keeps the handle alive by counting itself in `calls`, so that close from another thread, or the end of the
 * interpreter, cancels and leaves the destroying to the last call that leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include <pthread.h>

/* Guards `first`, and of each loader `handle`, `calls`, `closed`, `before` and `after`. Nothing under it waits or calls
 * Python. A fork takes it too, so that the child finds the list whole. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static Loader* first = NULL; /* all that have a handle */

static void lock(void) { pthread_mutex_lock(&gate); }
static void unlock(void) { pthread_mutex_unlock(&gate); }

bool loaders_begin(void) {
  if (pthread_atfork(lock, unlock, unlock) == 0) return true;
  PyErr_NoMemory();
  return false;
}

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

/* Of a closed loader that nobody is in: the handle, which is the caller's to destroy. Under the lock. */
static dl_loader* taken_out(Loader* self) {
  dl_loader* handle = self->closed && self->calls == 0 ? self->handle : NULL;
  if (handle != NULL) {
    self->handle = NULL;
    unlink_loader(self);
  }
  return handle;
}

static void destroy(dl_loader* handle) {
  if (handle == NULL) return;
  Py_BEGIN_ALLOW_THREADS dl_loader_destroy(handle);
  Py_END_ALLOW_THREADS mailbox_empty();
}

/* Under the lock: what the caller has to destroy. */
static dl_loader* close_locked(Loader* self) {
  self->closed = true;
  dl_loader* handle = taken_out(self);
  if (handle == NULL && self->handle != NULL) dl_loader_cancel(self->handle);
  return handle;
}

void loader_close(Loader* self) {
  lock();
  dl_loader* handle = close_locked(self);
  unlock();
  destroy(handle);
}

bool loader_begin(Loader* self, dl_loader* made, bool in_caller, PyThread_type_lock loop_lock) {
  lock();
  bool fresh = self->handle == NULL && !self->closed;
  if (fresh) {
    self->handle = made;
    self->in_caller = in_caller;
    self->loop_lock = loop_lock;
    link_loader(self);
  }
  unlock();
  if (fresh) return true;
  PyThread_free_lock(loop_lock);
  destroy(made);
  raise_local(DL_ERR_WRONG_STATE, "the loader was made already");
  return false;
}

bool loader_enter(Loader* self) {
  lock();
  bool open = self->handle != NULL && !self->closed;
  if (open) self->calls++;
  unlock();
  if (!open) raise_local(DL_ERR_WRONG_STATE, "the loader is closed");
  return open;
}

void loader_leave(Loader* self) {
  lock();
  self->calls--;
  dl_loader* handle = taken_out(self);
  unlock();
  destroy(handle);
}

bool loader_is_open(Loader* self) {
  lock();
  bool open = self->handle != NULL && !self->closed;
  unlock();
  return open;
}

void loader_tell(Loader* self, void (*what)(dl_loader*)) {
  lock();
  if (self->handle != NULL) what(self->handle);
  unlock();
}

void loaders_close_all(void) {
  for (;;) {
    lock();
    Loader* self = first;
    dl_loader* handle = self == NULL ? NULL : close_locked(self);
    if (self != NULL)
      unlink_loader(self); /* may be in it: a daemon thread, which will end with the process */
    unlock();
    if (self == NULL) return;
    destroy(handle);
  }
}

/* Whoever held a loop's lock is not in this process, unless it is the thread that forked. */
void loaders_after_fork(void) {
  for (Loader* self = first; self != NULL; self = self->after) {
    if (self->loop_thread == PyThread_get_thread_ident()) continue;
    PyThread_type_lock fresh = PyThread_allocate_lock();
    if (fresh != NULL) self->loop_lock = fresh; /* the old one may be held for ever, and is left behind */
    self->loop_thread = 0;
  }
}
