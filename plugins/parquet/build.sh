#!/usr/bin/env bash
# Builds the plug-in by itself, with the Arrow C++ of pyarrow's wheel (setup.sh), and prints where it is. 77: that cannot be had.
# usage: build.sh [PYTHON]
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/parquet
python=$("$here/setup.sh" "$@") || exit $?
launcher=""
if command -v ccache >/dev/null; then launcher=ccache; fi
mkdir -p "$build"
make() {
  cmake -G Ninja -S "$here" -B "$build" -DDATALINE_PARQUET_PYTHON="$python" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wshadow -Wconversion -Werror" &&
    cmake --build "$build" -j "$(nproc 2>/dev/null || echo 2)"
}
if ! make >"$build/build.log" 2>&1; then
  tail -n 40 "$build/build.log" >&2
  exit 1
fi
echo "$build/libdataline-parquet.so"
