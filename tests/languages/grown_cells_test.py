"""A later library may have a longer dl_reader_cell and dl_reader_request: readers step through cells by cell_bytes.

  grown_cells_test.py LIBRARY_FOLDER NAME=COMMAND...

The later library is a wrapper around the one in LIBRARY_FOLDER (grown_library.py): each call of a reader gets a request of
64 bytes more and cells of 24 bytes more, filled with noise. A host that indexes cells with the size it was built with,
writes into that noise. Each command is a test program that reads records by code of its own language, and has to pass.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import sys

import grown_library

WRAPPER = r"""
#include <dataline.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kMoreCell = 24, kMoreRequest = 64, kCell = (int)sizeof(dl_reader_cell) + kMoreCell };
typedef struct { dl_reader real; } grown_reader;

static int32_t read_grown(void* context, dl_reader_request* request) {
  grown_reader* self = context;
  const size_t count = (size_t)request->record_count * (size_t)request->field_count;
  char* cells = malloc(count * kCell);
  union { dl_reader_request request; char bytes[sizeof(dl_reader_request) + kMoreRequest]; } longer;
  if (cells == NULL) return 1;
  memset(cells, 0xA5, count * kCell);
  for (size_t c = 0; c < count; ++c) memcpy(cells + c * kCell, &request->cells[c], sizeof(dl_reader_cell));
  memset(&longer, 0xA5, sizeof longer);
  longer.request = *request;
  longer.request.struct_size = sizeof longer;
  longer.request.cell_bytes = kCell;
  longer.request.cells = (dl_reader_cell*)(void*)cells;
  const int32_t code = self->real.read(self->real.context, &longer.request);
  for (size_t c = 0; c < count; ++c) memcpy(&request->cells[c], cells + c * kCell, sizeof(dl_reader_cell));
  request->release = longer.request.release;
  request->release_context = longer.request.release_context;
  free(cells);
  return code;
}
static void advise_grown(void* context, int64_t block) {
  grown_reader* self = context;
  self->real.advise(self->real.context, block);
}
static void destroy_grown(void* context) {
  grown_reader* self = context;
  if (self->real.destroy != NULL) self->real.destroy(self->real.context);
  free(self);
}
dl_status dl_dataset_from_reader(const dl_reader* reader, const dl_options* options, dl_dataset** out, dl_error* error) {
  dl_status (*real)(const dl_reader*, const dl_options*, dl_dataset**, dl_error*) =
      (dl_status(*)(const dl_reader*, const dl_options*, dl_dataset**, dl_error*))dlsym(
          dlopen("INSIDE", RTLD_LAZY | RTLD_NOLOAD), "dl_dataset_from_reader");
  if (reader == NULL || reader->read == NULL) return real(reader, options, out, error);
  grown_reader* self = malloc(sizeof *self);
  self->real = *reader;
  dl_reader ours = *reader;
  ours.context = self;
  ours.read = read_grown;
  ours.destroy = destroy_grown;
  if (reader->advise != NULL) ours.advise = advise_grown;
  const dl_status status = real(&ours, options, out, error);
  if (status != DL_OK) free(self);
  FILE* mark = fopen(getenv("GROWN_CELLS_MARK"), "a");
  if (mark != NULL) fputs("x", mark), fclose(mark);
  return status;
}
"""


def check(language, command, folder, wrapper):
    """What is wrong, or nothing."""
    mark = folder / f"mark-{language}"
    environment = {**os.environ, **grown_library.found_by(wrapper), "GROWN_CELLS_MARK": str(mark)}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    if done.returncode:
        return f"fails with longer cells ({done.returncode}): {(done.stdout + done.stderr).decode(errors='replace')[-4000:]}"
    return "" if mark.exists() else "made no dataset of a reader through the wrapper"


if __name__ == "__main__":
    sys.exit(grown_library.run(WRAPPER, check, "reads the same through longer cells"))
