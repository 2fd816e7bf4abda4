#!/usr/bin/env bash
# The gate of the Rust crates: format, lints, tests, docs' code, the ways to find the library, and the example.
#   bindings/rust/check.sh [--quick]
# --quick is for every day: the crates without features, for which at most the registry's index is fetched. Without it also:
# packages, the library built from the checkout, the example's training, the features `ndarray`, `futures` and `candle`, the example with
# indicatif, tables of the crate `arrow` and the crate for burn (fetched; 9 CPU minutes).
# What it uses, where it is not told:
#   DATALINE_LIB_DIR  the folder of libdataline (otherwise the build script finds or builds it)
#   DATALINE_BIN      the program `dataline` (otherwise the one of build/release, or on the PATH; without one the tests
#                     that compare with it are left out, and said so)
#   DATALINE_FAKE_CUDA  the fake CUDA driver, libfake_cuda.so (otherwise the one beside the library or in build/release/lib;
#                     without one the tests of devices are left out, and said so)
#   DATALINE_MNIST    the folder of the four MNIST files; without it the example is only built
#   CARGO_TARGET_DIR  where cargo builds (otherwise a folder `target` beside each package)
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
quick=false
[[ ${1:-} != --quick ]] || quick=true

if ! command -v cargo >/dev/null; then
  echo "skipped: there is no cargo (bindings/rust/setup.sh installs it)"
  exit 77
fi
export CARGO_TERM_COLOR=never
if [[ -n ${DATALINE_LIB_DIR:-} ]]; then
  # For programs that are not started by cargo: a shared library outside the system's folders is found by this alone.
  export LD_LIBRARY_PATH="$DATALINE_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  # The layout test compares with the header of this checkout, wherever the library lies.
  export DATALINE_INCLUDE_DIR=${DATALINE_INCLUDE_DIR:-$root/capi}
fi
if [[ -z ${DATALINE_BIN:-} ]]; then
  for program in "$root/build/release/bin/dataline" "$(command -v dataline || true)"; do
    if [[ -x $program ]]; then export DATALINE_BIN=$program; break; fi
  done
fi
if [[ -z ${DATALINE_FAKE_CUDA:-} ]]; then
  for driver in "${DATALINE_LIB_DIR:-}/libfake_cuda.so" "$root/build/release/lib/libfake_cuda.so"; do
    if [[ -f $driver ]]; then export DATALINE_FAKE_CUDA=$driver; break; fi
  done
fi
[[ -n ${DATALINE_FAKE_CUDA:-} ]] || echo "left out: the tests on the fake driver, for there is none (DATALINE_FAKE_CUDA)"
[[ -f ${DATALINE_LIB_DIR:-}/libdataline-samples.so || -f $root/build/release/lib/libdataline-samples.so ]] ||
  echo "left out: the tests of plug-ins, for those of tests/extensions were not built (DATALINE_LIB_DIR)"
others=()
if [[ -n ${DATALINE_BIN:-} ]]; then
  others=(-- --include-ignored)
else
  echo "left out: the tests against the program dataline, for there is none (DATALINE_BIN)"
fi

step() { printf '== %s\n' "$*"; }
# shellcheck source-path=SCRIPTDIR
. "$here/workspace.sh"

# Lints that were on by default in Rust 1.63 and are no longer.
outdated=(-A clippy::format_push_string -A clippy::redundant_clone -A clippy::needless_collect)
# lints [ARGUMENT...]: of the package or workspace here.
lints() { cargo clippy --quiet --locked --all-targets "$@" -- -D warnings "${outdated[@]}"; }

# style FOLDER: format and lints of the package or workspace there.
style() {
  cd "$1"
  if cargo fmt --version >/dev/null 2>&1; then
    step "format: ${1#"$root"/}"
    cargo fmt --all --check
  else
    echo "left out: format, for there is no rustfmt"
  fi
  if cargo clippy --version >/dev/null 2>&1; then
    step "lints: ${1#"$root"/}"
    lints --workspace
  else
    echo "left out: lints, for there is no clippy"
  fi
}

