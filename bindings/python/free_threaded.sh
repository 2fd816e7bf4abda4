#!/usr/bin/env bash
# Gets a free-threaded CPython (3.13t) with what the tests need of PyPI, where there is none: Debian has no package of one, but the
# source that Debian 13's Python is made of, which is built here without the lock (some minutes).
#   bindings/python/free_threaded.sh            builds when needed; prints its path
#   bindings/python/free_threaded.sh --where    builds nothing; prints the path alone, or ends with 77
# DATALINE_PYTHON_FREE_THREADED_DIR is the folder (otherwise ~/.cache/dataline/python3.13t); about 400 MB. Nothing of the system is
# changed. setup.sh has installed the compilers.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
folder=${DATALINE_PYTHON_FREE_THREADED_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dataline/python3.13t}
python=$folder/venv/bin/python
pinned=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/tools.txt
tools="scikit-build-core pathspec pytest numpy==2.4.6"
ready() { echo "$tools"; cat "$pinned"; }

cannot() { echo "skipped: no free-threaded Python: $*"; exit 77; }
works() { [[ $(cat "$folder/ready" 2>/dev/null) == "$(ready)" && -x $python ]]; }

if works; then echo "$python"; exit 0; fi
[[ ${1:-} != --where ]] || cannot "bindings/python/free_threaded.sh makes one"
command -v apt-get >/dev/null && command -v xzcat >/dev/null || cannot "there is no apt here whose mirror has the source"
mirror=$(apt-get indextargets --format '$(REPO_URI)|$(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
  awk -F'|' '$2 == "main" { print $1; exit }')
mirror=${mirror%/}
[[ -n $mirror ]] || cannot "no source of Debian's main is configured"

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9 # two at once: the second finds what the first made
if works; then echo "$python"; exit 0; fi
work=$(mktemp -d "$folder/make.XXXXXX")
trap 'rm -rf "$work"' EXIT
log=$folder/setup.log
fetch() { "/usr/bin/python3" -c 'import sys, urllib.request as u; u.urlretrieve(sys.argv[1], sys.argv[2])' "$@"; }

cd "$work"
if [[ ! -x $folder/python/bin/python3.13 ]]; then
  fetch "$mirror/dists/trixie/main/source/Sources.xz" Sources.xz || cannot "$mirror has no list of trixie's sources"
  # Checksum and name of the archive.
  read -r checksum name < <(xzcat Sources.xz | awk -v RS= '/^Package: python3\.13\n/' |
    awk '/^Checksums-Sha256:/ { here = 1; next } /^[^ ]/ { here = 0 } here && $3 ~ /orig\.tar\.xz$/ { print $1, $3; exit }')
  fetch "$mirror/pool/main/p/python3.13/$name" "$name" || cannot "$mirror has no $name"
  echo "$checksum  $name" | sha256sum --check --quiet || cannot "$name is damaged"
  tar -xf "$name"
  cd Python-3.13.*/
  { ./configure -q --prefix="$folder/python" --disable-gil --disable-test-modules --with-ensurepip=install CFLAGS="-O1 -g0" &&
    make -s -j"$(nproc)" && make -s install; } >"$log" 2>&1 || cannot "it does not build; see $log"
fi
rm -rf "$folder/venv"
"$folder/python/bin/python3.13" -m venv "$folder/venv"
# shellcheck disable=SC2086
timeout 600 "$python" -m pip install -q --disable-pip-version-check --only-binary=:all: -c "$pinned" $tools >>"$log" 2>&1 ||
  cannot "$tools are not to be had; see $log"
ready >"$folder/ready"
echo "$python"
