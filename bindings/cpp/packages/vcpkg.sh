#!/usr/bin/env bash
# The vcpkg port with its sources, for who has no checkout: OUT/dataline-VERSION-vcpkg.tar.gz, one folder that --overlay-ports names.
#   bindings/cpp/packages/vcpkg.sh OUT
# Builds nothing; tests/packages/cpp_vcpkg.sh builds it. The same tree makes the same file.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
[[ $# -eq 1 ]] || { echo "usage: vcpkg.sh OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"
version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "\"version\": \"$version\"" bindings/cpp/packages/vcpkg/vcpkg.json || {
  echo "vcpkg.sh: the version in bindings/cpp/packages/vcpkg/vcpkg.json is not $version, that of CMakeLists.txt" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# packed FILE FOLDER NAME...: these out of FOLDER, without what differs from machine to machine.
packed() {
  local file=$1 folder=$2
  shift 2
  tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01T00:00:00Z --exclude=__pycache__ -c "$@" | gzip -9n >"$file"
}
mkdir -p "$scratch/dataline-$version/bindings" "$scratch/dataline"
for name in CMakeLists.txt LICENSE core capi bindings/cpp bindings/cli; do cp -r "$name" "$scratch/dataline-$version/$name"; done
cp bindings/cpp/packages/vcpkg/{portfile.cmake,vcpkg.json,usage} "$scratch/dataline/"
packed "$scratch/dataline/dataline-$version.tar.gz" "$scratch" "dataline-$version"
archive=$out/dataline-$version-vcpkg.tar.gz
packed "$archive" "$scratch" dataline
echo "$archive"
