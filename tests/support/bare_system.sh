# shellcheck shell=bash disable=SC2154,SC2016,SC2054
# Minimal Debian systems to run the tree in, by chroot: for tests/bare.sh and tests/gpu_rehearsal.sh, which set before they
# source it `me` (what their lines begin with), `root` (the tree), `suite`, `cache` (a folder of ccache, or nothing) and `words`
# (their arguments: they are started once more, in mounts of their own).
# Root is needed, and mmdebstrap (installed when missing); where either cannot be had, or no package registry be reached, it ends
# with 77 and one line. How this machine reaches its registries is handed on to the systems.
# SPDX-License-Identifier: Apache-2.0

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$me: $*"; exit 1; }

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

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/dataline-$me.XXXXXX")
finish() {
  umount -R "$scratch"/*/{proc,sys,dev/pts,dev/shm,cache} 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap finish EXIT
mkdir "$scratch/objects"
began=$SECONDS

# ---- How this machine reaches packages: its mirrors of this suite, apt's settings, proxies, name servers.

# Those of this machine's own suite where it has none of the other: they are mirrors of both.
mirrors() {
  local here
  here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
    awk -v suite="$suite" -v here="$here" '$3 != "main" { next }
      $2 == suite || index($2, suite "-") == 1 { asked["deb " $1 " " $2 " " $3] }
      $2 == here || index($2, here "-") == 1 { sub("^" here, suite, $2); others["deb " $1 " " $2 " " $3] }
      END { for (line in asked) { print line; found = 1 } if (!found) for (line in others) print line }' | sort -u
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
echo "$me: a minimal system of $suite after $((SECONDS - began)) s"

# ---- Systems.

# system NAME [--without-tree]: unpacks one to $scratch/NAME, with the tree where it lies here too. Without the tree it stays as
# Debian makes it.
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
  if [[ ${2:-} == --without-tree ]]; then
    inside "$1" root apt-get update -qq >/dev/null || true
    return
  fi
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
