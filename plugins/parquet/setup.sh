#!/bin/sh
# Where pyarrow's wheel has Arrow C++: include folder;library folder;libparquet;libarrow, for CMake. Fails where there is none.
# usage: setup.sh [PYTHON]
# SPDX-License-Identifier: Apache-2.0
exec "${1:-python3}" - <<'PROGRAM'
import glob
import sys

try:
    import pyarrow
except ImportError:
    sys.exit(1)
folder = pyarrow.get_library_dirs()[0]
found = [sorted(glob.glob(f"{folder}/lib{name}.so.*")) for name in ("parquet", "arrow")]
if not all(found):
    sys.exit(1)
print(";".join([pyarrow.get_include(), folder, found[0][-1], found[1][-1]]))
PROGRAM
