/* Threads of the library that call Python, and the end of the interpreter.
 *
 * A thread that needs the interpreter first counts itself in `asking` and then checks whether it is open. The end first
 * closes it and then waits until no thread is counted. So one of the two sees the other. Without the wait, a thread would
 * attach to an interpreter that is shutting down, which crashes if no GIL stops the thread.
 * At exit the interpreter terminates threads that wait for the GIL. Unwinding through the library would end the process by
 * abort, so such a thread sleeps forever instead (thread_is_ended).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_bool is_open = true;
static atomic_ulong main_thread = 0; /* 0: not known yet */
static atomic_int asking = 0;
static atomic_int inside = 0;        /* calls into Python in progress, of all threads */
static _Thread_local int inside_own; /* those of this thread */
static PyThread_type_lock left; /* taken; released by a thread that leaves after the interpreter was closed */
static atomic_bool left_told;   /* it was released, and nobody has looked since */

static int note_main_thread(void* unused) {
  (void)unused;
  atomic_store(&main_thread, PyThread_get_thread_ident());
  return 0;
}

/* Python runs pending calls in its main thread alone. */
void interpreter_begin(void) {
  if (left == NULL && (left = PyThread_allocate_lock()) != NULL) PyThread_acquire_lock(left, WAIT_LOCK);
  (void)Py_AddPendingCall(note_main_thread, NULL);
}

/* Either this sees that the interpreter is closed and wakes the thread that closes it, or that thread sees the new count. */
static void leave(atomic_int* count) {
  atomic_fetch_sub(count, 1);
  if (!atomic_load(&is_open) && left != NULL && !atomic_exchange(&left_told, true))
    PyThread_release_lock(left);
}

bool thread_may_handle_signals(void) {
  const unsigned long known = atomic_load(&main_thread);
  return known == 0 || known == PyThread_get_thread_ident();
}

bool interpreter_open(void) { return atomic_load(&is_open); }

bool interpreter_hold(void) {
  atomic_fetch_add(&asking, 1);
  if (atomic_load(&is_open)) return true;
  leave(&asking);
  return false;
}

void interpreter_let_go(void) { leave(&asking); }

bool interpreter_enter(PyGILState_STATE* state) {
  if (!interpreter_hold()) return false;
  *state = PyGILState_Ensure();
  atomic_fetch_add(&inside, 1);
  inside_own++;
  interpreter_let_go();
  return true;
}

void interpreter_leave(PyGILState_STATE state) {
  PyGILState_Release(state);
  inside_own--;
  leave(&inside);
}

int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Threads that ask are waited for without a limit: the GIL is free, so they leave soon. A callback may take longer: it is waited
 * for until `deadline_ns`, and the interpreter stops the thread when it next needs it. */
void interpreter_close(int64_t deadline_ns) {
  atomic_store(&is_open, false);
  Py_BEGIN_ALLOW_THREADS for (;;) {
    atomic_store(&left_told, false);
    const int64_t us = (deadline_ns - monotonic_ns()) / 1000;
    const bool asks = atomic_load(&asking) > 0;
    if (left == NULL || (!asks && (us <= 0 || atomic_load(&inside) <= inside_own))) break;
    PyThread_acquire_lock_timed(left, asks ? -1 : us, 0);
  }
  Py_END_ALLOW_THREADS
}

void interpreter_after_fork(void) {
  atomic_store(&asking, 0); /* the others are not in this process */
  atomic_store(&inside, inside_own);
  note_main_thread(NULL); /* the thread that forked */
}

void thread_is_ended(void* unused) {
  (void)unused;
  for (;;) pause();
}
