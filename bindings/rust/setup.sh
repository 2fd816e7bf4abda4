#!/usr/bin/env bash
# Installs what the Rust crates and their tests need and is missing (Debian, Ubuntu): cargo with its format and lint tools, a
# C compiler for the layout test, and what the library is built with where the build script builds it. A cargo that is there, of
# any origin, is left alone. 77: it could not be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
"$(dirname "${BASH_SOURCE[0]}")/../../core/setup.sh" || echo "the library cannot be built here; an installed one will do"

packages=()
command -v cargo >/dev/null && command -v rustc >/dev/null || packages+=(cargo rustc rust-clippy rustfmt)
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v pkg-config >/dev/null || packages+=(pkg-config)
[[ ${#packages[@]} -gt 0 ]] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "skipped: no apt-get to install ${packages[*]}; minimum Rust: 1.63"
  exit 77
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "skipped: only root may install ${packages[*]}"; exit 77; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
install() { "${as_root[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}"; }
install >/dev/null 2>&1 || { "${as_root[@]}" apt-get update -q >/dev/null 2>&1 && install; } || {
  echo "skipped: apt-get cannot install ${packages[*]}"
  exit 77
}
echo "rust: installed ${packages[*]}"
