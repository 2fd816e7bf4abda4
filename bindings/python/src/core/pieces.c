/* The text of a trace on its way to Python. The library writes it from its threads, which may hold locks that a thread with
 * the interpreter's lock is waiting for. So a write never waits: pieces pile up, and one Python thread takes them. They are
 * at most what a trace may be long. A fork may come at any moment, so there is no lock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
  struct piece* next;
  size_t length;
  char text[];
} piece;

typedef struct {
  PyObject_HEAD _Atomic(piece*) newest;
  atomic_bool ended;
  atomic_int refused; /* an error number: the next write fails with it */
  PyThread_type_lock
      come; /* a binary semaphore: free where something came that nobody has looked for. Not sem_t: that of glibc 2.34 is
                              another symbol, and wheels run on older ones */
  atomic_bool came; /* it is free, or the waiting thread is about to look */
} Pieces;

static void tell(Pieces* self) {
  if (!atomic_exchange(&self->came, true)) PyThread_release_lock(self->come);
}

int32_t pieces_write(void* context, const char* text, size_t length) {
  Pieces* self = context;
  if (atomic_load(&self->refused) != 0) return atomic_load(&self->refused);
  piece* made = malloc(sizeof *made + length);
  if (made == NULL) return ENOMEM;
  made->length = length;
  memcpy(made->text, text, length);
  made->next = atomic_load(&self->newest);
  while (!atomic_compare_exchange_weak(&self->newest, &made->next, made)) {
  }
  tell(self);
  return 0;
}

void pieces_end(PyObject* pieces) {
  Pieces* self = (Pieces*)pieces;
  if (!atomic_exchange(&self->ended, true)) tell(self);
}

/* The oldest first; writes come one at a time, so that is their order. */
static piece* take_all(Pieces* self) {
  piece* newest = atomic_exchange(&self->newest, NULL);
  piece* oldest = NULL;
  while (newest != NULL) {
    piece* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

static PyObject* pieces_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)keywords;
  if (!PyArg_ParseTuple(arguments, ":Pieces")) return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Pieces* self = (Pieces*)allocate(type, 0);
  if (self == NULL) return NULL;
  self->come = PyThread_allocate_lock();
  if (self->come == NULL) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  PyThread_acquire_lock(self->come, WAIT_LOCK);
  return (PyObject*)self;
}

static void pieces_free(Pieces* self) {
  for (piece* at = take_all(self); at != NULL;) {
    piece* next = at->next;
    free(at);
    at = next;
  }
  if (self->come != NULL) PyThread_free_lock(self->come);
  object_free((PyObject*)self);
}

/* `came` falls before the look that follows: who writes after that frees the lock again. */
static void wait_for_one(Pieces* self) {
  Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->come, WAIT_LOCK);
  Py_END_ALLOW_THREADS atomic_store(&self->came, false);
}

/* take(): waits; bytes, or None after the last. */
static PyObject* pieces_take(Pieces* self, PyObject* none) {
  (void)none;
  piece* oldest = NULL;
  while (oldest == NULL) {
    const bool ended = atomic_load(&self->ended); /* before the look: then nothing comes after an empty one */
    oldest = take_all(self);
    if (oldest == NULL && ended) Py_RETURN_NONE;
    if (oldest == NULL) wait_for_one(self);
  }
  size_t length = 0;
  for (const piece* at = oldest; at != NULL; at = at->next) length += at->length;
  PyObject* bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length);
  char* to = bytes == NULL ? NULL : PyBytes_AsString(bytes);
  while (oldest != NULL) {
    piece* next = oldest->next;
    if (to != NULL) {
      memcpy(to, oldest->text, oldest->length);
      to += oldest->length;
    }
    free(oldest);
    oldest = next;
  }
  return bytes;
}

static PyObject* pieces_refuse(Pieces* self, PyObject* arguments) {
  int number;
  if (!PyArg_ParseTuple(arguments, "i:refuse", &number)) return NULL;
  atomic_store(&self->refused, number);
  Py_RETURN_NONE;
}

static PyObject* pieces_end_by_hand(PyObject* self, PyObject* none) {
  (void)none;
  pieces_end(self);
  Py_RETURN_NONE;
}

/* trace_start(bytes of a path, or Pieces) */
PyObject* loader_trace_start(Loader* self, PyObject* arguments) {
  PyObject* to;
  if (!PyArg_ParseTuple(arguments, "O:_trace_start", &to)) return NULL;
  const bool is_path = PyObject_TypeCheck(to, &PyBytes_Type);
  if (!is_path && !PyObject_TypeCheck(to, pieces_type))
    return PyErr_Format(PyExc_TypeError, "expected bytes or Pieces, got %R", (PyObject*)Py_TYPE(to));
  const char* path = is_path ? PyBytes_AsString(to) : NULL;
  const dl_trace_sink sink = {.struct_size = sizeof sink, .context = to, .write = pieces_write};
  CALL(self, dl_loader_trace_start(loader, path, is_path ? NULL : &sink, &error));
  /* Pieces are kept until the next trace has begun, or the loader has ended: nobody writes to them then. */
  PyObject* kept = is_path ? NULL : to;
  Py_XINCREF(kept);
  handles_lock();
  PyObject* before = self->pieces;
  self->pieces = kept;
  handles_unlock();
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

PyObject* loader_trace_stop(Loader* self, PyObject* none) {
  (void)none;
  CALL(self, dl_loader_trace_stop(loader, &error));
  Py_RETURN_NONE;
}

static PyMethodDef pieces_methods[] = {
    {"take", (PyCFunction)pieces_take, METH_NOARGS,
     "take($self, /)\n--\n\nWaits for the next pieces; None after the end."},
    {"refuse", (PyCFunction)pieces_refuse, METH_VARARGS,
     "refuse($self, number, /)\n--\n\nEnds the trace at its next piece, with this error number."},
    {"end", (PyCFunction)pieces_end_by_hand, METH_NOARGS, "end($self, /)\n--\n\nMarks the end of the text."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot pieces_slots[] = {{Py_tp_doc, "The queue for the text of a trace."},
                                     {Py_tp_new, pieces_new},
                                     {Py_tp_dealloc, pieces_free},
                                     {Py_tp_methods, pieces_methods},
                                     {0, NULL}};
PyType_Spec pieces_spec = {"dataline._core.Pieces", sizeof(Pieces), 0, Py_TPFLAGS_DEFAULT, pieces_slots};
