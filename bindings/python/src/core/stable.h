/* Python's stable ABI as of 3.9, and the buffer protocol.
 *
 * A free-threaded Python has no stable ABI: there the module is compiled for that one version.
 *
 * Buffers are in the stable ABI only since 3.11. 3.9 and 3.10 export the same struct, the same slots and the same functions.
 * These releases are closed, so nothing in them will change. The guarantees of 3.11 are therefore declared here for all of
 * them, and one binary works with 3.9 and everything later.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_STABLE_H
#define DATALINE_PYTHON_STABLE_H

#include <pyconfig.h>
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef Py_LIMITED_API
typedef struct {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
} Py_buffer;

PyAPI_FUNC(int) PyObject_GetBuffer(PyObject* object, Py_buffer* view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer* view);

#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2
#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
#define PyBUF_F_CONTIGUOUS (0x0040 | PyBUF_STRIDES)
#define PyBUF_ANY_CONTIGUOUS (0x0080 | PyBUF_STRIDES)
#define PyBUF_RECORDS_RO (PyBUF_STRIDES | PyBUF_FORMAT)
#endif

/* Around what changes an object, where no lock of the interpreter's keeps other threads out. Between the two nothing calls
 * Python or waits, so it is not left in the middle, and nothing returns. */
#ifdef Py_GIL_DISABLED
#define BEGIN_EXCLUSIVE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define END_EXCLUSIVE() Py_END_CRITICAL_SECTION()
#else
#define BEGIN_EXCLUSIVE(object) {
#define END_EXCLUSIVE() }
#endif

#endif
