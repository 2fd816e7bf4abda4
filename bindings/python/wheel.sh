#!/usr/bin/env bash
# Makes the wheel of this checkout and installs it into the environment of the tools, which setup.sh made: check.sh tests it, and
# launchers, pages and jobs across languages use it. DATALINE_LIB_DIR and DATALINE_PYTHON_VENV as there.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$here/../.." && pwd)/build/python
python=${DATALINE_PYTHON_VENV:-$build/venv}/bin/python
export PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1
rm -rf "$build/wheel"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --config-settings=build-dir="$build/cmake" --wheel-dir "$build/wheel" "$here"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$build"/wheel/dataline-*.whl
