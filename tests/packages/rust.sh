# shellcheck shell=bash disable=SC2154  # what packages.sh gives
# The crates: a program with the README's first code, built from the packed crates alone by Debian's cargo, without a registry;
# with the library of the portable archive, and with the library built from the sources in the crate.
# SPDX-License-Identifier: Apache-2.0

try_rust() {
  local artifacts=$1 archive crate name at=$scratch/rust
  archive=$(find "$artifacts" -maxdepth 1 -name 'dataline-*-linux-x86_64.tar.gz' | head -n 1)
  [[ -n $archive ]] || fail "rust: there is no portable archive in $artifacts (bindings/cpp/package.sh)"
  system rust --without-tree
  # A registry in a folder, as `cargo vendor` makes one.
  mkdir -p "$at/packages/crates" "$at/work/.cargo" "$at/work/src"
  for crate in "$artifacts"/dataline-*.crate; do
    name=$(basename "$crate" .crate)
    [[ $name != dataline-burn-* ]] || continue # burn is not in the folder
    tar -xzf "$crate" -C "$at/packages/crates"
    printf '{"files":{},"package":"%s"}' "$(sha256sum "$crate" | cut -d ' ' -f 1)" >"$at/packages/crates/$name/.cargo-checksum.json"
  done
  cp "$archive" "$at/packages/library.tar.gz"
  printf '%s\n' '[source.crates-io]' 'replace-with = "packed"' '[source.packed]' 'directory = "/packages/crates"' >"$at/work/.cargo/config.toml"
  # What `cargo add dataline` writes: cargo 1.65 itself takes another crate of a folder for it ("translating `dataline` to").
  # shellcheck disable=SC2016
  printf '%s\n' '[package]' 'name = "first"' 'version = "0.1.0"' 'edition = "2021"' '[dependencies]' 'dataline = "0.2"' >"$at/work/Cargo.toml"
  awk '/^```rust$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/bindings/rust/dataline/README.md" >"$at/work/src/main.rs"
  cat >"$at/work/first.sh" <<'SCRIPT'
set -euo pipefail
cd /work
apt-get install -y -qq --no-install-recommends cargo gcc libc6-dev >/dev/null
tar -xzf /packages/library.tar.gz -C /opt
library=$(echo /opt/dataline-*/lib)
DATALINE_LIB_DIR=$library cargo run --quiet --offline
SCRIPT
  cat >"$at/work/vendored.sh" <<'SCRIPT'
set -euo pipefail
cd /work
if cargo build --quiet --offline --features dataline/vendored >refused.log 2>&1; then echo "it was built without cmake"; exit 1; fi
grep 'apt-get install cmake g++ ninja-build' refused.log
apt-get install -y -qq --no-install-recommends cmake g++ ninja-build >/dev/null
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER # there is no ccache here
cargo build --offline --features dataline/vendored
(unset LD_LIBRARY_PATH && ./target/debug/first)
SCRIPT
  first_batch 'crate, portable library' inside rust root bash /work/first.sh
  grep -q '^768 values, 256 labels, the first 865$' "$scratch/first_batch.log" || fail "rust: the README's program did not print its batches"
  first_batch 'crate, library built from its sources' inside rust root bash /work/vendored.sh
  grep -q '^768 values, 256 labels, the first 865$' "$scratch/first_batch.log" || fail "rust: the program with the vendored library did not print its batches"
}
