#!/usr/bin/env bash
# All the proof in one command. Everyday: at most 35 minutes on two cores, from nothing.
#   tests/run.sh [--long] [--only part,part...]
# Parts: setup release asan tsan interleave bindings launch examples docs bare bench tidy, and packages, compilers, aarch64, windows, gpu, mutants, fuzz with
# --long. A part that fails does not stop the later ones.
# The last line is `N passed, N failed, N skipped`; what was skipped is listed above with its reason.
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
exec </dev/null

long=0 only=""
while [ $# -gt 0 ]; do
  case $1 in
    --long) long=1 ;;
    --only) only=${2:-} && shift ;;
    --only=*) only=${1#--only=} ;;
    *) sed -n '2,7s/^# //p' "$0"; exit 2 ;;
  esac
  shift
done

languages="rust go julia python"  # those with a gate of their own; C++ and the shell are in the release build's tests
jobs=$(nproc 2>/dev/null || echo 2)
logs=build/test-logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0 summary=""

tell() { printf '%s\n' "$*"; }
count_pass() { passed=$((passed + 1)); }
count_fail() { failed=$((failed + 1)); tell "  FAILED $*"; }
count_skip() { skipped=$((skipped + 1)); tell "  skipped $*"; }

# quietly NAME command...: output goes to a log; its end is shown when the command fails.
quietly() {
  local log=$logs/$1.log
  shift
  "$@" >"$log" 2>&1 && return 0
  local status=$?
  tell "  $* ended with $status; the end of $log:"
  tail -n 40 "$log" | sed 's/^/    /'
  return $status
}

# count NAME STATUS: of one thing that passed, failed, or (77) is skipped.
count() {
  case $2 in
    0) count_pass ;;
    77) count_skip "$1: $(grep -m1 -i skipped "$logs/$1.log")" ;;
    *) count_fail "$1" ;;
  esac
}

check() {
  quietly "$@"
  count "$1" $?
}

# build PRESET [target...]: configures and builds; warnings are errors here, not for those who only build.
# What others may have switched off in a shared build folder is asked for by name, and the tests must be there: a build
# that leaves them out would pass.
build() {
  local preset=$1 launcher=""
  shift
  command -v ccache >/dev/null && launcher=ccache
  # The kernels, where setup.sh found or got a compiler; for one generation of GPUs everyday, where only their twins run.
  # The sanitized builds take those of the release build: 40 seconds.
  local kernels=() nvcc made=""
  # shellcheck disable=SC2012
  [ "$preset" = release ] || made=$(ls -t build/release/core/device/kernels-*.fatbin 2>/dev/null | head -n 1)
  if [ -n "$made" ]; then
    kernels=(-DDATALINE_KERNELS="$PWD/$made")
  elif nvcc=$(core/device/kernels/toolkit.sh --no-install 2>/dev/null); then
    kernels=(-DDATALINE_NVCC="$nvcc" -DDATALINE_KERNELS=)
    [ "$preset" = release ] && [ $long -eq 1 ] || kernels+=(-DDATALINE_CUDA_ARCHITECTURES=90)
  fi
  # Programs are linked in a quarter of the time; the libraries by the linker that they ship by.
  local linker=()
  if command -v ld.lld >/dev/null; then linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld); fi
  # Many files at a time, which takes a third; with --long the release build shows that each includes what it uses.
  local unity=ON
  local whole=ON  # a tenth off the tests' time; with --long each case shows that it needs no other before it
  if [ "$preset" = release ] && [ $long -eq 1 ]; then unity=OFF whole=OFF; fi
  quietly "$preset-configure" cmake --preset "$preset" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DDATALINE_RAPIDCHECK="$rapidcheck" \
    -DDATALINE_TESTS=ON -DDATALINE_BENCH="$([ "$preset" = release ] && echo ON || echo OFF)" -DDATALINE_CLI=ON \
    -DDATALINE_TESTS_REQUIRED=ON -DDATALINE_WHOLE_PROGRAMS=$whole -DDATALINE_UNITY=$unity "${kernels[@]}" "${linker[@]}" \
    -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" || return 1
  quietly "$preset-build" cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
}

