/* What the files about batches share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_BATCH_H
#define DATALINE_PYTHON_BATCH_H

#include "core.h"

/* batch_parts.c. These functions create objects. Meanwhile other Python code may run and release the Batch. The caller
 * therefore holds its own reference to the batch. */

/* The field of that name; -1 without an exception when there is none, -2 with one. */
int32_t batch_find(dl_batch* batch, PyObject* name);
PyObject* batch_no_such_field(dl_batch* batch, PyObject* name); /* NULL, always */
PyObject* batch_names(dl_batch* batch);
/* A tuple of the results of `of` for each field. */
PyObject* batch_each(dl_batch* batch, PyObject* (*of)(dl_batch*, int32_t));
PyObject* batch_pairs(dl_batch* batch); /* a list of (name, array) */
PyObject* batch_about(dl_batch* batch); /* a BatchInfo */
PyObject* batch_text(dl_batch* batch);

PyObject* arrow_export(dl_batch* batch); /* arrow.c: the capsules of a schema and an array */

#endif
