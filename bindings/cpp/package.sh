#!/usr/bin/env bash
# Makes the packages of the C and C++ library and the program: the portable archive, Debian's, Conan's and vcpkg's.
#   [DATALINE_ARCH=aarch64] bindings/cpp/package.sh OUT_DIR [--only tarball|deb|conan|vcpkg]
# For aarch64 the portable archive alone: Debian's packages are made on their own machine, the others are of sources.
# Each is made by packages/KIND.sh. A kind that cannot be made here says why in one line and is left out; ends with 77 where none
# was made.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage='usage: bindings/cpp/package.sh OUT_DIR [--only tarball|deb|conan|vcpkg]'
kinds=(tarball deb conan vcpkg)
[[ ${DATALINE_ARCH:-x86_64} == x86_64 ]] || kinds=(tarball)
case $#:${2:-}:${3:-} in
  1::) ;;
  3:--only:tarball | 3:--only:deb | 3:--only:conan | 3:--only:vcpkg) kinds=("$3") ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
mkdir -p "$1"
out=$(cd "$1" && pwd)

made=0
for kind in "${kinds[@]}"; do
  echo "== $kind"
  status=0
  "$here/packages/$kind.sh" "$out" || status=$?
  case $status in
    0) made=$((made + 1)) ;;
    77) ;; # it said why
    *) echo "package.sh: packages/$kind.sh failed" >&2; exit 1 ;;
  esac
done
[[ $made -gt 0 ]] || exit 77
