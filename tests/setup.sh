#!/usr/bin/env bash
# Installs what building and testing (with --long also what that alone tries) need and is missing (Debian, Ubuntu). Says so and goes on where it may not
# install: what is only nice to have makes its tests skip, what is needed ends with status 1.
# SPDX-License-Identifier: Apache-2.0
#
# Languages have a setup.sh of their own in bindings/; the CUDA compiler is got as wheels where none is installed.
set -euo pipefail

# 77: no CUDA compiler can be had here. The kernels are left out, and their tests skip. What gets one as wheels is installed first.
finish() {
  local nvcc
  if nvcc=$("$(dirname "$0")/../core/device/kernels/toolkit.sh"); then echo "setup: CUDA compiler: $nvcc"; else [ $? -eq 77 ]; fi
  exit
}

needed="g++ clang libclang-rt-dev cmake ninja-build pkg-config python3 binutils libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libhwy-dev"
optional="libdeflate-dev libzstd-dev liblz4-dev libjpeg62-turbo-dev libspng-dev libwebp-dev libmimalloc-dev liburing-dev libsndfile1-dev libsoxr-dev libkissfft-dev python3-numpy python3-pil python3-pip abigail-tools clang-tidy clang-format lld ccache strace libtorch-dev libopenblas0-pthread openmpi-bin"

[ "${1:-}" != --long ] || optional+=" prometheus"

missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is not Debian or Ubuntu; install by hand what these packages hold:"
  echo "setup:   $needed"
  echo "setup:   $optional"
  finish
fi

# shellcheck disable=SC2086
missing=$(missing_of $needed $optional)
if [ -z "$missing" ]; then
  echo "setup: nothing is missing"
  finish
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  # -n: never ask for a password, there may be nobody to type it.
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
  else
    echo "setup: missing: $missing"
    echo "setup: not root, and sudo would ask for a password; run: sudo apt-get install $missing"
    # shellcheck disable=SC2086
    [ -z "$(missing_of $needed)" ] || exit 1
    finish
  fi
fi

install() {
  [ $# -gt 0 ] || return 0
  echo "setup: installing $*"
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2046,SC2086
install $(missing_of $needed)
# shellcheck disable=SC2046,SC2086
install $(missing_of $optional) || echo "setup: going on without: $(missing_of $optional)"
finish
