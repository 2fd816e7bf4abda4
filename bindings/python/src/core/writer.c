/* Writers of sets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stdlib.h>

static void destroy(void* writer) { dl_writer_destroy(writer); }

static const HandleKind kWriter = {"the writer is closed", "the writer already exists or is closed", destroy,
                                   NULL};

static void writer_free(Writer* self) {
  handle_close(&self->handle, &kWriter);
  object_free((PyObject*)self);
}

static PyObject* writer_close(Writer* self, PyObject* none) {
  (void)none;
  handle_close(&self->handle, &kWriter);
  Py_RETURN_NONE;
}

dl_writer* writer_enter(Writer* self) { return handle_enter(&self->handle, &kWriter); }
void writer_leave(Writer* self) { handle_leave(&self->handle, &kWriter); }

/* _create(uri, fields, job): a tuple of fields as those of a reader. */
static PyObject* writer_create(Writer* self, PyObject* arguments) {
  const char *uri, *job;
  PyObject* fields;
  if (!PyArg_ParseTuple(arguments, "sO!s:_create", &uri, &PyTuple_Type, &fields, &job)) return NULL;
  const Py_ssize_t count = PyTuple_Size(fields);
  dl_view* views = calloc((size_t)count + 1, sizeof *views);
  int64_t(*shapes)[DL_MAX_RANK] = calloc((size_t)count + 1, sizeof *shapes);
  bool made = false;
  if (views == NULL || shapes == NULL) {
    PyErr_NoMemory();
  } else {
    Py_ssize_t at = 0;
    while (at < count && field_of_tuple(PyTuple_GetItem(fields, at), &views[at], shapes[at])) at++;
    if (at == count) {
      dl_writer* writer = NULL;
      dl_status status;
      NEW_ERROR(error);
      Py_BEGIN_ALLOW_THREADS status = dl_writer_create(uri, views, (int32_t)count, job, &writer, &error);
      Py_END_ALLOW_THREADS made = check(status, &error) && handle_put(&self->handle, &kWriter, writer);
    }
  }
  free(views);
  free(shapes);
  if (!made) return NULL;
  Py_RETURN_NONE;
}

/* _append(arrays, position): a tuple of arrays as those of _from_arrays; their loans keep the memory meanwhile. */
static PyObject* writer_append(Writer* self, PyObject* arguments) {
  PyObject* fields;
  const char* position;
  if (!PyArg_ParseTuple(arguments, "O!s:_append", &PyTuple_Type, &fields, &position)) return NULL;
  dl_writer* writer = writer_enter(self);
  if (writer == NULL) return NULL;
  const Py_ssize_t count = PyTuple_Size(fields);
  dl_array* arrays = calloc((size_t)count + 1, sizeof *arrays);
  bool done = false;
  if (arrays == NULL) {
    PyErr_NoMemory();
  } else {
    Py_ssize_t at = 0;
    while (at < count && array_of_tuple(PyTuple_GetItem(fields, at), &arrays[at])) at++;
    if (at == count) {
      dl_status status;
      NEW_ERROR(error);
      Py_BEGIN_ALLOW_THREADS status = dl_writer_append(writer, arrays, (int32_t)count, position, &error);
      Py_END_ALLOW_THREADS done = check(status, &error);
    }
  }
  free(arrays);
  writer_leave(self);
  if (!done) return NULL;
  Py_RETURN_NONE;
}

static PyObject* writer_is_closed(Writer* self, void* none) {
  (void)none;
  return PyBool_FromLong(!handle_is_open(&self->handle));
}

static PyMethodDef writer_methods[] = {
    WRITER_CALLS,
    {"_create", (PyCFunction)writer_create, METH_VARARGS, "_create($self, uri, fields, job, /)\n--\n\n"},
    {"_append", (PyCFunction)writer_append, METH_VARARGS, "_append($self, arrays, position, /)\n--\n\n"},
    {"close", (PyCFunction)writer_close, METH_NOARGS,
     "close($self, /)\n--\n\nEnds the writing. Without ``finish`` the finished shards stay in PATH.partial, "
     "for the next writer of the same job. Any thread. Does nothing if called again."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef writer_properties[] = {
    {"closed", (getter)writer_is_closed, NULL, "After ``close``.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot writer_slots[] = {{Py_tp_doc, "A handle on a set that is being written."},
                                     {Py_tp_dealloc, writer_free},
                                     {Py_tp_methods, writer_methods},
                                     {Py_tp_getset, writer_properties},
                                     {0, NULL}};
PyType_Spec writer_spec = {"dataline._core.Writer", sizeof(Writer), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, writer_slots};
