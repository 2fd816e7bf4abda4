#!/usr/bin/env bash
# The Conan 2 package: OUT/dataline-VERSION-conan.tgz for `conan cache restore`, with the recipe, its sources (for other compilers and
# options: --build=missing) and the binary for the compiler here. `conan create` also builds and runs test_package.
#   bindings/cpp/packages/conan.sh OUT [CONAN_CREATE_ARGUMENT...]      such as -o "dataline/*:shared=False"
# Conan is taken from PyPI into build/conan when it is not installed; nothing is asked of Conan's servers. Ends with 77 where
# Conan cannot be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
[[ $# -ge 1 ]] || { echo "usage: conan.sh OUT [CONAN_CREATE_ARGUMENT...]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
work=$root/build/conan
mkdir -p "$work"

"$root/core/setup.sh"
conan=$(command -v conan || true)
if [[ -z $conan || $("$conan" --version) != "Conan version 2."* ]]; then
  conan=$work/venv/bin/conan
  if [[ ! -x $conan ]]; then
    as_root=()
    [[ $(id -u) -eq 0 ]] || as_root=(sudo -n)
    python3 -c 'import ensurepip' 2>/dev/null || "${as_root[@]}" apt-get install -y -qq --no-install-recommends python3-venv </dev/null >/dev/null 2>&1 || true
    { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q conan==2.34.0; } >"$work/venv.log" 2>&1 || {
      rm -rf "$work/venv"
      echo "skipped: there is no Conan 2, and it cannot be installed ($work/venv.log); try: pip install conan"
      exit 77
    }
  fi
fi

# A cache of our own: the user's is left as it is.
export CONAN_HOME=$work/home
rm -rf "$CONAN_HOME"
if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
"$conan" profile detect >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$conan" create "$root/bindings/cpp/packages/conan" --no-remote -c tools.cmake.cmake_layout:test_folder="$work/test" \
  -c tools.cmake.cmaketoolchain:user_presets= "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log"; echo "conan.sh: conan create failed ($work/log)" >&2; exit 1; }
version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
archive=$out/dataline-$version-conan.tgz
"$conan" cache save "dataline/$version:*" --no-source --file "$archive" >"$work/save.log" 2>&1 || { cat "$work/save.log"; exit 1; }
echo "$archive"
