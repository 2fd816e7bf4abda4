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

# configured FOLDER [flag...]: the project of project/ with the library inside it, as it comes.
configured() {
  local folder=$1
  shift
  "$CMAKE" -S "$here/project" -B "$folder" -G Ninja -DHOW=add -DLANGUAGE=C -DCONSUMER="$here" -DDATALINE_SOURCE="$SOURCE" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" "$@" >configure.log 2>&1 || { cat configure.log; fail "configure failed"; }
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
    test -e lib/libdataline.so -a -e lib/libdataline.a -a -e lib/dataline-static/libdataline.a -a -e lib/pkgconfig/dataline.pc
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
    # The strict host's own language level and flags are not ours.
    flags=()
    if [ "$1" = add_subdirectory_strict ]; then flags=(-DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_FLAGS="-fno-exceptions -fno-rtti"); fi
    host add C OFF -DCMAKE_BUILD_TYPE="$BUILD_TYPE" -DCMAKE_COMPILE_WARNING_AS_ERROR="$WERROR" "${flags[@]}" ;;
  fetch_content | fetch_content_whole | fetch_content_url) # the C++ README's ten lines, with the sources where they are, or as an archive
    from="SOURCE_DIR $SOURCE"
    if [ "$1" = fetch_content_url ]; then
      (cd "$SOURCE" && tar --transform 's,^,dataline-sources/,' -czf "$scratch/sources.tar.gz" CMakeLists.txt LICENSE core capi bindings/cpp bindings/cli)
      from="URL \"$scratch/sources.tar.gz\""
    fi
    cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(first LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(dataline $from)
FetchContent_MakeAvailable(dataline)
add_executable(first first.cpp)
target_link_libraries(first PRIVATE dataline::cpp)
CMAKE
    awk '$0 == "```cpp" { inside = 1; next } /^```$/ { if (inside) exit } inside' "$SOURCE/bindings/cpp/README.md" >first.cpp
    # Not optimised, in a third of the time: that the library works so is shown elsewhere.
    "$CMAKE" -S . -B fetched -G Ninja -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" >configure.log 2>&1 || { cat configure.log; fail "configure failed"; }
    # Everyday only the host and one room are compiled, which takes a tenth.
    what=(first)
    [ "$1" != fetch_content ] || what=(CMakeFiles/first.dir/first.cpp.o dataline_base)
    "$CMAKE" --build fetched --target "${what[@]}" >build.log || { cat build.log; fail "build failed"; }
    [ "$1" != fetch_content ] || exit 0
    [ "$(fetched/first | grep -c '128 rows, 512 numbers')" -eq 7 ] || fail "the ten lines did not print 7 whole batches" ;;
  no_build_type) # a host that names none gets what is optimised, and its own settings stay its own
    options=(-DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DDATALINE_WITH_CUDA=OFF)
    compiled() { # compiled FOLDER FILE-PATTERN: the commands, one a line
      sed -n 's/^ *"command": //p' "$1/compile_commands.json" | grep -E "$2" || fail "$1: nothing compiles $2"
    }
    unset CMAKE_BUILD_TYPE CFLAGS CXXFLAGS
    configured plain "${options[@]}"
    if compiled plain ' -c [^ ]*/(core|capi)/[^ ]*\.cpp' | grep -v -e ' -O[23] '; then fail "these are compiled without any optimisation"; fi
    if compiled plain 'consumer\.c' | grep -e ' -O'; then fail "the host's own file got an optimisation of ours"; fi
    configured told "${options[@]}" -DCMAKE_CXX_FLAGS=-O1
    if compiled told '/core/order/' | grep -e ' -O2 '; then fail "the host said -O1"; fi
    configured debug "${options[@]}" -DCMAKE_BUILD_TYPE=Debug
    if compiled debug '/core/order/' | grep -e ' -O2 '; then fail "the host said Debug"; fi ;;
  highway) # required, unless somebody says that it is not
    missing=(-DDATALINE_WITH_CUDA=OFF -DDATALINE_HIGHWAY_INCLUDE=)
    if (configured refused "${missing[@]}") >refused.log 2>&1; then fail "it configures without Highway, and nobody said so"; fi
    tr -s ' \n' ' ' <refused.log >refused.line
    for words in 'highway was not found' 'photographs about 2 times slower' 'apt-get install libhwy-dev' \
      DDATALINE_WITH_HIGHWAY=OFF DDATALINE_HIGHWAY_INCLUDE=FOLDER CMAKE_ARGS; do
      grep -q -e "$words" refused.line || { cat refused.log; fail "the refusal does not say: $words"; }
    done
    for told in OFF AUTO; do
      configured "without $told" "${missing[@]}" -DDATALINE_WITH_HIGHWAY=$told
      tr -s ' \n' ' ' <configure.log | grep -q 'CMake Warning.*built without highway: .* times slower' || { cat configure.log; fail "$told: no warning"; }
    done
    "$CMAKE" --build "without OFF" --target dataline_version_shared >build.log || { cat build.log; fail "build failed"; }
    find "without OFF" -name 'version.cpp.o' -exec grep -a -o 'missing: highway (normalised rows [^)]*)' {} + || fail "dl_build_info() does not tell"
    # A copy of its sources, in a folder of any name.
    include=$(sed -n 's/^DATALINE_HIGHWAY_INCLUDE:PATH=//p' "$BUILD/CMakeCache.txt")
    [ -d "$include/hwy" ] || skip "the build at hand has no Highway"
    mkdir "high way" && cp -r "$include/hwy" "high way/hwy"
    configured found -DDATALINE_WITH_CUDA=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DDATALINE_HIGHWAY_INCLUDE="$scratch/high way"
    grep -q 'high way.*order/feistel_simd.cpp' found/compile_commands.json || fail "the folder that was named is not used" ;;
  jpeg_huffman) # AUTO uses it with tested releases of libjpeg-turbo alone
    include=$(sed -n 's/^DATALINE_LIBJPEG_INCLUDE:PATH=//p' "$BUILD/CMakeCache.txt")
    [ -f "$include/jpegint.h" ] || skip "there is no jpegint.h"
    mkdir other && cp "$include"/j*.h other && echo '#define LIBJPEG_TURBO_VERSION 9.8.7' >other/jconfig.h
    without() { tr -s ' \n' ' ' <configure.log | grep -q "without jpeg_huffman: JPEGs decode .* slower$1"; }
    other=(-DDATALINE_WITH_CUDA=OFF -DDATALINE_LIBJPEG_INCLUDE="$scratch/other")
    configured auto "${other[@]}"
    without ': libjpeg-turbo 9.8.7 is not among the tested releases' || { cat configure.log; fail "an untested release is used"; }
    configured on "${other[@]}" -DDATALINE_WITH_JPEG_HUFFMAN=ON
    if without ''; then fail "ON does not use an untested release"; fi
    configured off -DDATALINE_WITH_CUDA=OFF -DDATALINE_WITH_JPEG_HUFFMAN=OFF
    without '' || { cat configure.log; fail "OFF uses it"; }
    rm other/jpegint.h
    if (configured refused "${other[@]}" -DDATALINE_WITH_JPEG_HUFFMAN=ON) >refused.log 2>&1; then fail "it configures without jpegint.h"; fi
    grep -q 'jpeg_huffman was not found (jpegint.h)' refused.log || { cat refused.log; fail "the refusal does not name jpegint.h"; } ;;
  missing_parts) # what the shell says of a build in which parts are missing
    [ -x "$BUILD/bin/dataline" ] || skip "there is no shell in this build"
    cat >build_info.c <<'C'