# tests PRESET [label...]: runs the tests of those labels (all without one) and adds to the counts.
tests() {
  local preset=$1 counts filter=()
  local results="$PWD/$logs/$preset.xml"
  shift
  [ $# -eq 0 ] || filter=(-L "^($(IFS='|'; echo "$*"))\$")
  # The thread sanitizer needs addresses as they were laid out before kernels randomised 32 bits of them.
  local fixed=()
  if [ "$preset" = tsan ] && setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
  rm -rf "$results" "build/$preset/tests/told"
  "${fixed[@]}" ctest --preset "$preset" "${configuration[@]}" -j "$((jobs + 1))" --output-junit "$results" "${filter[@]}" >"$logs/$preset-ctest.log" 2>&1
  if [ ! -f "$results" ]; then
    count_fail "$preset: ctest gave no results, see $logs/$preset-ctest.log"
    return
  fi
  python3 tests/support/count_results.py "$results" "$logs/$preset.counts" "build/$preset/tests/told" || { count_fail "$preset: results unreadable"; return; }
  read -r -a counts <"$logs/$preset.counts"
  if [ "${counts[1]}" -gt 0 ]; then grep -B2 -A40 -E '\*\*\*(Failed|Timeout|Exception)' "$logs/$preset-ctest.log" | head -n 200; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  [ $((counts[0] + counts[1])) -gt 0 ] || count_fail "$preset: no test ran"
}

# Folders of tests/ that exist, out of those asked for.
folders() { local name; for name in "$@"; do [ ! -f "tests/$name/CMakeLists.txt" ] || printf '%s ' "$name"; done; }

# sanitized PRESET folder...: builds and runs those folders' tests.
sanitized() {
  local preset=$1 labels targets
  shift
  # shellcheck disable=SC2207
  labels=($(folders "$@"))
  labels=("${labels[@]##*/}")
  targets=("${labels[@]/#/tests_}")
  if build "$preset" "${targets[@]}"; then tests "$preset" "${labels[@]}"; else count_fail "$preset: build"; fi
}

# 77: a toolchain cannot be had here. Its own gate says so when its turn comes.
part_setup() {
  local all=()
  [ $long -eq 0 ] || all=(--long)
  tests/setup.sh "${all[@]}" || count_fail setup
  local language
  for language in $languages; do
    bindings/"$language"/setup.sh >"$logs/setup-$language.log" 2>&1 || {
      [ $? -eq 77 ] || { tail -n 20 "$logs/setup-$language.log"; count_fail "setup-$language"; }
    }
  done
}

part_release() {
  # The oracles of cli_pytorch, cli_webdataset, cli_streaming, cli_litdata and cli_tensorflow; without them those tests skip, and say so.
  if [ $long -eq 1 ]; then quietly peers bench/peers/setup.sh torch streaming litdata tf; fi
  if build release; then tests release; else count_fail "release: build"; return; fi
  # Bottlenecks planted for `doctor`: minutes, on a machine that is otherwise quiet.
  if [ $long -eq 1 ]; then check plants bench/doctor/plants.py --program build/release/bin/dataline; fi
}

part_asan() {
  local more=()
  [ $long -eq 0 ] || more=(extensions fuzz capi/kept)  # the last: structs of other releases once more
  sanitized asan base memory source order transform batch device loader write capi faults "${more[@]}"
}

part_tsan() {
  if [ $long -eq 1 ]; then sanitized tsan base memory order batch device loader write capi extensions faults; else sanitized tsan base batch device loader write; fi
}

# The loader's threads under a scheduler that searches their interleavings. What the long search did is kept in tests/results.
part_interleave() {
  sanitized interleave interleave
  [ $long -eq 1 ] || return 0
  check interleave-long build/interleave/tests/interleave_loader --schedules 20000000 --seed "$(date +%s)00000" --jobs "$jobs"
  cp "$logs/interleave-long.log" "tests/results/$(date +%F)-interleave.txt"
}

# Each language's own gate, on the release build, and then all of them at one job. Status 77: a toolchain is not here.
part_bindings() {
  if [ ! -x build/release/bin/dataline ]; then count_skip "bindings: there is no release build to bind to"; return; fi
  local library=(env "DATALINE_LIB_DIR=$PWD/build/release/lib" "DATALINE_BIN=$PWD/build/release/bin/dataline" "CARGO_TARGET_DIR=$PWD/build/cargo")
  local mnist language quick=(--quick)
  mnist=$(realpath -m "${DATALINE_MNIST:-../shared/data/mnist}")
  if [ -d "$mnist" ]; then library+=("DATALINE_MNIST=$mnist"); fi
  [ $long -eq 0 ] || quick=()
  # Beside Julia, which uses one core for as long as the others take together.
  gate() { quietly "$1" "${library[@]}" "bindings/$1/check.sh" "${quick[@]}"; }
  gate julia >"$logs/julia.told" &
  local julia=$! status
  for language in ${languages/julia/}; do gate "$language"; count "$language" $?; done
  wait $julia
  status=$?
  cat "$logs/julia.told"
  count julia $status
  check languages "${library[@]}" tests/languages/run.sh
}

# Real launchers, and a job that is killed and resized, with ranks that the gates above built. What 200 kills gave is kept.
part_launch() {
  local library=(env "DATALINE_LIB_DIR=$PWD/build/release/lib")
  if [ $long -eq 0 ]; then check launch "${library[@]}" tests/launch/run.sh; return; fi
  check launch "${library[@]}" tests/launch/run.sh --long
  cp "$logs/launch.log" "tests/results/$(date +%F)-launch.txt"
}

part_examples() {
  if [ ! -x examples/run.sh ]; then count_skip "examples: examples/run.sh is not there"; return; fi
  if [ $long -eq 0 ]; then check examples examples/run.sh --quick; return; fi
  check examples examples/run.sh
  check mnist real_mnist
}

# The main job on the real files: 97 % or more, and a resume that gives the same weights.
real_mnist() {
  local data=${DATALINE_MNIST:-../shared/data/mnist} report=$logs/mnist.report
  if [ ! -d "$data" ]; then echo "skipped: the MNIST files are not in $data (DATALINE_MNIST names another folder)"; return 77; fi
  examples/run.sh --data "$data" >"$report" 2>&1 || { tail -n 20 "$report"; return 1; }
  grep -E 'test accuracy|waited for data|resume' "$report"
  grep -q 'resume: weights identical' "$report" &&
    awk '/^test accuracy:/ { best = $3 } END { exit !(best >= 97) }' "$report"
}

# The site, on the release build: built, its links followed, its code blocks run, its pages looked at in a browser. Everyday without blocks that are
# compiled for seconds; the gates of languages run the same loops.
part_docs() {
  local quick=(--quick) library=(env "DATALINE_LIB_DIR=$PWD/build/release/lib" "DATALINE_BIN=$PWD/build/release/bin/dataline")
  if [ ! -x build/release/bin/dataline ]; then count_skip "docs: there is no release build to run"; return; fi
  [ $long -eq 0 ] || quick=()
  check docs "${library[@]}" docs/check.sh "${quick[@]}"
}

# The first command in a system that has nothing yet; with --long on both suites and odd machines, and the second one too.
part_bare() {
  if [ $long -eq 0 ]; then check bare tests/bare.sh --user; return; fi
  check bare tests/bare.sh debian12 --main
  check bare-debian13 tests/bare.sh debian13 --main
  check bare-tests tests/bare.sh --tests
}

# Each package, made here once and installed on bare machines of both suites. What it took is kept.
part_packages() {
  [ $long -eq 1 ] || return 0
  rm -rf build/packages
  check packages bindings/release.sh build/packages --draft --try
  sed -n '/^== dataline /p; /^packages: from nothing/,/^packages: all/p' "$logs/packages.log" >"tests/results/$(date +%F)-packages.txt"
}

# Every compiler of Debian 12 and 13, in C++20 and C++23, and musl. What it took is kept.
part_compilers() {
  [ $long -eq 1 ] || return 0
  check compilers tests/compilers.sh
  cp "$logs/compilers.log" "tests/results/$(date +%F)-compilers.txt"
}

# Another processor, under QEMU.
part_aarch64() { if [ $long -eq 1 ]; then check aarch64 tests/aarch64.sh; fi; }

# Another system, under Wine.
part_windows() { if [ $long -eq 1 ]; then check windows tests/windows.sh; fi; }

# The scripts for a machine with a GPU, on a minimal one without: the fake driver is in the real one's place. Minutes, most of
# them for the pack's kernels and for what the cache does not have.
part_gpu() {
  local cache=()
  [ $long -eq 1 ] || return 0
  if command -v ccache >/dev/null && [ -d "$(ccache -k cache_dir)" ]; then cache=(--ccache "$(ccache -k cache_dir)"); fi
  check gpu tests/gpu_rehearsal.sh "${cache[@]}"
}

# Hours, both; only what is asked for by --long. What they find is kept in tests/results.
part_mutants() { if [ $long -eq 1 ]; then check mutants tests/mutants/run.sh --results "tests/results/$(date +%F)-mutants"; fi; }
part_fuzz() { if [ $long -eq 1 ]; then check fuzz tests/fuzz/run.sh "${DATALINE_FUZZ_SECONDS:-900}"; fi; }

part_bench() {
  if [ ! -x bench/run.sh ]; then count_skip "bench: bench/run.sh is not there"; return; fi
  check bench bench/run.sh --smoke
}

part_tidy() {
  if [ $long -eq 1 ]; then check tidy tests/tidy.sh --all; else check tidy tests/tidy.sh; fi
}

export CCACHE_DEPEND=1  # a compiler tells what it has read: what is not in the cache is not preprocessed first
export CCACHE_NOHASHDIR=1  # objects with debug information are shared between build folders
export CCACHE_SLOPPINESS=pch_defines,time_macros,locale  # else it keeps nothing that a precompiled header is used for
export CCACHE_IGNOREOPTIONS=-Werror  # the same object with and without: all that fills the cache here is compiled with it
rapidcheck="seed=1" configuration=()
if [ $long -eq 1 ]; then
  rapidcheck="seed=$(date +%s) max_success=2000" configuration=(-C long)
  export DATALINE_EVERY_CALL=1  # of the sweeps of failures under the sanitizers too
  tell "property tests: RC_PARAMS=\"$rapidcheck\""
fi

for part in setup release asan tsan interleave bindings launch examples docs bare bench tidy packages compilers aarch64 windows gpu mutants fuzz; do
  case ",${only:-$part}," in *",$part,"*) ;; *) continue ;; esac
  tell "== $part"
  began=$SECONDS before=$failed
  "part_$part"
  took=$((SECONDS - began))
  verdict=ok
  [ "$failed" -eq "$before" ] || verdict=FAILED
  summary+=$(printf '%-10s %5d.%d min  %s' "$part" $((took / 60)) $((took % 60 / 6)) $verdict)$'\n'
done

tell "== summary ($((SECONDS / 60)).$((SECONDS % 60 / 6)) min on $jobs cores)"
printf '%s' "$summary"
tell "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
