#!/usr/bin/env bash
# Makes the crates as they are published: dataline-sys with the library's sources in it, dataline, dataline-burn.
#   bindings/rust/package.sh OUT_DIR
# A crate cannot hold what lies above its root, so the sources are laid beside it in a copy: dataline-sys/vendor, with Highway's
# headers, for the library is 3 to 7 times slower without them and they are not compiled. Highway's are those of libhwy-dev, or of
# the folder DATALINE_HIGHWAY_INCLUDE. Nothing is compiled here: tests/packages.sh does that with what comes out.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[[ $# -eq 1 ]] || { echo "usage: bindings/rust/package.sh OUT_DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
limit=$((10 * 1024 * 1024)) # crates.io's, for one crate

lacks() { echo "skipped: $*"; exit 77; }
command -v cargo >/dev/null || lacks "there is no cargo (bindings/rust/setup.sh installs it)"
minor=$(cargo --version | sed 's/^cargo 1\.\([0-9]*\).*/\1/')
[[ $minor -ge 90 ]] || lacks "crates that need each other are packed by cargo 1.90 and later, and this is 1.$minor"
highway=${DATALINE_HIGHWAY_INCLUDE:-/usr/include}
[[ -f $highway/hwy/highway.h ]] || lacks "there is no Highway to pack (Debian, Ubuntu: apt-get install libhwy-dev)"

staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
# copy FOLDER PATH...: the tracked files below these paths, with their folders.
copy() {
  local to=$1
  shift
  mkdir -p "$to"
  git -C "$root" -c safe.directory='*' ls-files -z -- "$@" | tar -C "$root" --null -T - -c | tar -C "$to" -x
}
copy "$staged" bindings/rust LICENSE
cd "$staged/bindings/rust"
vendor=dataline-sys/vendor
copy "$vendor" CMakeLists.txt LICENSE core capi bindings/cpp \
  ':!*.md' ':!*/setup.sh' ':!capi/abi' ':!capi/api' ':!capi/api.json'
mkdir -p "$vendor/highway"
(cd "$highway" && find hwy -name '*.h' ! -path 'hwy/tests/*' ! -path 'hwy/contrib/*' -print0 | tar --null -T - -c) | tar -C "$vendor/highway" -x
for licence in "$highway/../share/doc/libhwy-dev/copyright" "$highway"/LICENSE*; do
  if [[ -f $licence ]]; then cp -L "$licence" "$vendor/highway/"; fi
done
[[ -n $(find "$vendor/highway" -maxdepth 1 -type f) ]] || lacks "Highway's licence is not beside it in $highway"
for crate in dataline-sys dataline dataline-burn; do
  cp "$staged/LICENSE" "$crate/"
  sed -i 's|^include = \["/\?Cargo.toml",|& "/LICENSE",|' "$crate/Cargo.toml"
done
# One workspace of all: what needs another is resolved with the one that is packed beside it.
sed -i 's/^members = .*/members = ["dataline-sys", "dataline", "dataline-burn"]/' Cargo.toml
sed -i '/^workspace = /d' dataline-burn/Cargo.toml
rm -f Cargo.lock

CARGO_TARGET_DIR=$staged/target cargo package --quiet --workspace --no-verify --exclude-lockfile --allow-dirty
for crate in "$staged"/target/package/*.crate; do
  bytes=$(stat -c %s "$crate")
  [[ $bytes -le $limit ]] || { echo "package: ${crate##*/} has $bytes bytes, more than crates.io takes ($limit)"; exit 1; }
  install -m 644 "$crate" "$out/"
  echo "package: ${crate##*/}, $((bytes / 1024)) KiB"
done
