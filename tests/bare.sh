#!/usr/bin/env bash
# The README's two commands, as a newcomer gives them: on a minimal Debian that knows neither a compiler nor this project.
# mmdebstrap makes the system, a copy of the tracked files is its only content, and the command runs in it, by chroot.
#   tests/bare.sh [debian12|debian13] [--user | --main | --tests] [--only PART,PART...] [--ccache DIR]
#     --user        the first command as a user with sudo alone
#     --main        the first command, examples/run.sh, with the whole main job instead of a quick one, and on odd machines too
#     --tests       the second command, tests/run.sh, whole, as root
#     --only PARTS  with --tests: these parts of it
#     --ccache DIR  compiled objects may come out of this cache of ccache, which is only read; without it everything is compiled
#                   here once
# The first command runs twice, in systems of their own: as root; then as a user with sudo, where the tree cannot be written to
# and libgtest-dev is there without libgmock-dev. With --main also: without network once all is installed, in a path with a
# space; with a compiler and nothing else, none of the optional libraries to be had; with clang alone. debian13 brings gcc 14.
# Ends with 77 and one line where no system can be made (tests/support/bare_system.sh).
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154  # what bare_system.sh wants and gives
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage='usage: tests/bare.sh [debian12|debian13] [--user | --main | --tests] [--only PART,PART...] [--ccache DIR]'
suite=bookworm quick=(--quick) user_alone='' tests='' only=() cache=''
words=("$@")
while [[ $# -gt 0 ]]; do
  case $1 in
    debian12) suite=bookworm ;;
    debian13) suite=trixie ;;
    --user) user_alone=yes quick=(--quick) ;;
    --main) user_alone='' quick=() ;;
    --tests) tests=yes ;;
    --only) only=(--only "${2:-}") && shift ;;
    --only=*) only=(--only "${1#--only=}") ;;
    --ccache) cache=${2:-} && shift ;;
    --ccache=*) cache=${1#--ccache=} ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift
done
me=bare
# shellcheck source=tests/support/bare_system.sh
. "$root/tests/support/bare_system.sh"

# ---- The second command. It says itself what it skips: there is no git here, so its own bare system is left out.

if [[ -n $tests ]]; then
  echo "bare: as root: tests/run.sh ${only[*]}"
  system root
  logged tests inside root root tests/run.sh "${only[@]}" || fail "as root: tests/run.sh failed"
  echo "bare: all passed in $((SECONDS - began)) s, $(du -smx "$scratch/root" | cut -f 1) MiB on disk with all that was installed and built"
  exit 0
fi

# The words that end a run of the first command which did its whole job: job NAME WHAT command...
job() {
  local name=$1 what=$2
  shift 2
  logged "$name" "$@" || fail "$what: examples/run.sh failed"
  grep -qx 'resume: weights identical' "$scratch/$name.log" || fail "$what: its output does not say that the weights are identical"
}
# packages_of FROM TO: what was fetched for one system need not be fetched for another.
packages_of() { cp -l "$scratch/$1"/var/cache/apt/archives/*.deb "$scratch/$2/var/cache/apt/archives/" 2>/dev/null || true; }

# ---- As root.

if [[ -z $user_alone ]]; then
  echo "bare: as root: examples/run.sh ${quick[*]}"
  from=$SECONDS
  system root
  job root "as root" inside root root examples/run.sh "${quick[@]}"
  echo "bare: as root: $((SECONDS - from)) s, $(du -smx "$scratch/root" | cut -f 1) MiB on disk with all that was installed and built"
fi

# ---- As a user with sudo; half of GoogleTest; a tree that is read only, for it is root's.

echo "bare: as a user with sudo, libgtest-dev without libgmock-dev, a read-only tree"
from=$SECONDS
system user
[[ -n $user_alone ]] || packages_of root user
inside user root apt-get install -y -qq --no-install-recommends sudo libgtest-dev >/dev/null
inside user root useradd --create-home somebody
echo 'somebody ALL=(ALL) NOPASSWD: ALL' >"$scratch/user/etc/sudoers.d/somebody"

if inside user somebody examples/run.sh --quick >"$scratch/refused.log" 2>&1; then fail "run.sh did not mind a tree that it cannot write to"; fi
tail -n 1 "$scratch/refused.log" | grep -q 'run.sh: .*--build DIR' || { cat "$scratch/refused.log"; fail "a read-only tree: expected one line that says --build DIR"; }
# The build folder lies where everybody's does, so that a cache's objects fit; --main has it elsewhere, too.
inside user root install -d -o somebody "$root/build"
job user "as a user" inside user somebody examples/run.sh --quick
written=$(find "$scratch/user$root" -path "$scratch/user$root/build" -prune -o -newer "$scratch/refused.log" -type f -print)
[[ -z $written ]] || fail "as a user: something was written into the tree: $written"
inside user somebody build/release/bin/dataline version >"$scratch/version.log"
if grep '^missing' "$scratch/version.log"; then fail "run.sh left out what Debian has"; fi

# What it installed is enough for cmake --preset release, too: tests that cannot be built are left
# out, and it is said what to install for them. There is no Python here.
chroot "$scratch/user" bash -c '! command -v python3 && ! command -v make' >/dev/null || fail "the system is not bare: it has python3 or make"
inside user somebody cmake --preset release -B /home/somebody/all >"$scratch/configure.log" 2>&1 || { tail -n 20 "$scratch/configure.log"; fail "cmake --preset release failed"; }
grep -q 'libgmock-dev' "$scratch/configure.log" || fail "cmake --preset release does not say that libgmock-dev is missing"
echo "bare: as a user: $((SECONDS - from)) s"
[[ ${#quick[@]} -eq 0 ]] || { echo "bare: all passed in $((SECONDS - began)) s"; exit 0; }

# ---- Odd machines.

echo "bare: without network, in a path with a space"
from=$SECONDS
inside root root mkdir -p "/srv/a tree"
inside root root cp -r "$root" "/srv/a tree/dataline"
inside root root rm -rf "/srv/a tree/dataline/build"
job offline "without network" inside root root unshare --net -- "/srv/a tree/dataline/examples/run.sh" --quick
if grep -q '^installing' "$scratch/offline.log"; then fail "without network: it wanted to install more than it had installed before"; fi
echo "bare: without network: $((SECONDS - from)) s"

echo "bare: a compiler, CMake and Ninja, and no library to be had"
from=$SECONDS
system few
packages_of root few
inside few root apt-get install -y -qq --no-install-recommends g++ cmake ninja-build pkg-config >/dev/null
inside few root apt-get clean
job few "without libraries" inside few root unshare --net -- examples/run.sh --quick
grep -q '^these libraries are missing: libhwy-dev .*libmimalloc-dev$' "$scratch/few.log" || fail "without libraries: it does not say which are missing"
grep -q '^built without ' "$scratch/few.log" || fail "without libraries: it does not say what it was built without"
echo "bare: without libraries: $((SECONDS - from)) s"

echo "bare: with clang alone"
from=$SECONDS
system clang
packages_of root clang
inside clang root apt-get install -y -qq --no-install-recommends clang >/dev/null
job clang "with clang alone" inside clang root examples/run.sh --quick --build /srv/built
[[ ! -e $scratch/clang$root/build ]] || fail "--build: something was written into the tree"
chroot "$scratch/clang" bash -c '! command -v g++' >/dev/null || fail "with clang alone: g++ was installed"
echo "bare: with clang alone: $((SECONDS - from)) s"
echo "bare: all passed in $((SECONDS - began)) s"
