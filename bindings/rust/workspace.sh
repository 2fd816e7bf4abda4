# shellcheck shell=bash
# Which workspace the gates test: this one, or a copy of it without what only features need, where cargo does not know the
# registry and cannot ask it. Sourced by check.sh and tests/languages/run.sh.
#   choose_workspace     sets `workspace`, and says so when it is a copy
# Also set: `minor` (cargo 1.N), `offline` (as cargo was told); from here on cargo asks no registry.
# SPDX-License-Identifier: Apache-2.0
rust_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rust_root=$(cd "$rust_here/../.." && pwd)
offline=${CARGO_NET_OFFLINE:-false}
minor=$(cargo --version | sed 's/^cargo 1\.\([0-9]*\).*/\1/')
workspace=$rust_here
export CARGO_NET_OFFLINE=true CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse # for 1.68 and 1.69

# Cargo wants the registry's index for all that stands in Cargo.lock, asked for or not. Whether it has what it wants:
knows_registry() { (cd "$rust_here" && timeout 60 cargo tree --quiet --locked --package dataline >/dev/null 2>&1); }
can_ask_registry() { [[ $offline != true && $minor -ge 68 ]]; } # before 1.68 it can only clone the index as a repository

choose_workspace() {
  if knows_registry || { can_ask_registry && CARGO_NET_OFFLINE=false knows_registry; }; then return; fi
  echo "tested: a copy without the features' dependencies, for cargo 1.$minor does not know the registry and cannot ask it"
  local copy=$rust_here/target/without-registry entry
  workspace=$copy/bindings/rust
  mkdir -p "$workspace"
  for entry in "$rust_root"/* "$rust_root"/bindings/*; do # for the build script, which may build the checkout
    [[ $entry == "$rust_root"/bindings || $entry == "$rust_here" ]] || ln -sfn "$entry" "$copy/${entry#"$rust_root"/}"
  done
  rm -rf "$workspace"/{dataline,dataline-sys,Cargo.lock}
  cp -rp "$rust_here"/{Cargo.toml,rustfmt.toml,dataline,dataline-sys} "$workspace"
  sed -i -e 's/"dep:[^"]*"//' -e '/optional = true/d' "$workspace/dataline/Cargo.toml"
  (cd "$workspace" && cargo generate-lockfile --quiet)
}
