#!/usr/bin/env bash
# What the accelerator path reaches on this machine's GPU, beside bare copies in the same run (dataline_gpu), and the training
# run of the tuning guides on it, where python3 has a PyTorch with CUDA. Samples are kept in bench/results with the card, the
# driver and the commit. Ends with 77 and one line where there is no GPU.
# SPDX-License-Identifier: Apache-2.0
#
#   bench/gpu.sh [--rounds N] [--seconds S] [--out FILE] [--no-training] [--data DIR] [--small]    DIR: of the MNIST files
#                                --small: little data, a check that each row runs and is reported. A report of the fake driver
#                                says that it is one
#   bench/gpu.sh --smoke         on the fake driver: does each row run, and does it misuse the driver. No figures: rates mean
#                                nothing there
# DATALINE_BUILD: a build folder that has dataline_gpu (otherwise the release preset is built here)
set -euo pipefail
cd "$(dirname "$0")/.."

smoke=false training=true rest=() mnist=() out=()
while [ $# -gt 0 ]; do
  case $1 in
    --smoke) smoke=true ;;
    --no-training) training=false ;;
    --small) rest+=("$1") ;;
    --rounds | --seconds) rest+=("$1" "${2:?$1 wants a value}"); shift ;;
    --out) out=("$1" "${2:?$1 wants a value}"); shift ;;
    --data) mnist=(--data "${2:?$1 wants a value}"); shift ;;
    -h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "gpu.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

folder=${DATALINE_BUILD:-}
if [ -z "$folder" ]; then
  folder=build/release targets=(dataline_gpu dataline_shared)
  if $smoke; then targets+=(fake_cuda); fi
  mkdir -p build
  { cmake --preset release -DDATALINE_BENCH=ON -DDATALINE_TESTS=ON -DDATALINE_WITH_HIGHWAY=AUTO && cmake --build --preset release --target "${targets[@]}"; } \
    >build/gpu-build.log 2>&1 ||
    { tail -n 40 build/gpu-build.log >&2; echo "gpu.sh: the build failed (build/gpu-build.log)" >&2; exit 1; }
fi

if $smoke; then
  exec python3 bench/gpu.py "$folder/bench/dataline_gpu" --smoke --rounds 1 --seconds 0.01 \
    --cuda-library "$folder/lib/libfake_cuda.so"
fi

python3 bench/gpu.py "$folder/bench/dataline_gpu" "${out[@]}" "${rest[@]}"
if $training; then
  if python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    python3 bench/tuning/tuning.py --device cuda --short --library "$folder/lib/libdataline.so" "${out[@]}" "${mnist[@]}"
  else
    echo "the training run: left out, for python3 has no PyTorch that finds a GPU"
  fi
fi
