#!/usr/bin/env bash
# Prints a Python whose pyarrow has Arrow C++: the one that is named, that of bindings/python, or one of its own in build/parquet/venv,
# which it makes. What it cannot get it names, and ends with 77.
# usage: setup.sh [PYTHON]
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/build/parquet/venv
for python in "${1:-}" "${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python" "$venv/bin/python"; do
  if [[ -x $python ]] && "$here/arrow.sh" "$python" >/dev/null 2>&1; then
    echo "$python"
    exit 0
  fi
done
if { rm -rf "$venv" && python3 -m venv "$venv" && timeout 600 "$venv/bin/pip" install -q --disable-pip-version-check pyarrow==17.0.0; } >&2 &&
  "$here/arrow.sh" "$venv/bin/python" >/dev/null; then
  echo "$venv/bin/python"
  exit 0
fi
echo "skipped: pip could not install pyarrow, whose wheel has Arrow C++; is a package registry reachable?" >&2
exit 77
