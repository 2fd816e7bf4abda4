#!/bin/sh
# Where pyarrow's wheel has Arrow C++, for CMake: version;include folder;library folder;libparquet;libarrow. Fails where there is none.
# usage: arrow.sh [PYTHON]
# SPDX-License-Identifier: Apache-2.0
exec "${1:-python3}" - <<'PROGRAM'
import glob
import os
import sys

try:
    import pyarrow
except ImportError:
    sys.exit(1)
folder = pyarrow.get_library_dirs()[0]
found = [sorted(glob.glob(f"{folder}/lib{name}.so.*")) for name in ("parquet", "arrow")]
if not all(found) or not os.path.exists(f"{pyarrow.get_include()}/parquet/arrow/reader.h"):
    sys.exit(1)
print(";".join([pyarrow.__version__, pyarrow.get_include(), folder, found[0][-1], found[1][-1]]))
PROGRAM
