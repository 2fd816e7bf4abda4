#!/usr/bin/env bash
# What examples/run.sh asks of CMake, and what it says, with a cmake that only takes notes. What a machine lacks is not tested
# here but in a bare one (tests/bare.sh).
#   run_sh.sh ROOT
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/dataline run.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
fail() { echo "$*"; cat "$scratch/out"; exit 1; }

mkdir "$scratch/bin"
cat >"$scratch/bin/cmake" <<'SH'
#!/usr/bin/env bash
if [[ $1 != --build ]]; then echo "$*" >>"$NOTES"; exit "${CONFIGURED:-0}"; fi
for file in $(seq 40); do echo "[$file/40] Building CXX object $file.o"; done
echo "c++: the compiler is tired"
exit 1
SH
chmod +x "$scratch/bin/cmake"
export NOTES="$scratch/notes"
# job FOLDER: runs until the build, which fails.
job() {
  rm -f "$NOTES"
  if PATH="$scratch/bin:$PATH" "$root/examples/run.sh" --quick --build "$1" >"$scratch/out" 2>&1 </dev/null; then fail "it went on after a build that failed"; fi
}

# A folder that nobody configured: nothing but what is built, whatever is installed.
job "$scratch/fresh"
grep -q -- '-DDATALINE_TESTS=OFF' "$NOTES" && grep -q -- '-DDATALINE_BENCH=OFF' "$NOTES" || fail "configured was: $(cat "$NOTES")"
# Off a terminal the build is seen to go on, in ten lines; one that fails ends with its own last words and one line.
[ "$(grep -c '^built [0-9]* of 40 files, [0-9]* s$' "$scratch/out")" -eq 10 ] || fail "expected ten lines of progress"
grep -q '^c++: the compiler is tired$' "$scratch/out" || fail "the build's own last line is not shown"
tail -n 1 "$scratch/out" | grep -q '^run.sh: building failed; ' || fail "the last line is not run.sh's"
[ "$(grep -c 'Building CXX' "$scratch/fresh/run.log")" -eq 40 ] || fail "the log is not whole"

# A folder that was configured, with tests for one: not a word of ours changes that.
mkdir "$scratch/configured"
touch "$scratch/configured/build.ninja"
echo 'DATALINE_TESTS:BOOL=ON' >"$scratch/configured/CMakeCache.txt"
job "$scratch/configured"
[ "$(cat "$NOTES")" = "-S $root -B $scratch/configured" ] || fail "a configured folder was configured by: $(cat "$NOTES")"
tail -n 1 "$scratch/out" | grep -q 'was configured before: remove it, or name another folder with --build DIR' || fail "the last line gives no advice"

# One whose configuration failed is nobody's.
rm "$scratch/configured/build.ninja"
job "$scratch/configured"
grep -q -- '-DDATALINE_TESTS=OFF' "$NOTES" || fail "configured was: $(cat "$NOTES")"
CONFIGURED=1 job "$scratch/fresh"
tail -n 1 "$scratch/out" | grep -q '^run.sh: configuring failed; ' || fail "the last line is not run.sh's"

# Where it cannot write it says so at once, and what to do.
job /proc/dataline
[ ! -e "$NOTES" ] || fail "it configured"
[ "$(tail -n 1 "$scratch/out")" = 'run.sh: /proc/dataline cannot be written to: name a folder that can, --build DIR' ] || fail "it says something else"
