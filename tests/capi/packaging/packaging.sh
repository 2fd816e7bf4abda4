#!/usr/bin/env bash
# Consumers outside the tree, built and run as a user would. Every folder has a space in its name.
#   packaging.sh CASE     with SOURCE, BUILD, CMAKE, CC, CXX, ... in the environment; `install` comes first
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

here=$SOURCE/tests/capi/packaging
work=$BUILD/tests/packaging
prefix="$work/moved prefix"
libdir=$prefix/lib
strict="-Wall -Wextra -pedantic -Werror -I$(printf %q "$here")"

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$*" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/dataline consumer.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LD_LIBRARY_PATH=

# run SHARED|STATIC program [argument...]: it works, and has libdataline.so only where it should.
run() {
  local kind=$1 program=$2
  shift 2
  local needed
  needed=$(readelf -d "$program" | grep -c 'NEEDED.*libdataline' || true)
  if [ "$kind" = static ]; then
    [ "$needed" -eq 0 ] || fail "$program needs libdataline.so, though linked with the static library"
    "$program" "$@"
  else
    [ "$needed" -eq 1 ] || fail "$program does not need libdataline.so"
    LD_LIBRARY_PATH=$libdir "$program" "$@"
  fi
}

pkg() { PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config "$@"; }

# host find|add C|CXX SHARED: configures, builds and runs the project of project/.
host() {
  local how=$1 language=$2 shared=$3
  shift 3
  "$CMAKE" -S "$here/project" -B "build $how" -G Ninja -DHOW="$how" -DLANGUAGE="$language" \
    -DCONSUMER="$here" -DDATALINE_SOURCE="$SOURCE" -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS="$shared" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@" >configure.log ||
    { cat configure.log; fail "configure failed"; }
  "$CMAKE" --build "build $how" --target consumer >build.log || { cat build.log; fail "build failed"; }
  if [ "$shared" = ON ]; then run shared "./build $how/consumer"; else run static "./build $how/consumer"; fi
}

# The C++ host turns its own exceptions and RTTI off.
bare_cxx="-x c++ -std=c++17 -fno-exceptions -fno-rtti"

case $1 in
  install) # then moves the tree: nothing in it may remember where it was
    rm -rf "$work" && mkdir -p "$work"
    "$CMAKE" --install "$BUILD" --prefix "$work/first" >/dev/null
    mv "$work/first" "$prefix"
    cd "$prefix"
    [ "$(ls include | tr '\n' ' ')" = "dataline dataline.h dataline.hpp dataline_torch dataline_torch.hpp " ] ||
      fail "include/ is not dataline.h, dataline.hpp and dataline_torch.hpp with their folders: $(ls include)"
    if grep -rl --include='*.cmake' --include='*.pc' "$BUILD\|$SOURCE" lib; then fail "the package names the build's paths"; fi
    test -e lib/libdataline.so -a -e lib/libdataline.a -a -e lib/pkgconfig/dataline.pc
    [ ! -e "$BUILD/bin/dataline" ] || bin/dataline version ;;
  find_package) host find C ON ;;
  find_package_static) host find C OFF ;;
  find_package_cxx) host find CXX ON -DCMAKE_CXX_FLAGS="-fno-exceptions -fno-rtti" ;;
  find_package_cxx_static) host find CXX OFF -DCMAKE_CXX_FLAGS="-fno-exceptions -fno-rtti" ;;
  find_package_torch)
    cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(dataline REQUIRED COMPONENTS torch)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE dataline::torch)
CMAKE
    cat >consumer.cpp <<'CXX'
