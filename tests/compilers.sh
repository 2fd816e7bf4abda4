#!/usr/bin/env bash
# The library, the shell and hosts of it, built by each compiler that Debian has, in C++20 and in C++23, warnings being errors.
#   tests/compilers.sh [NAME...]      by default all of them
#     debian12: gcc-12 clang-14 clang-15 clang-16    debian13: gcc-13 gcc-14 clang-17 clang-18 clang-19
#     musl: static programs with musl and libc++ instead of glibc and libstdc++, by Zig from PyPI (tests/support/musl.sh)
# A host is a C and a C++ program, compiled by the same compiler with the warnings that a strict project asks for, without exceptions
# and RTTI; linked with the shared and with the static library, and with link-time optimisation. The optional libraries are
# Debian's. Minutes for each compiler: a part of `tests/run.sh --long`, its table is kept in results/.
# Ends with 77 and one line where no system can be made (tests/support/bare_system.sh).
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154  # what bare_system.sh wants and gives
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bookworm=(gcc-12 clang-14 clang-15 clang-16) trixie=(gcc-13 gcc-14 clang-17 clang-18 clang-19)
words=("$@")
[[ $# -gt 0 ]] || set -- "${bookworm[@]}" "${trixie[@]}" musl
names=("$@")
for name in "${names[@]}"; do
  [[ " ${bookworm[*]} ${trixie[*]} musl " == *" $name "* ]] || { sed -n '3,5s/^# //p' "$0" >&2; exit 2; }
done
# One suite at a time: bare_system.sh makes the systems of one.
if [[ -z ${DATALINE_COMPILERS_SUITE:-} ]]; then
  status=0
  for suite in bookworm trixie musl; do
    chosen=()
    declare -n known=$suite
    musl=(musl)
    for name in "${names[@]}"; do if [[ " ${known[*]} " == *" $name "* ]]; then chosen+=("$name"); fi; done
    [[ ${#chosen[@]} -gt 0 ]] || continue
    if [[ $suite == musl ]]; then "$root/tests/support/musl.sh" || status=$?; continue; fi
    DATALINE_COMPILERS_SUITE=$suite "$0" "${chosen[@]}" || status=$?
  done
  exit $status
fi
suite=$DATALINE_COMPILERS_SUITE me=compilers cache=''
# shellcheck source=tests/support/bare_system.sh
. "$root/tests/support/bare_system.sh"
system here
inside here root apt-get install -y -qq --no-install-recommends cmake ninja-build pkg-config libhwy-dev libjpeg62-turbo-dev libspng-dev libwebp-dev \
  libdeflate-dev libzstd-dev liblz4-dev >"$scratch/install.log" 2>&1 || { tail -n 5 "$scratch/install.log"; fail "CMake and the optional libraries cannot be installed"; }

mkdir -p "$scratch/here/host"
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/docs/pages/quickstart/c.md" >"$scratch/here/host/host.c"
awk '$0 == "```cpp" { on = 1; next } /^```$/ { if (on) exit } on' "$root/bindings/cpp/README.md" >"$scratch/here/host/host.cpp"
head -c 160 /dev/zero >"$scratch/here/host/a.raw"
cat >"$scratch/here/host/try.sh" <<'SCRIPT'
set -euo pipefail
name=$1 standard=$2
version=${name#*-}
case $name in
  gcc-*) cc=gcc-$version cxx=g++-$version packages="g++-$version" ;;
  clang-*) cc=clang-$version cxx=clang++-$version packages="clang-$version lld-$version libstdc++-12-dev" ;;
esac
# clang 17 cannot compile the <tuple> of libstdc++ 14 as C++23 ("no matching function for call to 'get'"), which it would take.
flags=''
if [ "$name" = clang-17 ]; then packages+=" libstdc++-13-dev" flags=--gcc-install-dir=/usr/lib/gcc/x86_64-linux-gnu/13 cxx+=" $flags"; fi
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $packages >/host/install.log 2>&1 || { tail -n 5 /host/install.log; exit 1; }
build=/host/build prefix=/host/prefix
rm -rf $build $prefix
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=$cc -DCMAKE_CXX_COMPILER="${cxx%% *}" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_CXX_STANDARD="$standard" \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DDATALINE_TESTS=OFF -DDATALINE_BENCH=OFF -DCMAKE_INSTALL_LIBDIR=lib >/host/log 2>&1 || { tail -n 20 /host/log; exit 1; }
cmake --build $build >/host/log 2>&1 || { grep -A8 -E 'error|FAILED' /host/log | head -n 60; exit 1; }
cmake --install $build --prefix $prefix >/host/log
[ "$($prefix/bin/dataline cat 'raw:/host/a.raw?dtype=u8&shape=16' | wc -c)" -eq 160 ]

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O2"
shared=$(pkg-config --cflags --libs dataline) static=$(pkg-config --static --cflags --libs dataline)
check() { # check WHAT COMMAND...
  local what=$1
  shift
  "$@" >/host/printed && grep -Eq '^data: 10 samples at|^104 rows, 416 numbers' /host/printed || { echo "$what: it printed"; cat /host/printed; exit 1; }
}
export LD_LIBRARY_PATH=$prefix/lib
lto=-flto
case $name in clang-*) lto="-flto -fuse-ld=lld" ;; esac
# shellcheck disable=SC2086
for link in shared static; do
  $cc -std=c99 $warnings /host/host.c ${!link} -o /host/program
  check "C, $link" /host/program 'raw:/host/a.raw?dtype=u8&shape=16'
  for level in 17 20; do
    $cxx -std=c++$level $warnings -fno-exceptions -fno-rtti /host/host.cpp ${!link} -o /host/program
    check "C++$level without exceptions, $link" /host/program
  done
  $cxx -std=c++20 $warnings $lto /host/host.cpp ${!link} -o /host/program
  check "with $lto, $link" /host/program
done
rm -rf $build $prefix
SCRIPT

table=''
for name in "${names[@]}"; do
  for standard in 20 23; do
    started=$SECONDS
    logged "$name-$standard" inside here root bash /host/try.sh "$name" "$standard" || fail "$name, C++$standard: failed"
    line=$(printf '%-10s C++%s  %4d s' "$name" "$standard" $((SECONDS - started)))
    echo "compilers: $line"
    table+=$line$'\n'
  done
done
echo "compilers: $suite: all passed in $((SECONDS - began)) s on $(nproc) cores"
