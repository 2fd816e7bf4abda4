#!/usr/bin/env bash
# The gate of the Python package: format, lint, types, tests, the wheel, and the example.
#   bindings/python/check.sh [--quick]      --quick: without pip in an empty environment and without the example's training
# setup.sh is run first. What it uses, where it is not told:
#   DATALINE_LIB_DIR  the folder of libdataline (otherwise the build finds or builds it)
#   DATALINE_BIN      the program `dataline` (otherwise the one of build/release, or on the PATH; without one the tests
#                     that compare with it are left out, and said so)
#   DATALINE_CUDA_LIBRARY  the driver that the tests of device batches use: libcuda.so.1 for a real one (otherwise the fake one
#                     of tests/support, beside libdataline)
#   DATALINE_PARQUET_PLUGIN  libdataline-parquet.so (otherwise it is built here, where pyarrow's wheel can be had)
#   DATALINE_MNIST    the folder of the four MNIST files; without it the example trains on a few digits of its own only
#   DATALINE_PYTHON_VENV  the environment of the tools (otherwise build/python/venv)
# The tests run in a free-threaded Python too, where free_threaded.sh has made one; without --quick it makes one.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/python
export DATALINE_PYTHON_VENV=${DATALINE_PYTHON_VENV:-$build/venv}
quick=false
[[ ${1:-} != --quick ]] || quick=true

"$here/setup.sh" || exit $?
python=$DATALINE_PYTHON_VENV/bin/python
if [[ -z ${DATALINE_BIN:-} ]]; then
  for program in "$root/build/release/bin/dataline" "$(command -v dataline || true)"; do
    if [[ -x $program ]]; then export DATALINE_BIN=$program; break; fi
  done
fi
[[ -n ${DATALINE_BIN:-} ]] || echo "left out: the tests against the program dataline, for there is none (DATALINE_BIN)"
"$python" -c 'import torch' 2>/dev/null || echo "left out: the tests of dataline.torch and the example, for there is no PyTorch"

[[ -n ${DATALINE_CUDA_LIBRARY:-} || -e ${DATALINE_LIB_DIR:-$root/build/release/lib}/libfake_cuda.so ]] ||
  echo "left out: the tests of device batches, for libfake_cuda.so was not built (DATALINE_CUDA_LIBRARY names another driver)"
[[ -e ${DATALINE_LIB_DIR:-$root/build/release/lib}/libdataline-audio.so ]] ||
  echo "left out: the tests of audio, for libdataline-audio.so was not built (libsndfile1-dev libsoxr-dev libkissfft-dev)"

step() { printf '== %s\n' "$*"; }
export PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 RUFF_NO_CACHE=true MYPY_CACHE_DIR=$build/mypy
# One thread: the barriers of OpenMP spin, and cores are few.
export OMP_NUM_THREADS=1

cd "$here"
step "format and lint"
"$python" -m ruff format --check --quiet . "$root/examples/python"
"$python" -m ruff check --quiet . "$root/examples/python"

step "wheel"
"$here/wheel.sh"
DATALINE_WHEEL=$(echo "$build"/wheel/dataline-*.whl)
export DATALINE_WHEEL

if [[ -z ${DATALINE_PARQUET_PLUGIN:-} ]]; then
  step "plug-in for Parquet"
  made=$("$root/plugins/parquet/build.sh" "$python" 2>"$build/parquet.log") || {
    status=$?
    [[ $status -eq 77 ]] || { cat "$build/parquet.log"; exit 1; }
    echo "left out: the tests of Parquet: $(tail -n 1 "$build/parquet.log")"
  }
  [[ -z $made ]] || export DATALINE_PARQUET_PLUGIN=$made
fi

step "types"
"$python" -m mypy --no-error-summary
(cd "$root/examples/python" && "$python" -m mypy --no-error-summary --config-file "$here/pyproject.toml" .)
"$python" -m mypy.stubtest --ignore-disjoint-bases --allowlist tests/stubtest_allowlist.txt --mypy-config-file pyproject.toml \
  dataline._core >"$build/stubtest.log" || { cat "$build/stubtest.log"; exit 1; }

# In a free-threaded Python beside the others, which use one core.
free=$("$here/free_threaded.sh" $(! $quick || echo --where)) || { echo "left out: ${free#skipped: }"; free=""; }
in_free_threaded() {
  rm -rf "$build/free"
  "$free" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --config-settings=build-dir="$build/cmake-free" --wheel-dir "$build/free" "$here" &&
    "$free" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$build"/free/dataline-*.whl &&
    env -u DATALINE_WHEEL "$free" -m pytest -rs
}
beside=""
if [[ -n $free ]]; then
  in_free_threaded >"$build/free.log" 2>&1 &
  beside=$!
fi

step "tests"
selection=()
! $quick || selection=(--deselect tests/test_wheel.py::test_pip_installs_it_into_an_empty_environment)
passed=true
"$python" -m pytest -rs "${selection[@]}" || passed=false
if [[ -n $beside ]]; then
  step "tests in a free-threaded Python"
  wait "$beside" || passed=false
  cat "$build/free.log"
fi
$passed || exit 1

# The PyTorch of today, where bench/peers/setup.sh has installed it (tests/run.sh --long does).
current=$root/build/peers/torch
if ! $quick && [[ -f $current/ready ]]; then
  step "tests with the current PyTorch"
  "$current/bin/python" -m pip install --quiet --disable-pip-version-check pytest==8.4.2
  "$current/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$DATALINE_WHEEL"
  # Outside this folder's settings: warnings of libraries that PyTorch brings along are not ours.
  "$current/bin/python" -m pytest -rs -q -p no:cacheprovider -W default tests/test_torch*.py
fi

# Files of the writers that people have.
if ! $quick && [[ -n ${DATALINE_PARQUET_PLUGIN:-} || -e ${DATALINE_LIB_DIR:-$root/build/release/lib}/libdataline-parquet.so ]]; then
  step "files of other writers of Parquet"
  writers=$build/writers
  [[ -x $writers/bin/pip ]] || "$python" -m venv "$writers"
  if "$writers/bin/pip" install --quiet --disable-pip-version-check -r writers.txt >"$build/writers.log" 2>&1; then
    "$writers/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$DATALINE_WHEEL"
    "$writers/bin/python" -m pytest -rs -q -p no:cacheprovider -W default tests/test_parquet_writers.py tests/test_parquet_written.py
  else
    echo "left out: files of other writers of Parquet: $(tail -n 1 "$build/writers.log")"
  fi
fi

step "example"
"$python" -m pytest -q -rs -p no:cacheprovider "$root/examples/python"
if ! $quick && [[ -n ${DATALINE_MNIST:-} ]] && "$python" -c 'import torch' 2>/dev/null; then
  output=$("$python" "$root/examples/python/train_mnist.py" "$DATALINE_MNIST")
  printf '%s\n' "$output"
  accuracy=$(sed -n 's/^test accuracy: \([0-9.]*\) %$/\1/p' <<<"$output")
  awk -v got="$accuracy" 'BEGIN { exit !(got >= 97) }' || { echo "expected a test accuracy of 97 % at least"; exit 1; }
fi
echo "python: all passed"
