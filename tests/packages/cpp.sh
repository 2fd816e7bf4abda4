# shellcheck shell=bash disable=SC2154
# try_cpp ARTIFACTS: every kind of package of the C and C++ library, each in a bare system of its own: Debian's, the portable archive,
# Conan's, vcpkg's. Sourced by tests/packages.sh.
# SPDX-License-Identifier: Apache-2.0

for kind in deb tarball conan vcpkg; do
  # shellcheck source=/dev/null
  [[ ! -e $root/tests/packages/cpp_$kind.sh ]] || . "$root/tests/packages/cpp_$kind.sh"
done

try_cpp() {
  local kind
  for kind in deb tarball conan vcpkg; do
    if declare -F "try_cpp_$kind" >/dev/null; then "try_cpp_$kind" "$1"; fi
  done
}

# block NUMBER LANGUAGE: of the C++ README.
cpp_readme_block() {
  awk -v wanted="$1" -v open="\`\`\`$2" '$0 == open { found += 1; inside = found == wanted; next } /^```$/ { inside = 0 } inside' "$root/bindings/cpp/README.md"
}

# cpp_host FOLDER: there the README's ten lines, and the CMakeLists.txt of a host that finds the package.
cpp_host() {
  cpp_readme_block 1 cpp >"$1/first.cpp"
  cat >"$1/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(first LANGUAGES CXX)
find_package(dataline 0.2 REQUIRED CONFIG)
add_executable(first first.cpp)
target_link_libraries(first PRIVATE dataline::cpp)
CMAKE
}

# chroot_in NAME FOLDER command...: as root there, without the cache that `inside` hands on: nobody has that yet.
chroot_in() {
  local name=$1 folder=$2
  shift 2
  inside "$name" root env -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER -C "$folder" "$@"
}