# The library installed, and found by pkg-config: shared and static. `cargo test` finds a shared one when it starts a program, too.
by_pkg_config() {
  local prefix built kind
  built=$(dirname "${DATALINE_LIB_DIR:-$root/build/release/lib}")
  if [[ ! -f $built/cmake_install.cmake ]] || ! command -v cmake >/dev/null || ! command -v pkg-config >/dev/null; then
    echo "left out: by pkg-config, for there is no build folder to install from, no cmake or no pkg-config"
    return
  fi
  step "found by pkg-config"
  prefix=$(mktemp -d)
  cmake --install "$built" --prefix "$prefix" >/dev/null
  for kind in 0 1; do
    env -u DATALINE_LIB_DIR -u DATALINE_INCLUDE_DIR -u DATALINE_NO_PKG_CONFIG -u LD_LIBRARY_PATH DATALINE_STATIC=$kind \
      PKG_CONFIG_PATH="$prefix/lib/pkgconfig" CARGO_TARGET_DIR="$prefix/target" \
      cargo test --quiet --workspace --test batches --test layout
    grep -q "link-search=native=$prefix/lib" "$prefix"/target/debug/build/dataline-sys-*/output
  done
  rm -rf "$prefix"
}

# The library built by the build script, from this checkout.
from_the_checkout() {
  if ! command -v cmake >/dev/null; then echo "left out: from the checkout, for there is no cmake"; return; fi
  step "built from the checkout"
  local target launcher=()
  target=$(mktemp -d)
  ! command -v ccache >/dev/null || launcher=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1)
  env -u DATALINE_LIB_DIR -u DATALINE_INCLUDE_DIR -u LD_LIBRARY_PATH "${launcher[@]}" DATALINE_NO_PKG_CONFIG=1 \
    CARGO_TARGET_DIR="$target" cargo test --quiet --workspace --tests
  rm -rf "$target"
}

# Both packages, each built from what it holds; cargo does that for packages that need each other since 1.90.
packages() {
  if [[ $minor -lt 90 ]]; then echo "left out: packages, for cargo is older than 1.90"; return; fi
  step "packages"
  cargo package --workspace --locked --allow-dirty --quiet
}

# What the features add. ndarray alone too, for it takes seconds and candle minutes.
features() {
  cd "$here"
  step "features: ndarray"
  lints --package dataline --features ndarray
  cargo test --quiet --locked --package dataline --features ndarray --test ndarray
  step "features: futures"
  lints --package dataline --features futures
  cargo test --quiet --locked --package dataline --features futures --test stream
  step "features: ndarray, candle"
  lints --package dataline --features ndarray,candle
  cargo test --quiet --locked --package dataline --features ndarray,candle --test ndarray --test candle
  cargo test --quiet --locked --package dataline --features ndarray,candle,futures --doc
  RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --package dataline --all-features --no-deps
}

# The workspace of what needs the registry (peers/Cargo.toml): the crate for burn, tables of the crate `arrow`, in and back, and what compares
# with burn and candle.
with_registry() {
  if [[ $minor -lt 88 ]]; then echo "left out: arrow-tests, dataline-burn and peers, for cargo is older than 1.88"; return; fi
  export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target/registry}
  style "$here/peers"
  step "tests: arrow-tests, dataline-burn"
  cargo test --quiet --locked --package dataline-arrow-tests
  cargo test --quiet --locked --package dataline-burn
  RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --package dataline-burn
}

# The example with a progress bar of the registry's.
with_indicatif() {
  export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target/indicatif}
  style "$root/examples/rust/indicatif"
  step "tests: the example with indicatif"
  cargo test --quiet --locked
}

choose_workspace
style "$workspace"
style "$root/examples/rust"
style "$root/tests/languages/loops/rust"

cd "$workspace"
step "tests"
cargo test --locked --workspace --tests "${others[@]}"
cargo test --locked --workspace --doc
step "docs"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
by_pkg_config

cd "$root/examples/rust"
step "example"
cargo test --quiet --locked "${others[@]}"
if $quick || [[ -z ${DATALINE_MNIST:-} ]]; then
  cargo build --quiet --release
else
  output=$(cargo run --quiet --release -- "$DATALINE_MNIST")
  printf '%s\n' "$output"
  accuracy=$(sed -n 's/^test accuracy: \([0-9.]*\) %$/\1/p' <<<"$output")
  awk -v got="$accuracy" 'BEGIN { exit !(got >= 97) }' || { echo "expected a test accuracy of 97 % at least"; exit 1; }
  # Its progress line, on a pseudo-terminal.
  python3 "$root/examples/check_progress.py" samples "loss=[0-9.]+" cargo run --quiet --release -- "$DATALINE_MNIST" 1
fi

if ! $quick; then
  cd "$workspace"
  from_the_checkout
  if [[ $workspace == "$here" ]]; then
    export CARGO_NET_OFFLINE=$offline
    packages
    features
    (with_indicatif)
    with_registry
  else
    echo "left out: packages, features, the example with indicatif, arrow-tests, dataline-burn and peers, for they need the registry"
  fi
fi
echo "rust: all passed"
