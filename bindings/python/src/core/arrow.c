/* Arrow's PyCapsule interface: batches as capsules, and datasets of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "arrow.h"

#include "batch.h"

#include <stdlib.h>

/* A capsule frees what nobody took; a consumer that took it has set its release to NULL. */
static void schema_free(PyObject* capsule) {
  struct ArrowSchema* schema = PyCapsule_GetPointer(capsule, ARROW_SCHEMA);
  if (schema->release != NULL) schema->release(schema);
  free(schema);
}

static void array_free(PyObject* capsule) {
  struct ArrowArray* array = PyCapsule_GetPointer(capsule, ARROW_ARRAY);
  if (array->release != NULL) array->release(array);
  free(array);
}

/* The capsule of a zeroed struct: what frees it then needs no other care. */
static PyObject* capsule_of(size_t bytes, const char* name, PyCapsule_Destructor free_it, void** place) {
  *place = calloc(1, bytes);
  if (*place == NULL) return PyErr_NoMemory();
  PyObject* capsule = PyCapsule_New(*place, name, free_it);
  if (capsule == NULL) free(*place);
  return capsule;
}

PyObject* arrow_export(dl_batch* batch) {
  void *schema, *array;
  PyObject* schemas = capsule_of(sizeof(struct ArrowSchema), ARROW_SCHEMA, schema_free, &schema);
  if (schemas == NULL) return NULL;
  PyObject* arrays = capsule_of(sizeof(struct ArrowArray), ARROW_ARRAY, array_free, &array);
  PyObject* both = NULL;
  if (arrays != NULL) {
    NEW_ERROR(error);
    if (check(dl_batch_arrow(batch, schema, array, &error), &error)) both = PyTuple_Pack(2, schemas, arrays);
  }
  Py_DECREF(schemas);
  Py_XDECREF(arrays);
  return both;
}

/* _from_arrow(capsules, keys or None, options): of a stream, or of a schema and an array. What they hold is taken. */
PyObject* dataset_from_arrow(Dataset* self, PyObject* arguments) {
  PyObject* capsules;
  const char* keys;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "O!zO!:_from_arrow", &PyTuple_Type, &capsules, &keys, options_type,
                        &options))
    return NULL;
  const bool streams = PyTuple_Size(capsules) == 1;
  if (!streams && PyTuple_Size(capsules) != 2) {
    PyErr_SetString(PyExc_TypeError, "expected a stream, or a schema and an array");
    return NULL;
  }
  void* first = PyCapsule_GetPointer(PyTuple_GetItem(capsules, 0), streams ? ARROW_STREAM : ARROW_SCHEMA);
  void* array =
      first == NULL || streams ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(capsules, 1), ARROW_ARRAY);
  if (first == NULL || (!streams && array == NULL)) return NULL;
  dl_dataset* made = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status =
      streams ? dl_dataset_from_arrow(first, keys, options->handle, &made, &error)
              : dl_dataset_from_arrow_array(first, array, keys, options->handle, &made, &error);
  Py_END_ALLOW_THREADS return dataset_opened(self, made, status, &error);
}
