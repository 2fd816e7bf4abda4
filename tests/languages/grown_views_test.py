"""A later library may have a longer dl_view: every language steps through its arrays by struct_size.

  grown_views_test.py LIBRARY_FOLDER NAME=COMMAND...

The later library is a wrapper around the one in LIBRARY_FOLDER (grown_library.py): the arrays of views that it returns
have elements of 40 bytes more, filled with noise. A program that indexes them with the size it was built with reads
noise. Each command reads the second field of a set of two, once with the library and once with the wrapper. They are
chain programs, found as in new_option_test.py; the one called `shell` is the program dataline.

SPDX-License-Identifier: Apache-2.0
"""

import os
import struct
import subprocess
import sys

import grown_library

WRAPPER = r"""
#include <dataline.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
enum { kMore = 40 };
/* Never freed: the arrays live as long as their owner, and that is long enough for a test. */
static const dl_view* grown(const dl_view* from, int32_t count) {
  char* all = from == NULL ? NULL : malloc((size_t)count * (sizeof(dl_view) + kMore));
  for (int32_t i = 0; all != NULL && i < count; ++i) {
    char* to = all + (size_t)i * (sizeof(dl_view) + kMore);
    memcpy(to, dl_view_at(from, i), sizeof(dl_view));
    memset(to + sizeof(dl_view), 0xA5, kMore);
    ((dl_view*)to)->struct_size = sizeof(dl_view) + kMore;
  }
  return (const dl_view*)all;
}
#define WRAP(name, type)                                                                            \
  const dl_view* name(const type* of, int32_t* count) {                                             \
    const dl_view* (*real)(const type*, int32_t*) = (const dl_view* (*)(const type*, int32_t*))dlsym( \
        dlopen("INSIDE", RTLD_LAZY | RTLD_NOLOAD), #name);                                          \
    int32_t here = 0;                                                                               \
    const dl_view* views = real(of, &here);                                                         \
    if (count != NULL) *count = here;                                                               \
    return grown(views, here);                                                                      \
  }
WRAP(dl_dataset_fields, dl_dataset)
WRAP(dl_loader_fields, dl_loader)
WRAP(dl_batch_views, dl_batch)
"""


def read(language, command, folder, environment):
    uri = f"tokens:{folder / 'tokens.bin'}?length=8"
    words = [*command, uri, "-", "-", "1", "y", "batch_size=3"]
    if language == "shell":
        words = [*command, "cat", uri, "--field", "y", "--batch_size", "3"]
    return subprocess.run(words, capture_output=True, env={**os.environ, **environment}, check=False)


def check(language, command, folder, wrapper):
    """What is wrong, or nothing."""
    (folder / "tokens.bin").write_bytes(struct.pack("<100H", *range(100)))
    plain = read(language, command, folder, {})
    if plain.returncode or not plain.stdout:
        return f"cannot read the set: {plain.stderr.decode(errors='replace')}"
    grown = read(language, command, folder, grown_library.found_by(wrapper))
    if grown.returncode or grown.stdout != plain.stdout:
        return f"reads something else with longer views ({grown.returncode}): {grown.stderr.decode(errors='replace')}"
    return ""


if __name__ == "__main__":
    sys.exit(grown_library.run(WRAPPER, check, "reads the same through longer views"))
