#!/usr/bin/env bash
# Debian's packages for the Debian it runs on (12 is what a release is made on): libdataline2, libdataline-dev, dataline.
#   bindings/cpp/packages/deb.sh OUT [CMAKE_ARGUMENT...]
# Builds in build/deb. The build's needs are installed when they are missing (core/setup.sh). Ends with 77 where this is no Debian.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
[[ $# -ge 1 ]] || { echo "usage: deb.sh OUT [CMAKE_ARGUMENT...]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
command -v dpkg-query >/dev/null || { echo "skipped: Debian's packages can only be made on Debian or Ubuntu"; exit 77; }

"$root/core/setup.sh"
# dpkg-shlibdeps is in dpkg-dev. The libraries decide what the package can do: none may be missing.
for package in dpkg-dev git libdeflate-dev libhwy-dev liblz4-dev libmimalloc-dev libspng-dev libwebp-dev libzstd-dev; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]] || continue
  apt-get install -y -qq --no-install-recommends "$package" </dev/null >/dev/null || {
    echo "deb.sh: please install $package" >&2
    exit 1
  }
done

build=$root/build/deb
launcher=() kernels=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# With kernels for GPUs where a compiler for them is; else the library says what is missing.
if nvcc=$("$root/core/device/kernels/toolkit.sh" --no-install 2>/dev/null); then kernels=(-DDATALINE_NVCC="$nvcc"); fi
features=()
for feature in HIGHWAY MIMALLOC LIBDEFLATE LIBZSTD LIBLZ4 LIBJPEG LIBSPNG LIBWEBP; do features+=("-DDATALINE_WITH_$feature=ON"); done
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON \
  -DDATALINE_DEB=ON -DDATALINE_TESTS=OFF -DDATALINE_EXAMPLES=OFF -DDATALINE_BENCH=OFF -DDATALINE_CLI=ON "${features[@]}" \
  "${launcher[@]}" "${kernels[@]}" "$@" >"$build.log" || { cat "$build.log"; exit 1; }
cmake --build "$build"
rm -rf "$build/packages"
(cd "$build" && cpack -G DEB -B "$build/packages" >"$build.cpack.log") || { cat "$build.cpack.log"; exit 1; }
for package in "$build"/packages/*.deb; do
  cp "$package" "$out/"
  echo "$out/$(basename "$package")"
done
