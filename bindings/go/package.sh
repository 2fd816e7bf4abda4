#!/usr/bin/env bash
# Makes the Go module as a module proxy serves it: OUT_DIR/goproxy, a folder for GOPROXY=file://... The version is the
# library's; what is packed is what git tracks, as it lies here, and the licence.
#   bindings/go/package.sh OUT_DIR
# By git, not by golang.org/x/mod/zip: `go` checks the same rules when it takes the module in, and nothing has to be fetched.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[[ $# -eq 1 ]] || { echo "usage: bindings/go/package.sh OUT_DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
tree() { git -C "$root" -c safe.directory='*' -c user.name=none -c user.email=none@localhost "$@"; }
if ! command -v git >/dev/null || ! tree rev-parse HEAD >/dev/null 2>&1; then echo "skipped: the module is packed by git, from a checkout"; exit 77; fi

module=$(sed -n 's/^module //p' "$here/go.mod")
version=v$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "package: CMakeLists.txt names no version"; exit 1; }
packed=$(tree stash create) # a commit of what is changed and not committed; nothing else is touched
packed=${packed:-HEAD}

versions=$out/goproxy/$module/@v
mkdir -p "$versions"
# Folders with a go.mod are modules of their own. --add-file comes before what it is beside, and takes the prefix.
(cd "$root" && tree archive --format=zip --prefix="$module@$version/" --add-file=LICENSE --output="$versions/$version.zip" \
  "$packed:bindings/go" -- . ':!gomlx' ':!arrow')
tree show "$packed:bindings/go/go.mod" >"$versions/$version.mod"
printf '{"Version":"%s","Time":"%s"}\n' "$version" "$(TZ=UTC tree log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd "$packed")" \
  >"$versions/$version.info"
printf '%s\n' "$version" >"$versions/list"
echo "package: goproxy/$module@$version, $(($(stat -c %s "$versions/$version.zip") / 1024)) KiB"
