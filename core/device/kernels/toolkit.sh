#!/usr/bin/env bash
# Prints the path of a CUDA compiler: the one that is installed (PATH, CUDA_PATH, /usr/local/cuda), else the compiler's
# wheels from PyPI, put into ~/.cache/dataline/cuda once (400 MB; no driver, no GPU and no root needed). Beside that compiler lie
# those of CUDA 12 by which the kernels are compiled for every driver from 12.0 on (compile.py).
# Status 77 when there is none and none can be had; the reason goes to stderr.
#   core/device/kernels/toolkit.sh [--no-install]
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

# 13.0 is the newest whose PTX the drivers of series 580 take, and the first with compilers as wheels.
version=13.0
packages=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl)
# PTX as old as the oldest driver that is served; the assembler that is the first to know all architectures, and the packer.
kernel_packages=(nvidia-cuda-nvrtc-cu12==12.0.* nvidia-cuda-nvcc-cu12==12.8.* nvidia-nvfatbin-cu12==12.8.*)

for nvcc in "$(command -v nvcc || true)" "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
  if [ -n "$nvcc" ] && [ -x "$nvcc" ]; then
    echo "$nvcc"
    exit 0
  fi
done

folder=${XDG_CACHE_HOME:-$HOME/.cache}/dataline/cuda/$version-12.0
root=$folder/nvidia/cu13
if [ ! -f "$folder/complete" ]; then
  give_up() { echo "toolkit: skipped: $1" >&2; exit 77; }
  [ "${1:-}" != --no-install ] || give_up "no nvcc is installed"
  [ "$(uname -s)" = Linux ] || give_up "there are wheels of the CUDA compiler for Linux only"
  command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || give_up "no nvcc is installed, and no pip to get it with"
  # Beside its place first, so that what is cut off is never taken for a toolkit.
  mkdir -p "$(dirname "$folder")"
  fresh=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$fresh" "${packages[@]/%/==$version.*}" "${kernel_packages[@]}" >&2 ||
    give_up "no nvcc is installed, and pip cannot get its wheels"
  # What nvcc and CMake look for and the wheels leave out.
  ln -s lib "$fresh/nvidia/cu13/lib64"
  ln -s libcudart.so.13 "$fresh/nvidia/cu13/lib/libcudart.so"
  chmod +x "$fresh/nvidia/cuda_nvcc/bin/ptxas"
  rm -rf "$fresh/nvidia/cuda_nvcc/nvvm"
  touch "$fresh/complete"
  rm -rf "$folder"
  mv -T "$fresh" "$folder" 2>/dev/null || [ -f "$folder/complete" ] || give_up "cannot write $folder"
fi
echo "$root/bin/nvcc"
