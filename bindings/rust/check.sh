#!/usr/bin/env bash
# The gate of the Rust crates: format, lints, tests, docs' code, packages, and the example. Nothing is fetched: the
# crates have no dependencies.
#   bindings/rust/check.sh [--quick]      --quick: without packages and without the example's training
# What it uses, where it is not told:
#   DATALINE_LIB_DIR  the folder of libdataline (otherwise the build script finds or builds it)
#   DATALINE_BIN      the program `dataline` (otherwise the one of build/release, or on the PATH; without one the tests
#                     that compare with it are left out, and said so)
#   DATALINE_MNIST    the folder of the four MNIST files; without it the example is only built
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
quick=false
[[ ${1:-} != --quick ]] || quick=true

if ! command -v cargo >/dev/null; then
  echo "skipped: there is no cargo"
  exit 77
fi
export CARGO_TERM_COLOR=never CARGO_NET_OFFLINE=true
if [[ -n ${DATALINE_LIB_DIR:-} ]]; then
  # A shared library outside the system's folders is found at run time by this alone.
  export LD_LIBRARY_PATH="$DATALINE_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
if [[ -z ${DATALINE_BIN:-} ]]; then
  for program in "$root/build/release/bin/dataline" "$(command -v dataline || true)"; do
    if [[ -x $program ]]; then export DATALINE_BIN=$program; break; fi
  done
fi
others=()
if [[ -n ${DATALINE_BIN:-} ]]; then
  others=(-- --include-ignored)
else
  echo "left out: the tests against the program dataline, for there is none (DATALINE_BIN)"
fi

step() { printf '== %s\n' "$*"; }
for folder in "$here" "$root/examples/rust"; do
  cd "$folder"
  if cargo fmt --version >/dev/null 2>&1; then
    step "format: ${folder#"$root"/}"
    cargo fmt --all --check
  else
    echo "left out: format, for there is no rustfmt"
  fi
  if cargo clippy --version >/dev/null 2>&1; then
    step "lints: ${folder#"$root"/}"
    cargo clippy --quiet --workspace --all-targets -- -D warnings
  else
    echo "left out: lints, for there is no clippy"
  fi
done

cd "$here"
step "tests"
cargo test --workspace --tests "${others[@]}"
cargo test --workspace --doc
step "docs"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps

cd "$root/examples/rust"
step "example"
cargo test --quiet
if $quick || [[ -z ${DATALINE_MNIST:-} ]]; then
  cargo build --quiet --release
else
  output=$(cargo run --quiet --release -- "$DATALINE_MNIST")
  printf '%s\n' "$output"
  accuracy=$(sed -n 's/^test accuracy: \([0-9.]*\) %$/\1/p' <<<"$output")
  awk -v got="$accuracy" 'BEGIN { exit !(got >= 97) }' || { echo "expected a test accuracy of 97 % at least"; exit 1; }
fi

if ! $quick; then
  cd "$here"
  step "packages"
  cargo package --workspace --allow-dirty --no-verify --quiet
fi
echo "rust: all passed"
