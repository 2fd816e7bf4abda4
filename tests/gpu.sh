#!/usr/bin/env bash
# All that a real GPU can prove, from a bare checkout and without a network, within ten minutes on 16 cores: the device tests
# on the real driver, the kernels under compute-sanitizer, the Python tests, the examples, and bench/gpu.sh. What was found is
# kept with the card, the driver and the commit.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/gpu.sh [--only part,part...] [--out DIR] [--limit S]   parts: build device sanitizer python libtorch bench. DIR: for
#                                        tests.txt, bench.json and log.txt, written as they come (default: results in
#                                        bench/results). S: no part begins after so many seconds (450); those left out are
#                                        named, and --only runs them in the next call, in the same build folder
#   tests/gpu.sh --pack                  elsewhere, beforehand: puts GoogleTest's sources, the compiled kernels and pytest into
#                                        build/carry (a few MiB), for a machine that has none and no network; take it along
# Needed: CMake, Ninja or make, a C++20 compiler, python3, a driver. Used where they are: nvcc, or the kernels of --pack (without them the
# library runs them on the CPU), compute-sanitizer, and the python3 that has PyTorch, with Python.h, pip and scikit-build-core.
# GoogleTest: installed, or its sources in DATALINE_GOOGLETEST, /usr/src/googletest or build/carry/googletest.
# DATALINE_COMMIT: what is written as the commit, where the checkout came without its history.
# Tests that need the fake driver's controls are named as skipped. Ends with 77 and one line where there is no GPU. Where the fake
# stands in the driver's place (tests/gpu_rehearsal.sh) each result says so: it measures nothing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
exec </dev/null

only="" pack=false out="" limit=450
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=${2:-} && shift ;;
    --only=*) only=${1#--only=} ;;
    --out) out=${2:?--out wants a folder} && shift ;;
    --limit) limit=${2:?--limit wants seconds} && shift ;;
    --pack) pack=true ;;
    *) sed -n '2,21s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

# The kernels, for every card that this release knows; a machine without nvcc takes them by DATALINE_KERNELS.
pack_kernels() {
  local nvcc
  nvcc=$(core/device/kernels/toolkit.sh) || { echo "the kernels are left out: there is no nvcc to compile them with"; return 0; }
  cmake -S . -B build/pack -DCMAKE_BUILD_TYPE=Release -DDATALINE_WITH_CUDA=ON -DDATALINE_NVCC="$nvcc" -DDATALINE_TESTS=OFF \
    -DDATALINE_BENCH=OFF >build/pack.log 2>&1 && cmake --build build/pack --target dataline_kernel_image >>build/pack.log 2>&1 ||
    { tail -n 20 build/pack.log; return 1; }
  cp build/pack/core/device/kernels-*.fatbin build/carry/
}

if $pack; then
  [ -d /usr/src/googletest ] || { echo "gpu.sh: no /usr/src/googletest here (Debian: apt-get install googletest)" >&2; exit 1; }
  rm -rf build/carry build/pack && mkdir -p build/carry/googletest build/carry/wheels
  tar -C /usr/src/googletest --exclude=test --exclude=docs --exclude=samples -c . | tar -C build/carry/googletest -x
  pack_kernels || { echo "gpu.sh: the kernels do not compile (build/pack.log)" >&2; exit 1; }
  # Wheels for any Python; NumPy and PyTorch are the machine's own.
  python3 -m pip download -q --disable-pip-version-check --only-binary :all: --platform any --python-version 3.10 -d build/carry/wheels \
    pytest scikit-build-core || echo "pytest and scikit-build-core are left out: pip cannot get them"
  ls build/carry build/carry/wheels
  # What travels is the tree and build/carry; machines that are lent take 64 MiB.
  carried=$(du -sm --apparent-size build/carry | cut -f1)
  tree=$(git ls-files -z | du -cm --apparent-size --files0-from=- | tail -n 1 | cut -f1)
  echo "build/carry: $carried MiB; with the tree $((carried + tree)) MiB"
  [ $((carried + tree)) -le 64 ] || { echo "gpu.sh: more than the 64 MiB that may travel" >&2; exit 1; }
  exit 0
fi

driver=libcuda.so.1
# The name of the driver's first device; where there is none, why.
ask_driver() {
  python3 - <<'PYTHON'
import ctypes, sys
try:
    driver, count, name = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.create_string_buffer(256)
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code or not count.value:
        sys.exit(f"the CUDA driver has no device (error {code})")
    driver.cuDeviceGetName(name, 255, 0)
    print(name.value.decode())
except OSError as error:
    sys.exit(str(error))
PYTHON
}
if ! command -v python3 >/dev/null; then
  nvidia-smi -L >/dev/null 2>&1 || { echo "skipped: no GPU: nvidia-smi names no device"; exit 77; }
