# shellcheck shell=bash disable=SC2034  # for those who source it
# The machine that packages are made for, sourced by what makes the portable archive and the wheels: DATALINE_ARCH is x86_64 (where
# it is not set), which is this machine, or aarch64, by Debian's cross compiler. What was made for that runs here under QEMU.
# Sets: arch, debian_arch, cross (what the compiler's names begin with), multiarch (Debian's name of the machine), dynamic_linker,
# machine_packages (what it takes of Debian), suffix (of folders: empty for x86_64).
# SPDX-License-Identifier: Apache-2.0
arch=${DATALINE_ARCH:-x86_64}
case $arch in
  x86_64) debian_arch=amd64 cross='' suffix='' dynamic_linker=ld-linux-x86-64.so.2 machine_packages=(gcc g++) ;;
  aarch64)
    debian_arch=arm64 cross=aarch64-linux-gnu- suffix=-aarch64 dynamic_linker=ld-linux-aarch64.so.1
    machine_packages=(gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static)
    ;;
  *) echo "DATALINE_ARCH: expected x86_64 or aarch64, got $arch" >&2; exit 2 ;;
esac
multiarch=$arch-linux-gnu

# for_sysroot SYSROOT [LIBRARIES]: the compiler's flags for a Debian in that folder, and libraries in the other, in `c_flags`, `cxx_flags`
# and `link_flags`, and in `run` (an array) what a program of that Debian is run by. A cross compiler looks for headers of its own C library first: they are
# named here one by one, for each finds the next by the order of folders.
for_sysroot() {
  local headers folder cxx=''
  c_flags=--sysroot=$1 cxx_flags=--sysroot=$1 run=()
  link_flags="-B$1/usr/lib/$multiarch ${2:+-L$2 }-L$1/lib/$multiarch"
  [[ -n $cross ]] || return 0
  run=("qemu-$arch-static" -L "$1")
  folder=/usr/$multiarch/include/c++/$("${cross}gcc" -dumpversion)
  headers="-isystem $("${cross}gcc" -print-file-name=include) -isystem $1/usr/include/$multiarch -isystem $1/usr/include"
  for folder in "$folder" "$folder/$multiarch" "$folder/backward"; do cxx+=" -isystem $folder"; done
  c_flags+=" -nostdinc $headers" cxx_flags+=" -nostdinc$cxx $headers"
}

# toolchain FILE: what CMake has to know of a cross compiler, after for_sysroot; sets `cmake_machine` to the arguments.
toolchain() {
  cmake_machine=()
  [[ -n $cross ]] || return 0
  cat >"$1" <<CMAKE
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $arch)
set(CMAKE_LIBRARY_ARCHITECTURE $multiarch)
set(CMAKE_C_COMPILER ${cross}gcc)
set(CMAKE_CXX_COMPILER ${cross}g++)
set(CMAKE_C_FLAGS_INIT "$c_flags")
set(CMAKE_CXX_FLAGS_INIT "$cxx_flags")
set(CMAKE_EXE_LINKER_FLAGS_INIT "$link_flags")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "$link_flags")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "$link_flags")
set(CMAKE_CROSSCOMPILING_EMULATOR "$(IFS=';'; echo "${run[*]}")")
CMAKE
  cmake_machine=(-DCMAKE_TOOLCHAIN_FILE="$1")
}
