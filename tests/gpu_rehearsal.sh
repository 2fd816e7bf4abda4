#!/usr/bin/env bash
# tests/gpu.sh as a machine with a GPU runs it, without one: packed here, then in a minimal Debian that has what such a machine
# has (a compiler, CMake, Python; no CUDA toolkit, no git, no network), with the fake driver in the real one's place. So the
# scripts are known to work before a GPU's time is spent on them. It measures nothing, and what the scripts write must say so.
#   tests/gpu_rehearsal.sh [--ccache DIR] [--out DIR]
#     --ccache DIR  as of tests/bare.sh
#     --out DIR     keeps what the run on the "machine" wrote
# Needs build/release (the fake driver is built there). Ends with 77 and one line where no system can be made
# (tests/support/bare_system.sh) or there is nothing to compile the kernels with.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154  # what bare_system.sh wants and gives
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
suite=bookworm cache='' kept='' words=("$@") me=gpu-rehearsal
while [[ $# -gt 0 ]]; do
  case $1 in
    --ccache) cache=${2:-} && shift ;;
    --out) kept=$(mkdir -p "${2:?--out wants a folder}" && cd "$2" && pwd) && shift ;;
    *) sed -n '5,7s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[[ -f $root/build/release/CMakeCache.txt ]] || { echo "skipped: there is no build/release to build the fake driver in"; exit 77; }
"$root/core/device/kernels/toolkit.sh" --no-install >/dev/null 2>&1 || { echo "skipped: no nvcc for the kernels of --pack"; exit 77; }
# shellcheck source=tests/support/bare_system.sh
. "$root/tests/support/bare_system.sh"

# ---- Here: the driver, and the pack.

log=$scratch/log
cmake --build "$root/build/release" --target fake_cuda_driver >"$log" 2>&1 || { tail -n 20 "$log"; fail "the fake driver does not build"; }
"$root/tests/gpu.sh" --pack >"$log" 2>&1 || { tail -n 20 "$log"; fail "tests/gpu.sh --pack failed"; }
grep -q 'left out' "$log" && { cat "$log"; fail "the pack is not whole"; }
tail -n 1 "$log" | sed 's/^/  /'
echo "$me: packed after $((SECONDS - began)) s"

# ---- The machine.

system machine
inside machine root apt-get install -y -qq --no-install-recommends cmake ninja-build g++ python3-dev python3-pip python3-numpy \
  >"$log" 2>&1 || { tail -n 5 "$log"; fail "the machine's packages cannot be installed"; }
at=$scratch/machine
mkdir -p "$at$root/build" "$at/out"
cp -r "$root/build/carry" "$at$root/build/"
cp "$root/build/release/driver/libcuda.so.1" "$at/usr/lib/x86_64-linux-gnu/"
# Two cards, so that the second one's suite runs too: the fake has one device, whichever is asked for.
cat >"$at/usr/bin/nvidia-smi" <<'TOOL'
#!/bin/sh
case "$*" in
  -L) printf 'GPU 0: Fake Device\nGPU 1: Fake Device\n' ;;
  *--query-gpu=*) echo 'Fake Device, 0.0, 0 MiB, 0 W' ;;
  *) echo "nvidia-smi: unknown: $*" >&2; exit 1 ;;
esac
TOOL
# Runs the program, whose kernels are the fake's.
cat >"$at/usr/bin/compute-sanitizer" <<'TOOL'
#!/bin/sh
[ "$1" = --tool ] && [ "$3" = --error-exitcode ] || { echo "compute-sanitizer: unknown: $*" >&2; exit 1; }
case $2 in memcheck | racecheck | initcheck | synccheck) ;; *) echo "compute-sanitizer: no tool $2" >&2; exit 1 ;; esac
shift 4
"$@" || exit
echo '========= ERROR SUMMARY: 0 errors'
TOOL
chmod +x "$at"/usr/bin/{nvidia-smi,compute-sanitizer}
chroot "$at" /sbin/ldconfig
chroot "$at" bash -c '! command -v git && ! command -v nvcc && ! python3 -c "import pytest" 2>/dev/null' || fail "the machine has what it should not"
echo "$me: a machine after $((SECONDS - began)) s"

