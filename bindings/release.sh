#!/usr/bin/env bash
# Makes every artifact of a release, checks them, and writes their digests.
#   bindings/release.sh OUT_DIR [--draft] [--try] [LANG...]
#     LANG     cpp, python, rust, go, julia (all of them)
#     --draft  also with changes that are not committed
#     --try    installs each one on bare machines too (tests/packages.sh, Debian 12 and 13), and runs those for aarch64 under QEMU
#              (tests/aarch64_packages.sh)
# OUT_DIR has to be empty or new. Each language's package.sh makes its own; what cannot be made here is named in one line. At the
# end OUT_DIR has SHA256SUMS, and beside the archives the SPDX document and NOTICE of the portable one. Publishes nothing:
# docs/releasing.md says what comes next.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/.." && pwd)
usage='usage: bindings/release.sh OUT_DIR [--draft] [--try] [cpp] [python] [rust] [go] [julia]'
out='' draft='' try='' names=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --draft) draft=yes ;;
    --try) try=yes ;;
    cpp | python | rust | go | julia) names+=("$1") ;;
    -*) echo "$usage" >&2; exit 2 ;;
    *) [[ -z $out ]] || { echo "$usage" >&2; exit 2; }; out=$1 ;;
  esac
  shift
done
[[ -n $out ]] || { echo "$usage" >&2; exit 2; }
[[ ${#names[@]} -gt 0 ]] || names=(cpp python rust go julia)
fail() { echo "release.sh: $*" >&2; exit 1; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
[[ -z $(ls -A "$out") ]] || fail "$out is not empty"

# ---- What is released.

version=$(sed -n 's/^project(dataline VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
changes=$(git -C "$root" -c safe.directory='*' status --porcelain) || fail "$root is no git checkout"
[[ -z $changes || -n $draft ]] || fail "there are changes that are not committed; --draft makes the artifacts all the same"
python3 "$root/tests/law/check_versions.py" "$root" || fail "the versions above do not agree"
echo "== dataline $version, commit $(git -C "$root" -c safe.directory='*' rev-parse --short HEAD)${changes:+ with changes}"

# ---- The artifacts.

mkdir -p "$root/build/release-logs"
skipped=()
# Packages have kernels for GPUs where their compiler is.
"$root/core/device/kernels/toolkit.sh" >/dev/null 2>"$root/build/release-logs/toolkit.log" ||
  skipped+=("kernels for GPUs: $(tail -n 1 "$root/build/release-logs/toolkit.log")")
# make_one LANG [ARCH]
make_one() {
  local name=$1 made=$1${2:+-$2} log status=0
  echo "== $made"
  log=$root/build/release-logs/$made.log
  if [[ ! -x $here/$name/package.sh ]]; then
    skipped+=("$name: there is no bindings/$name/package.sh")
    return
  fi
  DATALINE_ARCH=${2:-x86_64} "$here/$name/package.sh" "$out" >"$log" 2>&1 || status=$?
  grep '^skipped: ' "$log" | sed "s/^skipped: /$made: /" >"$log.skipped" || true
  mapfile -t -O "${#skipped[@]}" skipped <"$log.skipped"
  case $status in
    0 | 77) ;;
    *) tail -n 30 "$log"; fail "bindings/$name/package.sh failed ($log)" ;;
  esac
}
for name in "${names[@]}"; do make_one "$name"; done
# By a cross compiler: the archive and the wheel.
for name in "${names[@]}"; do
  case $name in cpp | python) make_one "$name" aarch64 ;; esac
done

# ---- The checks.

# Whole, and named after this version.
cd "$out"
mapfile -t artifacts < <(find . -type f -printf '%P\n' | LC_ALL=C sort)
[[ ${#artifacts[@]} -gt 0 ]] || fail "nothing could be made: ${skipped[*]}"
for artifact in "${artifacts[@]}"; do
  case $artifact in
    *.tar.gz | *.tgz | *.crate) tar -tzf "$artifact" >/dev/null ;;
    *.whl | *.zip) python3 -m zipfile -t "$artifact" >/dev/null ;;
    *.deb) dpkg-deb --contents "$artifact" >/dev/null ;;
  esac || fail "$artifact is damaged"
  case $artifact in
    goproxy/*/list | *.json | *.toml) ;;
    *"$version"*) ;;
    *) fail "$artifact does not name the version $version" ;;
  esac
done

# The documents of what is inside, beside the archives that have them.
for portable in dataline-"$version"-linux-{x86_64,aarch64}; do
  [[ -e $portable.tar.gz ]] || continue
  tar -xzOf "$portable.tar.gz" "$portable/share/doc/dataline/dataline.spdx.json" >"$portable.spdx.json"
  tar -xzOf "$portable.tar.gz" "$portable/share/doc/dataline/NOTICE" >"$portable.NOTICE"
  tools=$root/build/release-tools
  if [[ ! -x $tools/bin/pyspdxtools ]]; then
    { python3 -m venv "$tools" && "$tools/bin/pip" install -q --disable-pip-version-check spdx-tools==0.8.5; } >"$root/build/release-logs/spdx.log" 2>&1 || rm -rf "$tools"
  fi
  if [[ -x $tools/bin/pyspdxtools ]]; then
    "$tools/bin/pyspdxtools" -i "$portable.spdx.json" || fail "$portable.spdx.json is not valid SPDX 2.3"
  else
    skipped+=("the SPDX document of $portable was not validated: spdx-tools cannot be had")
  fi
done

if [[ -n $try ]]; then
  for suite in debian12 debian13; do
    status=0
    "$root/tests/packages.sh" "$suite" --artifacts "$out" "${names[@]}" || status=$?
    case $status in
      0) ;;
      77) skipped+=("nothing was tried on a bare $suite") ;;
      *) fail "an artifact does not work on a bare $suite" ;;
    esac
  done
  if [[ -e dataline-$version-linux-aarch64.tar.gz ]]; then
    status=0
    "$root/tests/aarch64_packages.sh" --artifacts "$out" || status=$?
    case $status in
      0) ;;
      77) skipped+=("nothing for aarch64 was tried") ;;
      *) fail "an artifact for aarch64 does not work" ;;
    esac
  fi
fi

mapfile -t artifacts < <(find . -type f -printf '%P\n' | LC_ALL=C sort)
sha256sum "${artifacts[@]}" >SHA256SUMS
sha256sum --quiet --check SHA256SUMS
echo "== made in $out"
sed 's/^[0-9a-f]*  /  /' SHA256SUMS
for what in "${skipped[@]}"; do echo "left out: $what"; done
