#!/usr/bin/env bash
# Builds the release preset, runs the rows with every other loader that can be had, prints one table and keeps the raw
# samples in bench/results. bench/README.md says how to read it.
# SPDX-License-Identifier: Apache-2.0
#
#   bench/run.sh [--rows a,b] [--rounds N] [--seconds S] [--no-peers]   about 40 minutes for everything
#   bench/run.sh --smoke         a minute, small data, no peers: does each row run, are its results sane
#   bench/run.sh --smoke --peers small data, and every loader that is installed already: does each take part, are its
#                                samples the file's
#   bench/run.sh --micro         the parts (Google Benchmark)
#   bench/run.sh --tuning [--data DIR] [--epochs N] [--device cuda]     PyTorch's knobs on a training run, and Dataline
#                                beside them; on a GPU with the python3 that has a PyTorch for it
set -euo pipefail
cd "$(dirname "$0")/.."

smoke=false micro=false tuning=false peers=true device=cpu
rest=()
while [ $# -gt 0 ]; do
  case $1 in
    --smoke) smoke=true peers=false ;;
    --micro) micro=true peers=false ;;
    --tuning) tuning=true ;;
    --no-peers) peers=false ; rest+=("$1") ;;
    --peers) peers=true ;;
    -h | --help) sed -n '2,13p' "$0"; exit 0 ;;
    --device) device=${2:?$1 wants a value} ; rest+=("$1" "$2"); shift ;;
    --rows | --rounds | --seconds | --out | --data | --epochs | --only) rest+=("$1" "${2:?$1 wants a value}"); shift ;;
    *) echo "run.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

need() { # need PROGRAM-OR-FILE PACKAGE...
  local what=$1
  shift
  { command -v "$what" || [ -e "$what" ]; } >/dev/null 2>&1 && return 0
  echo "run.sh: installing $*" >&2
  apt-get install -y --no-install-recommends "$@" >/dev/null ||
    { apt-get update >/dev/null && apt-get install -y --no-install-recommends "$@" >/dev/null; }
}
need cmake cmake
need ninja ninja-build
need g++ g++
need python3 python3
# Not wanted for the smoke run: without them a row or a variant is left out, and says so.
if ! $smoke; then
  need /usr/include/liburing.h liburing-dev || echo "run.sh: no liburing: cold reads are compared with pread threads" >&2
  need /usr/include/benchmark/benchmark.h libbenchmark-dev || echo "run.sh: no Google Benchmark: --micro has nothing" >&2
fi

# The folder is shared with tests and examples, which leave things out of it that are not installed: what the benches
# need is asked for by name, and nothing else is built or changed.
build() {
  mkdir -p build
  cmake --preset release -DDATALINE_BENCH=ON -DDATALINE_CLI=ON >build/bench-build.log 2>&1 &&
    cmake --build --preset release --target "$@" >>build/bench-build.log 2>&1 ||
    { tail -n 40 build/bench-build.log >&2; echo "run.sh: the build failed (build/bench-build.log)" >&2; exit 1; }
}

# Each variant of the training run, on a few digits, with whichever PyTorch is here.
tuning_smoke() {
  local python
  for python in python3 /usr/bin/python3 build/peers/torch/bin/python; do
    if "$python" -c 'import torch' 2>/dev/null; then
      "$python" bench/tuning/tuning.py --smoke 2>build/bench-tuning.log && return 0
      tail -n 20 build/bench-tuning.log >&2
      return 1
    fi
  done
  echo "tuning: left out, for there is no PyTorch"
}

# The accelerator path on the fake driver, which is among the tests.
gpu_smoke() {
  if ! cmake --build --preset release --target help | grep fake_cuda >/dev/null; then
    echo "gpu: left out, for the tests are not built, and the fake driver is one of them"
    return
  fi
  build fake_cuda dataline_gpu
  DATALINE_BUILD=build/release bench/gpu.sh --smoke
}

if $micro; then
  build bench_micro
  for program in build/release/bench/*_bench; do
    [ -x "$program" ] || { echo "run.sh: no part was built: Google Benchmark is not installed" >&2; exit 1; }
    "$program" --benchmark_min_time=0.2
  done
  exit 0
fi
build bench_rows dataline_cli
if $smoke; then
  python3 bench/self_test.py || exit 1
  tuning_smoke || exit 1
  gpu_smoke || exit 1
  $peers || rest+=(--no-peers)
  exec python3 bench/rounds.py --small --rounds 2 --seconds 0.05 "${rest[@]}"
fi
if $tuning && [ "$device" != cpu ]; then
  exec python3 bench/tuning/tuning.py "${rest[@]}"
fi
if $tuning; then
  bench/peers/setup.sh torch
  exec build/peers/torch/bin/python bench/tuning/tuning.py "${rest[@]}"
fi
if $peers; then
  bench/peers/setup.sh || echo "run.sh: some loaders are missing from the table, see above" >&2
fi
exec python3 bench/rounds.py "${rest[@]}"
