/* Releases and log messages from threads that do not hold the GIL.
 *
 * The library calls a release from any thread, possibly while the thread with the GIL waits for a lock of the library, or
 * when the interpreter is about to exit. So nothing here waits for the GIL: the release is queued, and the main thread
 * processes the queue soon. Every call that may have released something processes it too, so that objects released on a
 * Python thread are freed immediately.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Objects to release, and log messages, which name the letter of the function to call. */
struct letter {
  struct letter* next;
  PyObject* object; /* to release; NULL in a log message */
  atomic_int
      holders; /* of `object`: who lent it, and remarks that are not read yet, perhaps by another thread */
  letter* function; /* of a remark */
  int32_t level;
  size_t length;
  char text[];
};

static _Atomic(letter*) box = NULL;

letter* letter_new(PyObject* owner) {
  letter* made = calloc(1, sizeof *made);
  if (made == NULL) return (letter*)PyErr_NoMemory();
  Py_INCREF(owner);
  made->object = owner;
  atomic_init(&made->holders, 1);
  return made;
}

void letter_discard(letter* unused) {
  Py_DECREF(unused->object);
  free(unused);
}

PyObject* letter_owner(letter* of) { return of->object; }

static void let_go(letter* held) {
  if (atomic_fetch_sub(&held->holders, 1) > 1) return;
  Py_DECREF(held->object);
  free(held);
}

static void read_remark(letter* remark) {
  static const char* const levels[] = {"progress", "info", "warning"};
  int32_t level = remark->level < 3 ? remark->level : 2;
  PyObject* text = PyUnicode_DecodeUTF8(remark->text, (Py_ssize_t)remark->length, "replace");
  PyObject* result =
      text == NULL ? NULL : PyObject_CallFunction(remark->function->object, "sN", levels[level], text);
  if (result == NULL) PyErr_WriteUnraisable(remark->function->object);
  Py_XDECREF(result);
  let_go(remark->function);
  free(remark);
}

void mailbox_empty(void) {
  if (atomic_load_explicit(&box, memory_order_relaxed) == NULL) return;
  /* Acquire: pairs with the release in post; what the letters hold was written before. */
  letter* newest = atomic_exchange_explicit(&box, NULL, memory_order_acquire);
  letter* oldest = NULL;
  while (newest != NULL) { /* remarks are read in the order they were made */
    letter* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  PyObject *type, *value, *traceback; /* a letter may be read in the middle of an error */
  PyErr_Fetch(&type, &value, &traceback);
  while (oldest != NULL) {
    letter* next = oldest->next;
    if (oldest->object == NULL)
      read_remark(oldest);
    else
      let_go(oldest);
    oldest = next;
  }
  PyErr_Restore(type, value, traceback);
}

static int look(void* unused) {
  (void)unused;
  mailbox_empty();
  return 0;
}

static void post(letter* written) {
  written->next = atomic_load_explicit(&box, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&box, &written->next, written, memory_order_release,
                                                memory_order_relaxed)) {
  }
  if (!interpreter_hold()) return;
  (void)Py_AddPendingCall(look, NULL); /* when its list is full, the next call that looks finds the letter */
  interpreter_let_go();
}

void give_back(void* context) { post(context); }

void remark(void* context, int32_t level, const char* message, size_t length) {
  letter* written = calloc(1, sizeof *written + length);
  if (written == NULL) return;
  written->function = context;
  atomic_fetch_add(&written->function->holders,
                   1); /* the library releases the letter after its last call of this */
  written->level = level < 0 ? 0 : level;
  written->length = length;
  memcpy(written->text, message, length);
  post(written);
}
