#!/usr/bin/env bash
# Gets a Julia for the tests where there is none: Debian 11's 1.5.3, unpacked into a folder of its own.
#   bindings/julia/setup.sh            installs when needed; prints "julia: PATH (VERSION)"
#   bindings/julia/setup.sh --where    installs nothing; prints the path alone, or ends with 77
# Looked for in this order: $JULIA, the folder below, the PATH. Debian 12 has no julia. For Julia nothing of the system is
# changed: no suite is added to its sources, no package installed, no root needed; apt resolves and fetches with lists of its own.
# What Pkg.build compiles the library with is installed where that may be done (core/setup.sh).
# Pkg 1.5 refuses to begin without a program that could download; on a machine without any, busybox is unpacked beside it.
# Debian 12's libunwind8 breaks this Julia when an exception leaves compiled frames, so the wrapper uses Debian 11's.
#   DATALINE_JULIA_DIR   the folder (otherwise ~/.cache/dataline/julia); about 300 MB
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
where=${DATALINE_JULIA_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dataline/julia}
wrapper=$where/bin/julia

cannot() { echo "skipped: no Julia: $*"; exit 77; }

# 1.5 or later, and one that lives through an exception (the end of a loop over a closed channel is one).
works() {
  [[ -x $(command -v "$1" 2>/dev/null) ]] &&
    [[ $("$1" --startup-file=no -e 'c = Channel(1); put!(c, 1); close(c); for _ in c end; VERSION >= v"1.5" && print("works")' 2>/dev/null) == works ]]
}

# A folder that an earlier setup filled may lack what downloads.
downloads() { [[ -x $where/root/bin/busybox ]] || command -v curl || command -v wget || command -v busybox; } >/dev/null

found() {
  local one
  for one in ${JULIA:+"$JULIA"} "$wrapper" julia; do
    if [[ $one == "$wrapper" ]] && ! downloads; then continue; fi
    if works "$one"; then command -v "$one"; return 0; fi
  done
  return 1
}

told() { echo "julia: $1 ($("$1" --version | sed 's/^julia version //'))"; }

if [[ ${1:-} == --where ]]; then
  found || cannot "bindings/julia/setup.sh gets one"
  exit 0
fi
"$(dirname "${BASH_SOURCE[0]}")/../../core/setup.sh" || echo "the library cannot be built here; an installed one will do"
if julia=$(found); then told "$julia"; exit 0; fi

release=$(. /etc/os-release 2>/dev/null; echo "${VERSION_CODENAME:-}")
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || cannot "there is no apt here to get one with"
[[ $release == bookworm ]] || cannot "Debian 11's package fits Debian 12 (bookworm), and this is '${release:-unknown}'"
# The mirror this system uses.
mirror=$(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
  awk -F'|' -v release="$release" '$2 == release && $3 == "main" { print $1; exit }')
[[ -n $mirror ]] || cannot "no source of $release main is configured"

mkdir -p "$where"
exec 9>"$where/lock"
flock 9 # two at once: the second finds what the first installed
if julia=$(found); then told "$julia"; exit 0; fi
work=$(mktemp -d "$where/get.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,none,root,unwind}
cat >"$work/sources.list" <<SOURCES
deb $mirror $release main
deb $mirror bullseye main
SOURCES
printf 'Package: *\nPin: release n=bullseye\nPin-Priority: 100\n' >"$work/preferences"
cat >"$work/apt.conf" <<CONF
Dir::State "$work";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/none";
Dir::Etc::preferences "$work/preferences";
Dir::Etc::preferencesparts "$work/none";
Debug::NoLocking "1";
APT::Sandbox::User "";
Acquire::Languages "none";
CONF
export APT_CONFIG=$work/apt.conf
downloader=()
downloads || downloader=(busybox)
log=$where/setup.log
cd "$work/cache/archives"
{
  timeout 300 apt-get update -q &&
    timeout 600 apt-get install -q -y --no-install-recommends --download-only julia/bullseye "${downloader[@]}" &&
    rm -f libunwind8_* && # Debian 12's, where the system has none
    timeout 120 apt-get download -q libunwind8/bullseye
} >"$log" 2>&1 || cannot "the packages cannot be fetched; see $log"

cd "$work"
for package in cache/archives/*.deb; do
  case $package in
    */libunwind8_*) dpkg-deb -x "$package" unwind ;;
    *) dpkg-deb -x "$package" root ;;
  esac
done
libraries=$(cd root/usr/lib/*/julia && cd .. && pwd)
triplet=${libraries##*/}
mv unwind/usr/lib/"$triplet"/libunwind*.so.* "$libraries"
if [[ -d root/lib/$triplet ]]; then cp -a root/lib/"$triplet"/. "$libraries"; fi
# Libraries that the system has itself: their links lead there.
for link in "$libraries"/julia/*; do
  [[ -L $link && ! -e $link ]] || continue
  name=$(basename "$(readlink "$link")")
  system=$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p) && system=$(awk -v name="$name" '$1 == name { print $NF; exit }' <<<"$system")
  [[ -n $system ]] || cannot "$name is neither in the packages nor on the system"
  ln -sfn "$system" "$libraries/$name"
done
rm -rf "$where/root"
mv root "$where/root"
mkdir -p "$where/bin"
cat >"$work/julia" <<WRAPPER
#!/bin/sh
# Debian 11's Julia with its own libraries, which no other program sees.
root='$where/root/usr'
LD_LIBRARY_PATH="\$root/lib/$triplet:\$root/lib/$triplet/julia\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
PATH="\$PATH:\${root%/usr}/bin" # last: busybox alone is there
export LD_LIBRARY_PATH PATH
exec "\$root/bin/julia" "\$@"
WRAPPER
chmod +x "$work/julia"
mv "$work/julia" "$wrapper"
works "$wrapper" || cannot "what was installed in $where does not run; see $log"
told "$wrapper"