# A call there: without a network, ten minutes.
machine() { logged calls inside machine root unshare --net timeout 600 env DATALINE_COMMIT=rehearsal "$@"; }

expect() { # TEXT FILE: a line of the file has it
  grep -Eq -- "$1" "$at/out/$2" || { tail -n 40 "$at/out/log.txt" 2>/dev/null; fail "$2 does not say: $1"; }
}

job=$SECONDS
machine tests/gpu.sh --out /out || { cp -r "$at/out/." "${kept:-$at/out/}" 2>/dev/null || true; tail -n 60 "$at/out/log.txt"; fail "tests/gpu.sh failed"; }
echo "$me: tests/gpu.sh took $((SECONDS - job)) s"
[[ -z $kept ]] || cp -r "$at/out/." "$kept/"

# What came back: a few small files, and what they say.
[[ $(find "$at/out" -type f | wc -l) -le 8 && $(du -sm "$at/out" | cut -f 1) -le 16 ]] || fail "what comes back is more than eight files or 16 MiB"
[[ $(cd "$at/out" && echo *) == "bench.json log.txt tests.txt" ]] || fail "in --out DIR: $(ls "$at/out")"
[[ -z $(find "$at$root/bench/results" -newer "$at/usr/bin/nvidia-smi" -type f) ]] || fail "a run with --out wrote into bench/results"
expect '^driver: fake, NO MEASUREMENT; commit rehearsal$' tests.txt
expect '^driver: fake, NO MEASUREMENT$' tests.txt
expect 'kernels: kernels-[0-9a-f]+-cuda[0-9.]+-sm[0-9.]+\.fatbin, compiled elsewhere' tests.txt
expect '  device: [1-9][0-9]* passed, 0 failed, ' tests.txt
expect '  device-second: [1-9][0-9]* passed, 0 failed, ' tests.txt
for tool in memcheck racecheck initcheck; do expect "  passed $tool\$" tests.txt; done
expect '  passed python$' tests.txt
expect '  skipped torch: no PyTorch' tests.txt
expect '  passed bench$' tests.txt
expect '"driver": "fake"' bench.json
if grep -Eq 'device_(fake_[a-z]+|on_real_driver[a-z_]*)\.[A-Z]' "$at/out/tests.txt" "$at/out/log.txt"; then fail "a suite about the fake was run"; fi

# A second call finds the build, and one whose time is over says what it left out.
machine tests/gpu.sh --out /out --only sanitizer || fail "a second call failed"
expect '  passed memcheck$' tests.txt
machine tests/gpu.sh --out /out --only sanitizer,bench --limit -1 || fail "a call whose time is over failed"
expect '  skipped bench: .*--only bench' tests.txt

# Without kernels nothing was looked at, and nothing passed.
mv "$at$root/build/carry" "$at$root/build/gone"
machine tests/gpu.sh --out /out --only build,sanitizer || fail "a call without kernels failed"
expect 'kernels: none: no nvcc' tests.txt
expect '  skipped sanitizer: this build has no kernels' tests.txt

# Nothing can be taken for a result where no --out says where it goes; no driver is no failure.
if inside machine root tests/gpu.sh --only build >"$log" 2>&1; then fail "the fake's results went into bench/results"; fi
grep -q 'the driver is the fake one' "$log" || { cat "$log"; fail "tests/gpu.sh without --out does not say that the driver is the fake one"; }
rm "$at/usr/lib/x86_64-linux-gnu/libcuda.so.1"
status=0
inside machine root tests/gpu.sh >"$log" 2>&1 || status=$?
{ [[ $status == 77 ]] && grep -q '^skipped: no GPU: ' "$log"; } || { cat "$log"; fail "without a driver tests/gpu.sh ended with $status"; }
echo "$me: all passed in $((SECONDS - began)) s; the driver was the fake one, nothing was measured"