#include <ATen/ops/arange.h>
#include <dataline_torch.hpp>
int main() {
  dataline::Loader loader(dataline::borrow_tensors({{"x", at::arange(9)}}));
  return dataline::to_tensor(loader.next().value(), "x").numel() == 9 ? 0 : 1;
}
CXX
    "$CMAKE" -S . -B torch -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$CXX" \
      -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF ${Torch_ROOT:+"-DTorch_ROOT=$Torch_ROOT"} >configure.log 2>&1 || {
      if grep -q "LibTorch was not found" configure.log; then skip "LibTorch is not installed"; fi
      cat configure.log
      fail "configure failed"
    }
    "$CMAKE" --build torch >build.log || { cat build.log; fail "build failed"; }
    run shared ./torch/consumer ;;
  add_subdirectory | add_subdirectory_strict)
    # Compiled as the build at hand, so that ccache knows the objects already, debug information and all.
    export CCACHE_NOHASHDIR=1
    flags=()
    # The strict host's own language level and flags are not ours; nothing of it is cached.
    if [ "$1" = add_subdirectory_strict ]; then flags=(-DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_FLAGS="-fno-exceptions -fno-rtti"); fi
    host add C OFF -DCMAKE_BUILD_TYPE="$BUILD_TYPE" -DCMAKE_COMPILE_WARNING_AS_ERROR="$WERROR" \
      ${LAUNCHER:+"-DCMAKE_CXX_COMPILER_LAUNCHER=$LAUNCHER"} "${flags[@]}" ;;
  pkg_config)
    eval "$CC -std=c11 $strict $(printf %q "$here/consumer.c") $(pkg --cflags dataline) -o consumer $(pkg --libs dataline)"
    run shared ./consumer ;;
  pkg_config_static) # where only libdataline.a is installed
    cp -r "$prefix" "$scratch/static only" && rm -f "$scratch/static only"/lib/libdataline.so*
    libdir="$scratch/static only/lib"
    eval "$CC -std=c11 $strict $(printf %q "$here/consumer.c") $(pkg --static --cflags dataline) -o consumer $(pkg --static --libs dataline)"
    run static ./consumer
    eval "$CXX $bare_cxx $strict $(printf %q "$here/consumer.c") -x none $(pkg --static --cflags dataline) -o consumer_cxx $(pkg --static --libs dataline)"
    run static ./consumer_cxx ;;
  plain_cc) # what a hand-written makefile does: the archive and the names that pkg-config --static prints
    needs=$(pkg --static --libs-only-l dataline | sed 's/-ldataline//') other=$(pkg --static --libs-only-other dataline)
    $CC -std=c99 -I"$prefix/include" -I"$here" -c "$here/consumer.c" -o consumer.o
    # shellcheck disable=SC2086
    $CC consumer.o "$libdir/libdataline.a" $needs $other -o consumer
    run static ./consumer
    # A C++ host with names that we use inside, and without exceptions and RTTI.
    # shellcheck disable=SC2086
    $CXX $bare_cxx -I"$prefix/include" -I"$here" "$here/consumer.c" "$here/namesake.cpp" -x none "$libdir/libdataline.a" $needs $other -o consumer_cxx
    run static ./consumer_cxx ;;
  late_open | twice | beside)
    opened=$libdir/libdataline.so copy=$scratch/libcopy.so
    cp -L "$opened" "$copy"
    if [ "$1" = beside ]; then
      needs=$(pkg --static --libs-only-l dataline | sed 's/-ldataline//')
      # shellcheck disable=SC2086
      $CC -std=c11 -DWITH_LINKED_COPY -I"$prefix/include" -I"$here" "$here/guests.c" "$libdir/libdataline.a" $needs -pthread -o guests
      ./guests beside "$opened"
    else
      $CC -std=c11 -I"$prefix/include" -I"$here" "$here/guests.c" -ldl -pthread -o guests
      if [ "$1" = twice ]; then ./guests twice "$opened" "$copy"; else ./guests late "$opened"; fi
    fi ;;
  allocator)
    $CC -std=c11 -DWITH_LINKED_COPY -I"$prefix/include" -I"$here" "$here/guests.c" -L"$libdir" -ldataline -ldl -pthread -o guests
    run shared ./guests allocator ;;
  shared_library) # marks of the file itself
    readelf -dW "$libdir/libdataline.so" >dynamic
    grep -q 'SONAME.*\[libdataline\.so\.[0-9]*\]' dynamic || fail "no plain SONAME"
    grep -q NODELETE dynamic || fail "dlclose could unmap code that a batch still needs: not linked with -z nodelete"
    if grep -q TEXTREL dynamic; then fail "has text relocations"; fi
    if grep -Eq 'NEEDED.*(libcuda|libnv|libhwy|libpython)' dynamic; then fail "needs what must be found at run time"; fi
    if readelf -sW "$libdir/libdataline.so" | grep -q ' UNIQUE '; then fail "has unique symbols, which tie copies together"; fi
    if readelf -lW "$libdir/libdataline.so" | grep -E 'GNU_STACK' | grep -q RWE; then fail "asks for an executable stack"; fi ;;
  *) fail "no such case: $1" ;;
esac
