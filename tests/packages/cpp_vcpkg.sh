# shellcheck shell=bash disable=SC2154
# try_cpp_vcpkg ARTIFACTS: the port of packages/vcpkg.sh in a bare system. vcpkg itself is no package of Debian's or PyPI's: a CMake
# script has the functions that the port calls (vcpkg_run.cmake). Then a host's CMakeLists.txt finds the package, and runs.
# Sourced by tests/packages/cpp.sh.
# SPDX-License-Identifier: Apache-2.0

try_cpp_vcpkg() {
  local artifacts=$1 at=$scratch/cpp_vcpkg/srv/try
  compgen -G "$artifacts/dataline-*-vcpkg.tar.gz" >/dev/null || fail "there is no dataline-VERSION-vcpkg.tar.gz in $artifacts (bindings/cpp/packages/vcpkg.sh makes it)"
  system cpp_vcpkg --without-tree
  mkdir -p "$at"
  tar -C "$at" -xzf "$(find "$artifacts" -name 'dataline-*-vcpkg.tar.gz' | head -n 1)"
  cp "$root/tests/packages/vcpkg_run.cmake" "$at/"
  cpp_host "$at"
  cat >"$at/first.sh" <<'SH'
set -e
apt-get install -y -qq --no-install-recommends g++ cmake ninja-build libdeflate-dev libhwy-dev libjpeg62-turbo-dev libspng-dev libwebp-dev libzstd-dev liblz4-dev >/dev/null
version=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' dataline/vcpkg.json)
cmake -DCURRENT_PORT_DIR="$PWD/dataline" -DINTO="$PWD" -DVERSION="$version" '-DFEATURES=deflate;jpeg;lz4;png;webp;zstd' -P vcpkg_run.cmake >port.log 2>&1 ||
  { tail -n 40 port.log; exit 1; }
cmake -G Ninja -B build -DCMAKE_PREFIX_PATH="$PWD/packages" -DBUILD_SHARED_LIBS=OFF >/dev/null # static triplets get the shared library too
cmake --build build >/dev/null
build/first
test -s packages/share/dataline/copyright -a -s packages/share/dataline/usage -a -s packages/include/dataline.h
if ls packages/lib/*.a packages/lib/cmake 2>/dev/null; then echo 'this does not belong into the package'; exit 1; fi
SH
  first_batch "C++ by vcpkg's port, built from source" chroot_in cpp_vcpkg /srv/try bash first.sh
  [[ $(grep -c '128 rows, 512 numbers' "$scratch/first_batch.log") -eq 7 ]] || fail "vcpkg's port: the ten lines did not print 7 batches"
}