const char* dl_build_info(void);
const char* dl_build_info(void) { return "mimalloc libspng; gcc 99; missing: highway (rows 6 times, pictures 2 times slower), libwebp (no WebP)"; }
C
    $CC -shared -fPIC build_info.c -o build_info.so
    LD_LIBRARY_PATH=$scratch LD_PRELOAD=build_info.so "$BUILD/bin/dataline" version | tr -s ' ' >version
    for line in 'features mimalloc libspng' 'compiler gcc 99' 'missing highway (rows 6 times, pictures 2 times slower)' 'missing libwebp (no WebP)'; do
      grep -q -x "$line" version || { cat version; fail "dataline version does not say: $line"; }
    done
    LD_LIBRARY_PATH=$scratch LD_PRELOAD=build_info.so "$BUILD/bin/dataline" version --json | tr -d ' \n' | grep -q '"features":\["mimalloc","libspng"\]' ;;
  pkg_config)
    eval "$CC -std=c11 $strict $(printf %q "$here/consumer.c") $(pkg --cflags dataline) -o consumer $(pkg --libs dataline)"
    run shared ./consumer ;;
  pkg_config_static) # where both libraries are installed, and where libdataline.a is alone
    cp -r "$prefix" "$scratch/static only" && rm -f "$scratch/static only"/lib/libdataline.so*
    for libdir in "$libdir" "$scratch/static only/lib"; do
      eval "$CC -std=c11 $strict $(printf %q "$here/consumer.c") $(pkg --static --cflags dataline) -o consumer $(pkg --static --libs dataline)"
      run static ./consumer
      eval "$CXX $bare_cxx $strict $(printf %q "$here/consumer.c") -x none $(pkg --static --cflags dataline) -o consumer_cxx $(pkg --static --libs dataline)"
      run static ./consumer_cxx
      # Each name once, and nothing that the archive does not use: what is needed of the list is the list.
      named=$(pkg --static --libs-only-l dataline | tr ' ' '\n' | grep -v -x -e -ldataline -e '' | sort)
      [ -z "$(uniq -d <<<"$named")" ] || fail "named twice: $(uniq -d <<<"$named")"
      for name in $named; do
        others=${named//$name$'\n'/} others=${others%"$name"}
        # shellcheck disable=SC2086
        if [ "$name" != -ldl ] && $CC -std=c11 -I"$here" -I"$prefix/include" "$here/consumer.c" "$libdir/libdataline.a" ${others//$'\n'/ } -pthread \
          -o without 2>/dev/null; then fail "pkg-config --static names $name, without which it links too"; fi
      done
    done ;;
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
