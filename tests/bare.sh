#!/usr/bin/env bash
# The README's two commands, as a newcomer gives them: on a minimal Debian that knows neither a compiler nor this project.
# mmdebstrap makes the system, a copy of the tracked files is its only content, and the command runs in it, by chroot.
#   tests/bare.sh [debian12] [--main | --tests] [--only PART,PART...] [--ccache DIR]
#     --main        the first command, examples/run.sh, with the whole main job instead of a quick one
#     --tests       the second command, tests/run.sh, whole, as root
#     --only PARTS  with --tests: these parts of it
#     --ccache DIR  compiled objects may come out of this cache of ccache, which is only read; without it everything is compiled
#                   here once
# The first command runs twice, in systems of their own: as root; then as a user with sudo, where the tree cannot be written to
# and libgtest-dev is there without libgmock-dev. Root is needed, and mmdebstrap (installed when missing); where either cannot be
# had, or no package registry be reached, it ends with 77 and one line. How this machine reaches its registries is handed on.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage='usage: tests/bare.sh [debian12] [--main | --tests] [--only PART,PART...] [--ccache DIR]'

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "bare: $*"; exit 1; }

suite=bookworm quick=(--quick) tests='' only=() cache=''
words=("$@")
while [[ $# -gt 0 ]]; do
  case $1 in
    debian12) suite=bookworm ;;
    --main) quick=() ;;
    --tests) tests=yes ;;
    --only) only=(--only "${2:-}") && shift ;;
    --only=*) only=(--only "${1#--only=}") ;;
    --ccache) cache=${2:-} && shift ;;
    --ccache=*) cache=${1#--ccache=} ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift
done
[[ -z $cache || -d $cache ]] || fail "--ccache: $cache is not a directory"

[[ $(id -u) -eq 0 ]] || skip "a minimal system can only be made as root"
git -C "$root" -c safe.directory='*' ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1 || skip "$root is no git checkout: its files are not known"
if ! command -v mmdebstrap >/dev/null; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap; } </dev/null >/dev/null 2>&1 ||
    skip "there is no mmdebstrap, and it cannot be installed"
fi
# Mounts of our own: whatever way this ends, they end with it.
if [[ ${DATALINE_BARE_INSIDE:-} != "$PPID" ]]; then
  unshare --mount --propagation private true 2>/dev/null || skip "no mounts can be made here"
  DATALINE_BARE_INSIDE=$$ unshare --mount --propagation private bash "$0" "${words[@]}"
  exit
