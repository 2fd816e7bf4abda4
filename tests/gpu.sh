#!/usr/bin/env bash
# All that a real GPU can prove, from a bare checkout and without a network, within ten minutes on 16 cores: the device tests
# on the real driver, the kernels under compute-sanitizer, the Python tests, the examples, and bench/gpu.sh. What was found is
# kept in bench/results with the card, the driver and the commit.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/gpu.sh [--only part,part...]   parts: build device sanitizer python libtorch bench
#   tests/gpu.sh --pack                  elsewhere, beforehand: puts GoogleTest's sources into build/carry, for a machine that
#                                        has none and no network; take build/carry along with the checkout
# Needed: CMake, Ninja or make, a C++20 compiler, a driver. Used where they are: nvcc (the kernels; without it the library runs
# them on the CPU), compute-sanitizer, and the python3 that has PyTorch, with Python.h, pip, scikit-build-core and pytest.
# GoogleTest: installed, or its sources in DATALINE_GOOGLETEST, /usr/src/googletest or build/carry/googletest.
# DATALINE_COMMIT: what is written as the commit, where the checkout came without its history.
# Tests that need the fake driver's controls are named as skipped. Ends with 77 and one line where there is no GPU.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
exec </dev/null

only="" pack=false
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=${2:-} && shift ;;
    --only=*) only=${1#--only=} ;;
    --pack) pack=true ;;
    *) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

if $pack; then
  [ -d /usr/src/googletest ] || { echo "gpu.sh: no /usr/src/googletest here (Debian: apt-get install googletest)" >&2; exit 1; }
  rm -rf build/carry && mkdir -p build/carry/googletest
  tar -C /usr/src/googletest --exclude=test --exclude=docs --exclude=samples -c . | tar -C build/carry/googletest -x
  echo "build/carry: $(du -sh build/carry | cut -f1)"
  exit 0
fi

driver=libcuda.so.1
# Why there is no device to test on; nothing when there is one.
no_gpu() {
  if ! command -v python3 >/dev/null; then
    nvidia-smi -L >/dev/null 2>&1 || echo "nvidia-smi names no device"
    return
  fi
  python3 - <<'PYTHON'
import ctypes
try:
    driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code or not count.value:
        print(f"the CUDA driver has no device (error {code})")
except OSError as error:
    print(error)
PYTHON
}
reason=$(no_gpu)
[ -z "$reason" ] || { echo "skipped: no GPU: $reason"; exit 77; }

export PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
folder=$PWD/build/gpu logs=$PWD/build/gpu-logs
jobs=$(nproc 2>/dev/null || echo 4)
mkdir -p "$logs"
card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1)
passed=0 failed=0 skipped=0 found=""

say() { printf '%s\n' "$*"; found+="$*"$'\n'; }
left_out() { skipped=$((skipped + 1)); say "  skipped $*"; }
went_wrong() { failed=$((failed + 1)); say "  FAILED $*"; }
went_well() { passed=$((passed + 1)); say "  passed $*"; }

# check NAME command...: passes, fails (the end of its log is shown) or is skipped (77).
check() {
  local name=$1 status
  shift
  "$@" >"$logs/$name.log" 2>&1
  status=$?
  case $status in
    0) went_well "$name" ;;
    77) left_out "$name: $(grep -m1 -i skipped "$logs/$name.log")" ;;
    *) went_wrong "$name: ended with $status"; tail -n 40 "$logs/$name.log" | sed 's/^/    /' ;;
  esac
  return $status
}

configure() {
  local generator=(-G Ninja)
  command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
  cmake -S . -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DDATALINE_TESTS=ON -DDATALINE_BENCH=ON \
    -DDATALINE_WITH_HIGHWAY=AUTO -DCMAKE_PREFIX_PATH="$folder/googletest" "$@"
}

# Installs GoogleTest into the build folder where none is installed.
get_googletest() {
  local sources
  configure >"$logs/configure.log" 2>&1 && ! grep -q "tests are left out" "$logs/configure.log" && return 0
  for sources in "${DATALINE_GOOGLETEST:-}" /usr/src/googletest build/carry/googletest; do
    [ -f "$sources/CMakeLists.txt" ] || continue
    cmake -S "$sources" -B "$folder/googletest-build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder/googletest" \
      -DCMAKE_POLICY_VERSION_MINIMUM=3.5 && cmake --build "$folder/googletest-build" -j "$jobs" --target install
    return
  done
  echo "skipped: no GoogleTest is installed, and its sources are not in DATALINE_GOOGLETEST, /usr/src/googletest or" \
    "build/carry/googletest (tests/gpu.sh --pack)"
  return 77
}

part_build() {
  mkdir -p "$folder"
  local targets=(dataline_shared dataline_gpu)
  if check googletest get_googletest; then targets+=(tests_device); fi
  check configure configure || return
  if cmake --build "$folder" --target help 2>/dev/null | grep example_cuda_prefetch >/dev/null; then targets+=(example_cuda_prefetch); fi
  check compile cmake --build "$folder" -j "$jobs" --target "${targets[@]}"
  grep -h "^-- Kernels are left out" "$logs/configure.log"
}

