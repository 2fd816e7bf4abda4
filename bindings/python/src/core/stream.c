/* CUDA's streams: whose order a batch is to be seen in.
 *
 * Calls that reach the driver are made without the interpreter's lock. A full stream makes them wait for the device, and the
 * device may be in a callback of the program that needs the lock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

/* What the calls of dataline.h take: NULL is the legacy default stream. */
static void* handle_of(uintptr_t stream) { return stream <= STREAM_LEGACY ? NULL : (void*)stream; }

/* The attribute of that name, called without arguments where `called`; NULL without an exception when there is none. */
static PyObject* attribute(PyObject* object, const char* name, bool called) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (value == NULL) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return NULL;
  }
  if (!called) return value;
  PyObject* result = PyObject_CallObject(value, NULL);
  Py_DECREF(value);
  return result;
}

/* The number of a stream: it is one, or an object of a library that has streams. A new reference. */
static PyObject* number_of(PyObject* stream) {
  PyObject* number = attribute(stream, "__cuda_stream__", true); /* (version, handle): cuda.core's protocol */
  if (number != NULL) {
    PyObject* handle = PySequence_GetItem(number, 1);
    Py_DECREF(number);
    return handle;
  }
  if (!PyErr_Occurred()) number = attribute(stream, "cuda_stream", false);           /* PyTorch */
  if (number == NULL && !PyErr_Occurred()) number = attribute(stream, "ptr", false); /* CuPy */
  if (number != NULL || PyErr_Occurred()) return number;
  if (PyBool_Check(stream) || !PyLong_Check(stream))
    return PyErr_Format(PyExc_TypeError,
                        "stream: expected None, a handle, or an object with __cuda_stream__, cuda_stream or "
                        "ptr, got %R",
                        (PyObject*)Py_TYPE(stream));
  Py_INCREF(stream);
  return stream;
}

bool stream_of(PyObject* stream, uintptr_t* out) {
  *out = STREAM_LEGACY;
  if (stream == NULL || stream == Py_None) return true;
  PyObject* number = number_of(stream);
  if (number == NULL) return false;
  void* handle = PyLong_AsVoidPtr(number);
  bool negative = PyObject_RichCompareBool(number, Py_False, Py_LT) == 1;
  Py_DECREF(number);
  if (PyErr_Occurred()) return false;
  if (negative) {
    PyErr_SetString(PyExc_ValueError, "stream: expected a handle, got a negative number");
    return false;
  }
  *out = handle == NULL ? STREAM_LEGACY : (uintptr_t)handle;
  return true;
}

bool stream_waits(dl_batch* batch, uintptr_t stream) {
  NEW_ERROR(error);
  dl_status status;
  Py_BEGIN_ALLOW_THREADS status = dl_batch_wait(batch, handle_of(stream), &error);
  Py_END_ALLOW_THREADS return check(status, &error);
}

bool stream_waits_dlpack(dl_batch* batch, PyObject* stream) {
  uintptr_t handle = STREAM_LEGACY;
  if (stream != Py_None) {
    if (PyBool_Check(stream) || !PyLong_Check(stream)) {
      PyErr_Format(PyExc_TypeError, "stream: expected an int or None, got %R", (PyObject*)Py_TYPE(stream));
      return false;
    }
    long long number = PyLong_AsLongLong(stream);
    if (number == -1 && !PyErr_Occurred()) return true; /* the consumer sees to it */
    if (number == 0 || (number < 0 && !PyErr_Occurred())) {
      PyErr_Format(
          PyExc_BufferError,
          "stream: expected None or 1 (legacy default), 2 (per-thread default), a handle, or -1, got %R",
          stream);
      return false;
    }
    if (PyErr_Occurred()) return false;
    handle = (uintptr_t)number;
  }
  return stream_waits(batch, handle);
}

bool batch_release_after(dl_batch* batch, uintptr_t stream) {
  NEW_ERROR(error);
  dl_status status;
  Py_BEGIN_ALLOW_THREADS status = dl_batch_release_on(batch, handle_of(stream), &error);
  Py_END_ALLOW_THREADS return check(status, &error);
}

void batch_give_up(dl_batch* batch, bool on_device) {
  if (batch == NULL) return;
  if (!on_device) {
    dl_batch_release(batch);
    return;
  }
  Py_BEGIN_ALLOW_THREADS dl_batch_release(batch);
  Py_END_ALLOW_THREADS
}