fi

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/dataline-bare.XXXXXX")
finish() {
  umount -R "$scratch"/*/{proc,sys,dev/pts,dev/shm,cache} 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap finish EXIT
mkdir "$scratch/objects"
began=$SECONDS

# ---- How this machine reaches packages: its mirrors of this suite, apt's settings, proxies, name servers.

mirrors() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
    awk -v suite="$suite" '($2 == suite || index($2, suite "-") == 1) && $3 == "main" { print "deb " $1 " " $2 " " $3 }' | sort -u
}
{
  apt-config dump | grep '^Acquire::' | grep -v '^Acquire::[A-Za-z]* "";$' || true
  [[ -z ${http_proxy:-} ]] || echo "Acquire::http::Proxy \"$http_proxy\";"
  [[ -z ${https_proxy:-} ]] || echo "Acquire::https::Proxy \"$https_proxy\";"
} >"$scratch/apt.conf"
mapfile -t sources < <(mirrors)
hooks=()
for file in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/ssl/certs/ca-certificates.crt; do
  [[ -e $file ]] && hooks+=(--setup-hook="mkdir -p \"\$1${file%/*}\" && cp -rL $file \"\$1${file%/*}\"")
done
# The same for pip, cargo and Go: variables that say where and by what certificates, and settings. The certificates lie where
# installing Debian's own does not write over them.
registries=()
while IFS= read -r -d '' variable; do
  if [[ $variable =~ ^(https?|all|no)_proxy=|^(HTTPS?|ALL|NO)_PROXY=|^PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)= ||
    $variable =~ ^GO(PROXY|SUMDB|NOSUMDB|PRIVATE|NOPROXY|INSECURE)=|^CARGO_(HTTP|NET|REGISTR|SOURCE)[A-Z_]*= ]]; then
    registries+=("$variable")
  fi
done < <(env -0)
if [[ -e /etc/ssl/certs/ca-certificates.crt ]]; then
  hooks+=(--setup-hook="cp -L /etc/ssl/certs/ca-certificates.crt \"\$1/etc/registries.crt\"")
  for variable in SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CARGO_HTTP_CAINFO GIT_SSL_CAINFO; do registries+=("$variable=/etc/registries.crt"); done
fi
for file in /etc/pip.conf "${HOME:-/root}"/{.config/pip/pip.conf,.pip/pip.conf,.cargo/config.toml,.cargo/credentials.toml,.config/go/env,.netrc}; do
  place=${file/#"${HOME:-/root}"//root}
  [[ -e $file ]] && hooks+=(--setup-hook="mkdir -p \"\$1${place%/*}\" && cp -L $file \"\$1$place\"")
done
if ! mmdebstrap --quiet --variant=minbase --format=tar --aptopt="$scratch/apt.conf" "${hooks[@]}" "$suite" "$scratch/base.tar" "${sources[@]}" \
  >"$scratch/base.log" 2>&1; then
  tail -n 5 "$scratch/base.log"
  skip "no minimal system of $suite can be made (is the package registry in reach?)"
fi
echo "bare: a minimal system of $suite after $((SECONDS - began)) s"

# ---- Systems.

# system NAME: unpacks one to $scratch/NAME, with the tree where it lies here too.
system() {
  local at=$scratch/$1
  mkdir -p "$at"
  tar -C "$at" -xf "$scratch/base.tar"
  cp -L /etc/resolv.conf /etc/hosts "$at/etc/"
  mount -t proc proc "$at/proc"
  mount -t sysfs -o ro sysfs "$at/sys"
  mount -t devpts devpts "$at/dev/pts"
  mkdir -p "$at/dev/shm"
  mount -t tmpfs tmpfs "$at/dev/shm"
  mkdir -p "$at/cache"
  mount --bind "${cache:-$scratch/objects}" "$at/cache"
  mkdir -p "$at$root"
  git -C "$root" -c safe.directory='*' ls-files -z | (cd "$root" && while IFS= read -r -d '' file; do [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"; done) |
    tar -C "$root" --no-recursion --owner=0 --group=0 --null -T - -c | tar -C "$at$root" -x
  inside "$1" root apt-get update -qq >/dev/null || true
  inside "$1" root apt-get install -y -qq --no-install-recommends ccache >"$scratch/ccache.log" 2>&1 || { tail -n 5 "$scratch/ccache.log"; fail "ccache cannot be installed"; }
}

# inside NAME USER command...: nothing of this machine's environment goes along, but how registries and its cache are used. An object is taken
# out of the cache where all that goes into it is the same there: compiler, flags, sources and every header. The second system
# gets what the first compiled; a cache that was named is never written.
inside() {
  local name=$1 user=$2 home=/home/$2
  local through=(CCACHE_DIR=/cache CCACHE_TEMPDIR=/tmp CCACHE_DEPEND="${CCACHE_DEPEND:-}" CCACHE_NOHASHDIR=1 CCACHE_BASEDIR="${CCACHE_BASEDIR:-}"
    CCACHE_SLOPPINESS=pch_defines,time_macros,locale CCACHE_IGNOREOPTIONS="${CCACHE_IGNOREOPTIONS:-}"
    CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache)
  shift 2
  [[ $user != root ]] || home=/root
  if [[ -n $cache || $user != root ]]; then through+=(CCACHE_READONLY=1); fi
  chroot "$scratch/$name" /usr/sbin/runuser -u "$user" -- env -i -C "$root" "${registries[@]}" HOME="$home" USER="$user" LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${through[@]}" "$@" </dev/null
}

# logged NAME command...: shows its lines as they come, and keeps them in $scratch/NAME.log.
logged() {
  local log=$scratch/$1.log
  shift
  "$@" 2>&1 | tee "$log" | sed -u 's/^/  /'
}

# ---- The second command. It says itself what it skips: there is no git here, so its own bare system is left out.

if [[ -n $tests ]]; then
  echo "bare: as root: tests/run.sh ${only[*]}"
  system root
  logged tests inside root root tests/run.sh "${only[@]}" || fail "as root: tests/run.sh failed"
  echo "bare: all passed in $((SECONDS - began)) s, $(du -smx "$scratch/root" | cut -f 1) MiB on disk with all that was installed and built"
  exit 0
fi

# ---- As root.

echo "bare: as root: examples/run.sh ${quick[*]}"
job=$SECONDS
system root
logged root inside root root examples/run.sh "${quick[@]}" || fail "as root: examples/run.sh failed"
grep -qx 'resume: weights identical' "$scratch/root.log" || fail "as root: its output does not say that the weights are identical"
echo "bare: as root: $((SECONDS - job)) s, $(du -smx "$scratch/root" | cut -f 1) MiB on disk with all that was installed and built"

# ---- As a user with sudo; half of GoogleTest; a tree that is read only, for it is root's.

echo "bare: as a user with sudo, libgtest-dev without libgmock-dev, a read-only tree"
job=$SECONDS
system user
cp -l "$scratch"/root/var/cache/apt/archives/*.deb "$scratch/user/var/cache/apt/archives/" 2>/dev/null || true
inside user root apt-get install -y -qq --no-install-recommends sudo libgtest-dev >/dev/null
inside user root useradd --create-home somebody
echo 'somebody ALL=(ALL) NOPASSWD: ALL' >"$scratch/user/etc/sudoers.d/somebody"

if inside user somebody examples/run.sh --quick >"$scratch/refused.log" 2>&1; then fail "run.sh did not mind a tree that it cannot write to"; fi
tail -n 1 "$scratch/refused.log" | grep -q 'run.sh: .*--build DIR' || { cat "$scratch/refused.log"; fail "a read-only tree: expected one line that says --build DIR"; }
logged user inside user somebody examples/run.sh --quick --build /home/somebody/built || fail "as a user: examples/run.sh failed"
grep -qx 'resume: weights identical' "$scratch/user.log" || fail "as a user: its output does not say that the weights are identical"
[[ ! -e $scratch/user$root/build ]] || fail "as a user: something was written into the tree"
inside user somebody /home/somebody/built/bin/dataline version >"$scratch/version.log"
if grep '^missing' "$scratch/version.log"; then fail "run.sh left out what Debian has"; fi

# What it installed is enough for the second line of the README's section on building, too: tests that cannot be built are left
# out, and it is said what to install for them. There is no Python here.
chroot "$scratch/user" bash -c '! command -v python3 && ! command -v make' >/dev/null || fail "the system is not bare: it has python3 or make"
inside user somebody cmake --preset release -B /home/somebody/all >"$scratch/configure.log" 2>&1 || { tail -n 20 "$scratch/configure.log"; fail "cmake --preset release failed"; }
grep -q 'libgmock-dev' "$scratch/configure.log" || fail "cmake --preset release does not say that libgmock-dev is missing"
echo "bare: as a user: $((SECONDS - job)) s"
echo "bare: all passed in $((SECONDS - began)) s"
