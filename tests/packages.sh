#!/usr/bin/env bash
# Installs every package as a newcomer does, on a minimal Debian that has neither this tree nor anything it needs, and runs that
# package's quickstart there.
#   tests/packages.sh [debian12|debian13] [--artifacts DIR] [NAME...]
#     NAME             cpp, python, rust, go, julia (all of them)
#     --artifacts DIR  where the packages are; without it they are made first (bindings/NAME/package.sh DIR)
# tests/packages/NAME.sh defines `try_NAME ARTIFACTS`, which makes its systems with `system NAME --without-tree`, copies the
# artifacts in, installs them with the ecosystem's own tool and calls `first_batch WHAT command...`, whose time from nothing
# is a row of the table at the end. Ends with 77 and one line where no system can be made (tests/support/bare_system.sh).
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154  # what bare_system.sh wants and gives
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage='usage: tests/packages.sh [debian12|debian13] [--artifacts DIR] [cpp] [python] [rust] [go] [julia]'
suite=bookworm artifacts='' names=() cache=''
words=("$@")
while [[ $# -gt 0 ]]; do
  case $1 in
    debian12) suite=bookworm ;;
    debian13) suite=trixie ;;
    --artifacts) artifacts=${2:-} && shift ;;
    --artifacts=*) artifacts=${1#--artifacts=} ;;
    cpp | python | rust | go | julia) names+=("$1") ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift
done
[[ ${#names[@]} -gt 0 ]] || names=(cpp python rust go julia)
me=packages
# shellcheck source=tests/support/bare_system.sh
. "$root/tests/support/bare_system.sh"

if [[ -z $artifacts ]]; then
  artifacts=$scratch/artifacts
  mkdir "$artifacts"
  for name in "${names[@]}"; do
    logged "make-$name" "$root/bindings/$name/package.sh" "$artifacts" || fail "bindings/$name/package.sh failed"
  done
fi
artifacts=$(cd "$artifacts" && pwd)

# Sets `cpu` to the seconds of processors that this shell's children have used: `times` tells no other shell.
cpu_seconds() {
  times >"$scratch/times"
  cpu=$(awk 'NR == 2 { split($1 "m" $2, part, /[ms]+/); print int(part[1] * 60 + part[2] + part[3] * 60 + part[4]) }' "$scratch/times")
}
# first_batch WHAT command...: runs it (its output is shown), and keeps how long it took. The processors' time tells what it would
# take where nothing else runs.
table=''
first_batch() {
  local what=$1 started=$SECONDS cpu before line
  shift
  cpu_seconds
  before=$cpu
  logged "first_batch" "$@" || fail "$what failed"
  cpu_seconds
  line=$(printf '%-44s %4d s, %4d s of processors' "$what" $((SECONDS - started)) $((cpu - before)))
  echo "packages: $line"
  table+=$line$'\n'
}

for name in "${names[@]}"; do
  echo "packages: $name"
  # shellcheck source=/dev/null
  . "$root/tests/packages/$name.sh"
  "try_$name" "$artifacts"
done
echo "packages: from nothing to the first batch ($suite, $(nproc) cores)"
printf '%s' "$table" | sed 's/^/  /'
echo "packages: all passed in $((SECONDS - began)) s"
