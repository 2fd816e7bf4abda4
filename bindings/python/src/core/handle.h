/* Objects of the library that several threads use and any of them may close: those of Dataset, Opening, Loader and Writer.
 *
 * A call keeps the object by counting itself in `calls`. If another thread, or the end of the interpreter, closes the
 * object, the last call that leaves destroys it. One lock guards all handles. Nothing under it waits or calls Python.
 * A fork takes it too, so that the child finds them in a consistent state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_HANDLE_H
#define DATALINE_PYTHON_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char* closed;            /* the error of a call when there is no object */
  const char* taken;             /* the error of handle_put when there is already one */
  void (*destroy)(void* object); /* may wait; called without the interpreter's lock */
  void (*cancel)(void* object);  /* at a close: ends calls in progress, never waits; NULL: they continue */
} HandleKind;

typedef struct {
  void* object;       /* NULL: not made yet, or destroyed */
  int64_t calls;      /* in progress, in all threads */
  atomic_bool closed; /* the last call to leave destroys it */
} Handle;

bool handles_begin(void); /* once, before there is one; false: an exception is set */

/* Takes the object, whatever it returns. False: an exception is set. */
bool handle_put(Handle* self, const HandleKind* kind, void* object);
/* The object, and handle_leave has to follow; NULL: an exception is set. */
void* handle_enter(Handle* self, const HandleKind* kind);
bool handle_leave(Handle* self, const HandleKind* kind); /* whether this call has destroyed it */
bool handle_close(Handle* self, const HandleKind* kind); /* the same; twice is fine */
bool handle_is_open(Handle* self);
/* A call that never waits, also after close; nothing when there is no object. */
void handle_tell(Handle* self, void (*what)(void* object));

/* ---- For what changes together with a handle ---- */

void handles_lock(void);
void handles_unlock(void);
bool handle_fill(Handle* self, void* object); /* under the lock; false: there was one, or it is closed */
/* Closes it, under the lock, and returns the object that the caller has to destroy after that. */
void* handle_shut(Handle* self, const HandleKind* kind);
void handle_destroy(const HandleKind* kind, void* object); /* NULL is fine */
/* What was not filled in: destroys it, sets the exception, and is false. */
bool handle_refuse(const HandleKind* kind, void* object);

#endif