fi
export PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
for tool in python3 cmake c++; do
  command -v "$tool" >/dev/null || { echo "gpu.sh: there is no $tool here" >&2; exit 1; }
done
name=$(ask_driver 2>&1) || { echo "skipped: no GPU: $name"; exit 77; }
fake=false
case $name in Fake*) fake=true ;; esac

folder=$PWD/build/gpu logs=$PWD/build/gpu-logs results=$PWD/bench/results
if [ -n "$out" ]; then mkdir -p "$out" && results=$(cd "$out" && pwd) || exit 1; fi
if $fake && [ -z "$out" ]; then echo "gpu.sh: the driver is the fake one: name a folder for what it says, by --out" >&2; exit 1; fi
jobs=$(nproc 2>/dev/null || echo 4)
mkdir -p "$logs" "$results"
card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1)
card=${card:-$name}
if $fake; then card="driver: fake, NO MEASUREMENT"; fi
slug=$(printf '%s' "${card%%,*}" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-')
told=$results/$(date +%F)-${slug%-}-tests.txt log=/dev/null
if [ -n "$out" ]; then told=$results/tests.txt log=$results/log.txt; fi
: >"$told"
[ -z "$out" ] || : >"$log"
# pytest and scikit-build-core of --pack, where they are not installed: unpacked, for they look for files beside them.
carried_wheels() {
  local wheels=(build/carry/wheels/*.whl)
  if python3 -c 'import pytest, scikit_build_core, pathspec' 2>/dev/null || [ ! -f "${wheels[0]}" ]; then return; fi
  python3 -c 'import sys, zipfile
for wheel in sys.argv[2:]:
    zipfile.ZipFile(wheel).extractall(sys.argv[1])' "$folder/wheels" "${wheels[@]}" && echo "$folder/wheels"
}
PYTHONPATH=$(carried_wheels)${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
passed=0 failed=0 skipped=0

# What is told is in the file at once: a call that is cut off keeps it.
say() { printf '%s\n' "$*" | tee -a "$told"; }
# keep NAME: its log goes to log.txt too, where --out names a folder.
keep() { { echo "==== $1"; cat "$logs/$1.log"; } >>"$log"; }
left_out() { skipped=$((skipped + 1)); say "  skipped $*"; }
went_wrong() { failed=$((failed + 1)); say "  FAILED $*"; }
went_well() { passed=$((passed + 1)); say "  passed $*"; }

# check NAME command...: passes, fails (the end of its log is shown) or is skipped (77).
check() {
  local name=$1 status
  shift
  "$@" >"$logs/$name.log" 2>&1
  status=$?
  keep "$name"
  case $status in
    0) went_well "$name" ;;
    77) left_out "$name: $(grep -m1 -i skipped "$logs/$name.log")" ;;
    *) went_wrong "$name: ended with $status"; tail -n 40 "$logs/$name.log" | sed 's/^/    /' ;;
  esac
  return $status
}

generator=(-G Ninja)
command -v ninja >/dev/null || generator=(-G "Unix Makefiles")

configure() {
  cmake -S . -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DDATALINE_TESTS=ON -DDATALINE_BENCH=ON \
    -DDATALINE_WITH_HIGHWAY=AUTO -DCMAKE_PREFIX_PATH="$folder/googletest" -DDATALINE_KERNELS="$(carried_kernels)"
}

# The kernels of --pack, where there is no nvcc.
carried_kernels() {
  local image
  command -v nvcc >/dev/null && return
  for image in "$PWD"/build/carry/kernels-*.fatbin; do
    if [ -f "$image" ]; then echo "$image"; fi
  done
}

kernels_from() {
  if command -v nvcc >/dev/null; then echo "compiled here by $(command -v nvcc)"; return; fi
  local image
  image=$(carried_kernels)
  if [ -n "$image" ]; then echo "${image##*/}, compiled elsewhere"; else echo "none: no nvcc, and none in build/carry (tests/gpu.sh --pack)"; fi
}

# Installs GoogleTest into the build folder where none is installed.
get_googletest() {
  local sources
  configure >"$logs/configure.log" 2>&1 && ! grep -q "tests are left out" "$logs/configure.log" && return 0
  for sources in "${DATALINE_GOOGLETEST:-}" /usr/src/googletest build/carry/googletest; do
    [ -f "$sources/CMakeLists.txt" ] || continue
    cmake -S "$sources" -B "$folder/googletest-build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder/googletest" \
      -DCMAKE_POLICY_VERSION_MINIMUM=3.5 && cmake --build "$folder/googletest-build" -j "$jobs" --target install
    return
  done
  echo "skipped: no GoogleTest is installed, and its sources are not in DATALINE_GOOGLETEST, /usr/src/googletest or" \
    "build/carry/googletest (tests/gpu.sh --pack)"
  return 77
}

part_build() {
  mkdir -p "$folder"
  say "  kernels: $(kernels_from)"
  local targets=(dataline_shared dataline_gpu)
  if check googletest get_googletest; then targets+=(tests_device); fi
  check configure configure || return
  if cmake --build "$folder" --target help 2>/dev/null | grep example_cuda_prefetch >/dev/null; then targets+=(example_cuda_prefetch); fi
  check compile cmake --build "$folder" -j "$jobs" --target "${targets[@]}"
  grep -h "^-- Kernels are left out" "$logs/configure.log"
}

# device_suite NAME LABEL [ctest's arguments]: the suite that everybody runs on the fake driver, without what is about the fake.
device_suite() {
  local name=$1 label=$2 xml counts
  shift 2
  xml=$logs/$name.xml
  rm -f "$xml"
  DATALINE_CUDA_LIBRARY=$driver LD_PRELOAD=$driver ctest --test-dir "$folder" -L "$label" -E '^device_(fake_|on_real_driver)' "$@" -j 8 \
    --timeout 120 --output-on-failure --output-junit "$xml" >"$logs/$name.log" 2>&1
  keep "$name"
  [ -f "$xml" ] || { went_wrong "$name: ctest gave no results ($logs/$name.log)"; return; }
  python3 tests/support/count_results.py "$xml" "$logs/$name.counts" | tee -a "$told"
  read -r -a counts <"$logs/$name.counts"
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  say "  $name: ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped (they need the fake driver)"
  [ "${counts[1]}" -eq 0 ] || grep -A30 -E '\*\*\*(Failed|Timeout|Exception)' "$logs/$name.log" | head -n 150
}

part_device() {
  [ -x "$folder/tests/device_slots" ] || { left_out "device: the tests were not built"; return; }
  device_suite device "^device$"
  # A second card, with the loaders' tests: device 0 of the process is another one then.
  if [ "$(nvidia-smi -L 2>/dev/null | wc -l)" -gt 1 ]; then
    CUDA_VISIBLE_DEVICES=1,0 device_suite device-second "^device$" -R '^device_loader_'
  fi
  if [ -x "$folder/bin/example_cuda_prefetch" ]; then check prefetch "$folder/bin/example_cuda_prefetch"; fi
}

# Each kind of kernel and of place once, not every pair of types: a tool slows a launch down a hundredfold.
sanitize() {
  local limit=60
  timeout $limit compute-sanitizer --tool "$1" --error-exitcode 9 "$folder/tests/device_kernels" \
    --gtest_filter='Kernels.*:-*.EveryPairOfTypesAndEveryLayout:*.FlatRowsOfEveryLengthAndPlace'
  local status=$?
  if [ $status -eq 0 ] && ! grep -Eq '^\[  PASSED  \] [1-9]' "$logs/$1.log"; then echo "skipped: $1 had no kernel to look at"; return 77; fi
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
  if [ "$(kernels_from | cut -d: -f1)" = none ]; then left_out "sanitizer: this build has no kernels"; return; fi
  for tool in memcheck racecheck initcheck; do check $tool sanitize $tool; done
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
  DATALINE_CUDA_LIBRARY=$driver DATALINE_LIB_DIR=$folder/lib PYTHONPATH=$folder/site:$PYTHONPATH PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
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
  local short=()
  if $fake; then short=(--small --rounds 1 --seconds 0.01); fi
  mnist=$(find_mnist)
  check bench env "DATALINE_BUILD=$folder" PYTHONPATH="$folder/site:$PYTHONPATH" bench/gpu.sh ${mnist:+--data "$mnist"} \
    ${out:+--out "$results/bench.json"} "${short[@]}"
  grep -v '^tuning: epoch' "$logs/bench.log"
}

say "$card; commit ${DATALINE_COMMIT:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}"
for part in build device sanitizer python libtorch bench; do
  case ",${only:-$part}," in *",$part,"*) ;; *) continue ;; esac
  say "== $part ($SECONDS s)"
  if [ "$SECONDS" -gt "$limit" ]; then left_out "$part: $limit s are over; --only $part in the next call"; continue; fi
  "part_$part"
done
say "$passed passed, $failed failed, $skipped skipped in $SECONDS s on $jobs cores"
if $fake; then say "$card"; fi
[ "$failed" -eq 0 ]
