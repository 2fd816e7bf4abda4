#!/usr/bin/env bash
# Installs what building the library takes and is missing (Debian, Ubuntu; as root or with sudo): a compiler, CMake, Ninja, and
# the libraries that it uses. What is there, wherever it is from, is left alone; what will be installed is listed before.
# Status 0: it can be built, and what could not be had of the libraries is named. 1: it cannot; the last line says what to install.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

say() { printf '%s\n' "$*"; }
has_header() { printf '#include <stdio.h>\n#include <%s>\n' "$1" | c++ -E -x c++ - >/dev/null 2>&1; }

jpeg_package() { # Debian's name, or Ubuntu's for the same library
  if command -v apt-cache >/dev/null && [[ -z $(apt-cache show libjpeg62-turbo-dev 2>/dev/null) ]] &&
    [[ -n $(apt-cache show libjpeg-turbo8-dev 2>/dev/null) ]]; then
    say libjpeg-turbo8-dev
  else
    say libjpeg62-turbo-dev
  fi
}

# What is missing now, by the names of its packages.
missing_tools() {
  command -v c++ >/dev/null && command -v cc >/dev/null || say g++
  command -v cmake >/dev/null || say cmake
  command -v ninja >/dev/null || say ninja-build
  command -v pkg-config >/dev/null || say pkg-config
}
missing_libraries() {
  has_header hwy/highway.h || say libhwy-dev # vector instructions: required, unless the build is told to do without
  has_header jpeglib.h || jpeg_package
  has_header spng.h || say libspng-dev
  has_header webp/decode.h || say libwebp-dev
  has_header libdeflate.h || say libdeflate-dev
  has_header zstd.h || say libzstd-dev
  has_header lz4frame.h || say liblz4-dev
  has_header mimalloc.h || say libmimalloc-dev
}

as_root=()
can_install() {
  command -v apt-get >/dev/null || return 1
  [[ $(id -u) -ne 0 ]] || return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo)
  [[ -t 0 ]] || as_root=(sudo -n) # nobody is there to type a password
  "${as_root[@]}" true 2>/dev/null
}
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

mapfile -t tools < <(missing_tools)
mapfile -t libraries < <(missing_libraries)
[[ ${#tools[@]} -gt 0 || ${#libraries[@]} -gt 0 ]] || exit 0
if can_install; then
  [[ ${#tools[@]} -eq 0 ]] || say "installing what the build needs: ${tools[*]}"
  [[ ${#libraries[@]} -eq 0 ]] || say "installing libraries that it uses: ${libraries[*]}"
  began=$SECONDS
  "${as_root[@]}" apt-get update -qq </dev/null >/dev/null || true # what was fetched before may do
  if ! install "${tools[@]}" "${libraries[@]}"; then
    [[ ${#tools[@]} -eq 0 ]] || install "${tools[@]}" || true
    for package in "${libraries[@]}"; do install "$package" || true; done
  fi
  say "installed in $((SECONDS - began)) s"
  mapfile -t tools < <(missing_tools)
  mapfile -t libraries < <(missing_libraries)
fi
if [[ ${#tools[@]} -gt 0 ]]; then
  printf 'setup.sh: please install what the build needs (Debian, Ubuntu: apt-get install %s)\n' "${tools[*]} ${libraries[*]}" >&2
  exit 1
fi
[[ ${#libraries[@]} -eq 0 ]] || say "these libraries are missing: ${libraries[*]}"
