/* The lifetime of library objects: see handle.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

void handles_lock(void) { pthread_mutex_lock(&gate); }
void handles_unlock(void) { pthread_mutex_unlock(&gate); }

bool handles_begin(void) {
  if (pthread_atfork(handles_lock, handles_unlock, handles_unlock) == 0) return true;
  PyErr_NoMemory();
  return false;
}

void handle_destroy(const HandleKind* kind, void* object) {
  if (object == NULL) return;
  Py_BEGIN_ALLOW_THREADS kind->destroy(object);
  Py_END_ALLOW_THREADS mailbox_empty();
}

static bool is_open(const Handle* self) { return self->object != NULL && !self->closed; }

/* Returns the object of a closed handle without calls in progress. The caller must destroy it. */
static void* taken_out(Handle* self) {
  void* object = self->closed && self->calls == 0 ? self->object : NULL;
  if (object != NULL) self->object = NULL;
  return object;
}

bool handle_fill(Handle* self, void* object) {
  bool fresh = self->object == NULL && !self->closed;
  if (fresh) self->object = object;
  return fresh;
}

void* handle_shut(Handle* self, const HandleKind* kind) {
  self->closed = true;
  void* object = taken_out(self);
  if (self->object != NULL && kind->cancel != NULL) kind->cancel(self->object);
  return object;
}

bool handle_refuse(const HandleKind* kind, void* object) {
  handle_destroy(kind, object);
  raise_local(DL_ERR_WRONG_STATE, "%s", kind->taken);
  return false;
}

bool handle_put(Handle* self, const HandleKind* kind, void* object) {
  handles_lock();
  bool fresh = handle_fill(self, object);
  handles_unlock();
  return fresh || handle_refuse(kind, object);
}

void* handle_enter(Handle* self, const HandleKind* kind) {
  handles_lock();
  void* object = is_open(self) ? self->object : NULL;
  if (object != NULL) self->calls++;
  handles_unlock();
  if (object == NULL) raise_local(DL_ERR_WRONG_STATE, "%s", kind->closed);
  return object;
}

bool handle_leave(Handle* self, const HandleKind* kind) {
  handles_lock();
  self->calls--;
  void* unused = taken_out(self);
  handles_unlock();
  handle_destroy(kind, unused);
  return unused != NULL;
}

bool handle_close(Handle* self, const HandleKind* kind) {
  handles_lock();
  void* unused = handle_shut(self, kind);
  handles_unlock();
  handle_destroy(kind, unused);
  return unused != NULL;
}

bool handle_is_open(Handle* self) {
  handles_lock();
  bool open = is_open(self);
  handles_unlock();
  return open;
}

void handle_tell(Handle* self, void (*what)(void* object)) {
  handles_lock();
  if (self->object != NULL) what(self->object);
  handles_unlock();
}