# The suite that everybody runs on the fake driver.
part_device() {
  local results=$logs/device.xml counts
  [ -x "$folder/tests/device_slots" ] || { left_out "device: the tests were not built"; return; }
  rm -f "$results"
  DATALINE_CUDA_LIBRARY=$driver LD_PRELOAD=$driver ctest --test-dir "$folder" -L '^device$' -j 8 --timeout 120 \
    --output-on-failure --output-junit "$results" >"$logs/device.log" 2>&1
  [ -f "$results" ] || { went_wrong "device: ctest gave no results ($logs/device.log)"; return; }
  python3 tests/support/count_results.py "$results" "$logs/device.counts"
  read -r -a counts <"$logs/device.counts"
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  say "  device tests: ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped (they need the fake driver)"
  [ "${counts[1]}" -eq 0 ] || grep -A30 -E '\*\*\*(Failed|Timeout|Exception)' "$logs/device.log" | head -n 150
  if [ -x "$folder/bin/example_cuda_prefetch" ]; then check prefetch "$folder/bin/example_cuda_prefetch"; fi
}

sanitize() {
  local limit=90
  timeout $limit compute-sanitizer --tool "$1" --error-exitcode 9 "$folder/tests/device_kernels"
  local status=$?
  if grep -q "Device not supported" "$logs/$1.log"; then echo "skipped: compute-sanitizer does not support this device"; return 77; fi
  if [ $status -eq 124 ] && ! grep -Eq '^=========+ +(Invalid|Race|Error|Warning|Program hit|Misaligned)' "$logs/$1.log"; then
    echo "skipped: $1 was not through within $limit s, and had found nothing"
    return 77
  fi
  return $status
}

part_sanitizer() {
  command -v compute-sanitizer >/dev/null || { left_out "sanitizer: no compute-sanitizer"; return; }
  [ -x "$folder/tests/device_kernels" ] || { left_out "sanitizer: the kernels' test was not built"; return; }
  export DATALINE_CUDA_LIBRARY=$driver
  check memcheck sanitize memcheck
  check racecheck sanitize racecheck
  unset DATALINE_CUDA_LIBRARY
}

has() { python3 -c "import $1" 2>/dev/null; }

wheel() {
  rm -rf "$folder/wheel" "$folder/site"
  DATALINE_LIB_DIR=$folder/lib python3 -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps --no-index \
    --config-settings=build-dir="$folder/python" --wheel-dir "$folder/wheel" bindings/python &&
    python3 -m pip install -q --disable-pip-version-check --no-index --no-deps --target "$folder/site" "$folder"/wheel/dataline-*.whl
}

pytest_on_gpu() ( # FOLDER TEST...; in a shell of its own, for it goes there
  cd "$1" || exit
  shift
  DATALINE_CUDA_LIBRARY=$driver DATALINE_LIB_DIR=$folder/lib PYTHONPATH=$folder/site PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
    python3 -m pytest -rs -o filterwarnings=default -p no:cacheprovider "$@"
)

part_python() {
  local missing="" module
  for module in numpy pytest scikit_build_core pathspec; do has "$module" || missing+=" $module"; done
  python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null ||
    missing+=" Python.h"
  [ -z "$missing" ] || { left_out "python: no$missing"; return; }
  check wheel wheel || return
  local tests=(tests/test_device.py tests/test_dlpack.py)
  if has torch; then tests+=(tests/test_torch.py tests/test_torch_device.py tests/test_torch_cuda.py); else left_out "torch: no PyTorch"; fi
  check python pytest_on_gpu bindings/python "${tests[@]}"
  tail -n 1 "$logs/python.log"
  if has torch; then check example pytest_on_gpu examples/python .; fi
}

train_cnn() {
  cmake --install "$folder" --prefix "$folder/prefix" &&
    cmake -S examples/libtorch -B "$folder/libtorch" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_PREFIX_PATH="$folder/prefix;$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')" ||
    { echo "skipped: LibTorch's CMake package does not work here"; return 77; }
  cmake --build "$folder/libtorch" -j "$jobs" || return
  local program
  program=$(find "$folder/libtorch" -name example_train_cnn -type f | head -n 1)
  "$program" --device cuda "$mnist" 1
}

part_libtorch() {
  has torch || { left_out "libtorch: no PyTorch"; return; }
  mnist=$(find_mnist)
  [ -n "$mnist" ] || { left_out "libtorch: no MNIST files"; return; }
  check libtorch train_cnn
}

find_mnist() {
  local place
  for place in "${DATALINE_MNIST:-}" shared/data/mnist ../shared/data/mnist; do
    if [ -d "$place" ]; then echo "$place"; return; fi
  done
}

part_bench() {
  [ -x "$folder/bench/dataline_gpu" ] || { left_out "bench: it was not built"; return; }
  mnist=$(find_mnist)
  check bench env "DATALINE_BUILD=$folder" PYTHONPATH="$folder/site" bench/gpu.sh ${mnist:+--data "$mnist"}
  grep -v '^tuning: epoch' "$logs/bench.log"
}

say "$card; commit ${DATALINE_COMMIT:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}"
for part in build device sanitizer python libtorch bench; do
  case ",${only:-$part}," in *",$part,"*) ;; *) continue ;; esac
  say "== $part ($SECONDS s)"
  "part_$part"
done
say "$passed passed, $failed failed, $skipped skipped in $SECONDS s on $jobs cores"
slug=$(printf '%s' "${card%%,*}" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-')
mkdir -p bench/results
printf '%s' "$found" >"bench/results/$(date +%F)-${slug%-}-tests.txt"
[ "$failed" -eq 0 ]
