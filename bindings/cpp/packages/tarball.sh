#!/usr/bin/env bash
# The portable archive: dataline-VERSION-linux-ARCH.tar.gz with the library, the program, headers, CMake package and dataline.pc,
# which works wherever it is unpacked. Everything but the C library (of Debian 11 or later) and libgcc_s is inside.
#   [DATALINE_ARCH=aarch64] bindings/cpp/packages/tarball.sh OUT [CMAKE_ARGUMENT...]
# ARCH is x86_64, or aarch64 by a cross compiler (portable/machine.sh), without kernels for GPUs. Builds in build/portable or
# build/portable-aarch64, on Debian 12 (x86-64), whose gcc and sources of libraries it takes (portable/libraries.sh); what is missing
# is installed. Ends with 77 where that is not to be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
[[ $# -ge 1 ]] || { echo "usage: tarball.sh OUT [CMAKE_ARGUMENT...]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
newest_glibc=2.28 # what a program may ask for; manylinux_2_28 is that of RHEL 8
lacks() { echo "skipped: $*"; exit 77; }
fail() { echo "tarball.sh: $*" >&2; exit 1; }

# ---- What it takes.

# shellcheck source=bindings/cpp/packages/portable/machine.sh
. "$here/portable/machine.sh"
# shellcheck source=/dev/null
codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
[[ $codename == bookworm && $(uname -m) == x86_64 ]] || lacks "the portable archive is made on Debian 12 (x86-64) only"
as_root=()
[[ $(id -u) -eq 0 ]] || as_root=(sudo -n)
needed=("${machine_packages[@]}" cmake ninja-build make nasm dpkg-dev mmdebstrap debian-archive-keyring ca-certificates git python3)
missing=()
for package in "${needed[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "installing what the portable archive takes: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq </dev/null >/dev/null 2>&1 || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null 2>&1 ||
    lacks "please install ${missing[*]}"
fi

build=$root/build/portable$suffix
mkdir -p "$build"
libraries=$build/libraries
"$here/portable/libraries.sh" "$libraries" || exit $?

# ---- The build.

sysroot=$libraries/sysroot
lib=$libraries/lib
launcher=() kernels=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# With kernels for GPUs where a compiler for them is, and for this machine; else the library says what is missing.
if [[ -n $cross ]]; then
  kernels=(-DDATALINE_WITH_CUDA=OFF)
elif nvcc=$("$root/core/device/kernels/toolkit.sh" --no-install 2>/dev/null); then
  kernels=(-DDATALINE_NVCC="$nvcc")
fi
# Plug-ins are no part of it; one whose libraries are installed here would be compiled against them.
features=(-DDATALINE_AUDIO=OFF -DDATALINE_PARQUET=OFF)
feature() { features+=("-DDATALINE_WITH_$1=ON" "-DDATALINE_$1_INCLUDE=$libraries/include" ${2:+"-DDATALINE_$1_LIBRARY=$2"}); }
feature HIGHWAY
feature MIMALLOC "$lib/libmimalloc.a"
feature LIBDEFLATE "$lib/libdeflate.a"
feature LIBZSTD "$lib/libzstd.a"
feature LIBLZ4 "$lib/liblz4.a"
feature LIBJPEG "$lib/libjpeg.a"
feature JPEG_HUFFMAN
feature LIBSPNG "$lib/libspng.a;$lib/libz.a"
feature LIBWEBP "$lib/libwebpdecoder.a"
inside="$lib/libmimalloc.a;$lib/libdeflate.a;$lib/libzstd.a;$lib/liblz4.a;$lib/libjpeg.a;$lib/libspng.a;$lib/libz.a;$lib/libwebpdecoder.a"
inside+=";$("${cross}gcc" -print-file-name=libstdc++.a);$lib/libold_glibc.a"
# Atomics call libgcc's functions on aarch64, which the libgcc of gcc 9 and older does not have.
[[ $arch != aarch64 ]] || inside+=";$("${cross}gcc" -print-libgcc-file-name)"
# No path of this machine goes into what is given to others.
flags="-ffile-prefix-map=$root=dataline -ffile-prefix-map=$libraries=libraries"
for_sysroot "$sysroot" "$lib"
toolchain "$build/toolchain.cmake"
prefix=$build/prefix
cmake -S "$root" -B "$build/tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
  "${cmake_machine[@]}" -DCMAKE_C_COMPILER="${cross}gcc" -DCMAKE_CXX_COMPILER="${cross}g++" \
  -DCMAKE_C_FLAGS="$c_flags $flags" -DCMAKE_CXX_FLAGS="$cxx_flags $flags" \
  -DCMAKE_EXE_LINKER_FLAGS="$link_flags" -DCMAKE_SHARED_LINKER_FLAGS="$link_flags" -DDATALINE_MIMALLOC_ARCHIVE="$lib/libmimalloc.a" \
  -DDATALINE_IN_ARCHIVE="$inside" -DDATALINE_TESTS=OFF -DDATALINE_EXAMPLES=OFF -DDATALINE_BENCH=OFF -DDATALINE_CLI=ON \
  "${features[@]}" "${launcher[@]}" "${kernels[@]}" "$@" >"$build/log" || { cat "$build/log"; exit 1; }
cmake --build "$build/tree" ${J:+-j"$J"}
rm -rf "$prefix"
cmake --install "$build/tree" --strip >"$build/log" || { cat "$build/log"; exit 1; }
version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
date=$(git -C "$root" -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0) # the same tree makes the same archive
doc=$prefix/share/doc/dataline
mkdir -p "$doc"
cp "$root/LICENSE" "$root/CHANGELOG.md" "$root/bindings/cpp/README.md" "$doc/"
python3 "$here/portable/describe.py" "$libraries" "$prefix" "$version" "$arch" "$date"

# ---- The checks: that what is inside is inside, and nothing of this machine.

for file in "$prefix/lib/libdataline.so" "$prefix/bin/dataline"; do
  others=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libdataline\.so\.[0-9]+|'"${dynamic_linker//./\\.}"'|lib(c|m|dl|pthread|gcc_s)\.so\.[0-9]+)$' || true)
  [[ -z $others ]] || fail "$file needs $others"
  glibc=$("${cross}objdump" -T "$file" | grep -o 'GLIBC_[0-9.]*' | cut -c 7- | sort -V | tail -n 1)
  [[ $(printf '%s\n' "$glibc" "$newest_glibc" | sort -V | tail -n 1) == "$newest_glibc" ]] || fail "$file needs glibc $glibc, newer than $newest_glibc"
done
python3 "$root/tests/law/check_symbols.py" "$root/capi/dataline.h" "$root/capi/abi/symbols.txt" "$prefix/lib/libdataline.so" "$prefix/lib/libdataline.a" ||
  fail "the libraries show other names than capi/abi/symbols.txt (above)"
if grep -rlF "$root" "$prefix"; then fail "paths of this machine are in the files above"; fi
"${run[@]}" "$prefix/bin/dataline" version >"$build/version"
for name in highway mimalloc libdeflate libzstd liblz4 libjpeg jpeg_huffman libspng libwebp; do
  grep -qw "$name" "$build/version" || fail "the library is without $name"
done

# ---- The archive.

name=dataline-$version-linux-$arch
rm -rf "${build:?}/$name"
mv "$prefix" "$build/$name"
tar -C "$build" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$date" --format=gnu -c "$name" | gzip -9n >"$out/$name.tar.gz"
mv "$build/$name" "$prefix"
echo "$out/$name.tar.gz ($(($(stat -c %s "$out/$name.tar.gz") / 1024)) KiB, glibc $newest_glibc and later)"
