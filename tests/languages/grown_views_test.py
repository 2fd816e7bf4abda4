"""A later library may have a longer dl_view: every language steps through its arrays by struct_size.

  grown_views_test.py LIBRARY_FOLDER NAME=COMMAND...

The later library is a wrapper that is built here around the one in LIBRARY_FOLDER: the arrays of views that it returns
have elements of 40 bytes more, filled with noise. A program that indexes them with the size it was built with reads
noise. Each command reads the second field of a set of two, once with the library and once with the wrapper. They are
chain programs, found as in new_option_test.py; the one called `shell` is the program dataline.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSIDE = "libdatareal.so"  # as long as libdataline.so: the name inside the copied library is replaced in place

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


def wrap(library, folder, wrapper=WRAPPER):
    """The wrapper in `folder`, under all names it is looked for by; returns the one that programs are linked to."""
    soname = next(path.name for path in sorted(library.parent.glob("libdataline.so.*")) if path.name.count(".") == 2)
    inside = soname.replace("libdataline.so", INSIDE)
    (folder / inside).write_bytes(library.read_bytes().replace(soname.encode() + b"\0", inside.encode() + b"\0"))
    (folder / "wrapper.c").write_text(wrapper.replace("INSIDE", inside))
    (folder / "versions").write_text("DATALINE_0.2 { global: dl_*; local: *; };\nDATALINE_UNSTABLE { };\n")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-D_GNU_SOURCE", "-I", ROOT / "capi", "-o", folder / soname,
                    folder / "wrapper.c", f"-Wl,-soname,{soname}", f"-Wl,--version-script={folder / 'versions'}",
                    "-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", folder / inside, "-ldl"], check=True)
    (folder / "libdataline.so").symlink_to(soname)
    return folder / soname


def read(language, command, folder, environment):
    uri = f"tokens:{folder / 'tokens.bin'}?length=8"
    words = [*command, uri, "-", "-", "1", "y", "batch_size=3"]
    if language == "shell":
        words = [*command, "cat", uri, "--field", "y", "--batch_size", "3"]
    return subprocess.run(words, capture_output=True, env={**os.environ, **environment}, check=False)


def check(language, command, folder, wrapper):
    """What is wrong, or nothing."""
    plain = read(language, command, folder, {})
    if plain.returncode or not plain.stdout:
        return f"cannot read the set: {plain.stderr.decode(errors='replace')}"
    found_by = {"LD_LIBRARY_PATH": str(wrapper.parent), "DATALINE_LIB_DIR": str(wrapper.parent), "LD_PRELOAD": str(wrapper)}
    grown = read(language, command, folder, found_by)
    if grown.returncode or grown.stdout != plain.stdout:
        return f"reads something else with longer views ({grown.returncode}): {grown.stderr.decode(errors='replace')}"
    return ""


def main():
    if shutil.which(os.environ.get("CC", "cc")) is None:
        print("skipped: there is no C compiler")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tokens.bin").write_bytes(struct.pack("<100H", *range(100)))
        later = folder / "later"
        later.mkdir()
        wrapper = wrap(pathlib.Path(sys.argv[1]) / "libdataline.so", later)
        for argument in sys.argv[2:]:
            language, _, command = argument.partition("=")
            wrong = check(language, shlex.split(command), folder, wrapper)
            failed += bool(wrong)
            print(f"{'FAILED' if wrong else 'ok'}: {language}: {wrong or 'reads the same through longer views'}")
    print(f"{len(sys.argv) - 2 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
