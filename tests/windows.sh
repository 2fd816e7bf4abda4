#!/usr/bin/env bash
# 64-bit Windows, from Linux: builds core, both libraries, the shell and the tests of bytes and orders with Debian's mingw-w64,
# runs them under Debian's wine64, and compares what `cat` writes with the native build's, where there is one.
# The last line is `N passed, N failed`. Ends with 77 where the compiler or Wine cannot be had. By tests/run.sh --long.
#   tests/windows.sh [program...]     only these tests
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

# The tests of Linux' own means are not among them: forks, signals, descriptors and their limits, /proc, cgroups, intercepted
# system calls, sanitizers' and decoders' (their libraries are not in Debian for Windows).
programs=(
  base_numbers base_portable_math base_status base_text base_wait
  order_create order_golden order_permutation order_weights order_statistics
  batch_layout batch_slot batch_varying
  source_formats source_gzip source_place source_shard_ranges source_uri source_compose source_arrays
  source_reader source_idx source_npy source_tar_pax source_tar source_tokens source_path_table
  transform_affine transform_cast transform_copy transform_fields transform_geometry transform_grammar transform_mix
  transform_operators transform_shape transform_split decode_exif
  loader_bad_samples loader_bad_states loader_books loader_cancel loader_epoch_tables
  loader_handoff loader_indices loader_lease loader_lookahead loader_mix loader_order
  loader_overflow loader_position loader_stand_in loader_work
  capi_arrays capi_bad_options capi_bools capi_compose capi_error_size capi_host_struct
  capi_images capi_message_text capi_null capi_plan capi_struct_size capi_tables
  windows_files windows_system windows_folder windows_wait_handle windows_library
)
[ $# -eq 0 ] || programs=("$@")
# Cases that do what Windows refuses: cut, replace or remove a file that is mapped; or name files in bytes that the C++
# library there takes for its code page. windows_files has both by Windows' own calls.
except="-Npy.FortranRowsThatAreGoneFailByName:TarTest.AFileThatShrinksFailsItsRows:Idx.OneDimGivesScalarsAndNoSamplesAnEmptySet"
except+=":Npy.OneDimGivesScalarsAndNoneGivesAnEmptySet:Places.InAFolderItIsTheFile"

packages="g++-mingw-w64-x86-64-posix wine64 googletest libhwy-dev"
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
if ! command -v x86_64-w64-mingw32-g++-posix >/dev/null || [ ! -x "$wine" ] || [ ! -d /usr/src/googletest ] || [ ! -d /usr/include/hwy ]; then
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $packages >/dev/null 2>&1 || { echo "skipped: $packages cannot be installed"; exit 77; }
  wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
fi
build=$PWD/build/windows
libraries=$build/libraries
logs=$build/logs
mkdir -p "$libraries/include" "$logs"

# A prefix of its own; its server stays between the programs, for each would start one.
export WINEPREFIX=$build/wine WINEDEBUG=-all WINEPATH="Z:${build//\//\\}\\bin" RC_PARAMS="seed=1"
server=$(dirname "$(readlink -f "$wine")")/wineserver64
[ -x "$server" ] || server=$(command -v wineserver || echo true)
"$wine" cmd /c exit 0 >"$logs/wine.log" 2>&1 || { echo "skipped: Wine does not start here: $(tail -n 1 "$logs/wine.log")"; exit 77; }
"$server" -p 30 >/dev/null 2>&1

# Google Test from Debian's sources; Highway is headers only, and these two folders are all that is taken from this machine.
[ -e "$libraries/include/hwy" ] || ln -s /usr/include/hwy "$libraries/include/hwy"
if [ ! -e "$libraries/lib/cmake/GTest/GTestConfig.cmake" ]; then
  { cmake -S /usr/src/googletest -B "$build/googletest" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/core/cmake/mingw.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$libraries" &&
    cmake --build "$build/googletest" --target install; } >"$logs/googletest.log" 2>&1 ||
    { tail -n 20 "$logs/googletest.log"; echo "0 passed, 1 failed"; exit 1; }
fi

launcher=""
command -v ccache >/dev/null && launcher=ccache
{ cmake --preset windows -DDATALINE_TESTS=ON -DDATALINE_TESTS_REQUIRED=ON -DDATALINE_CLI=ON -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
  -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" &&
  cmake --build --preset windows -j "${DATALINE_JOBS:-$(nproc)}" --target dataline_shared dataline_static dataline_cli "${programs[@]}"; } \
  >"$logs/build.log" 2>&1 || { tail -n 40 "$logs/build.log"; echo "0 passed, 1 failed"; exit 1; }

passed=0 failed=0
cd "$build/tests" || exit 1
for program in "${programs[@]}"; do
  rm -f "$program.xml"
  timeout 600 "$wine" "./$program.exe" --gtest_filter="$except" --gtest_output="xml:$program.xml" </dev/null >"$logs/$program.log" 2>&1
  status=$?
  read -r good bad < <(python3 - "$program.xml" 2>/dev/null <<'PY'
import sys
from xml.etree import ElementTree
good = bad = 0
for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    if case.find("failure") is not None: bad += 1
    elif case.get("result") == "completed": good += 1
print(good, bad)
PY
  ) || good=0 bad=0
  # A program that ends early has a test that does not end.
  if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  if [ "$bad" -gt 0 ]; then
    echo "FAILED $program (status $status):"
    grep -E '^\[  FAILED  \]|Failure$' "$logs/$program.log" | tail -n 12 | sed 's/^/  /'
  fi
  passed=$((passed + good)) failed=$((failed + bad))
done
cd ../../.. || exit 1

# The shell: what it says of itself, and the native shell's bytes.
if [ $# -eq 0 ]; then
  if "$wine" "$build/bin/dataline.exe" version >"$logs/version.log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  tr -d '\r' <"$logs/version.log"
  native=$PWD/build/release/bin/dataline
  if [ -x "$native" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    if (place=windows other=("$wine" "$build/bin/dataline.exe") && . tests/support/same_bytes.sh && same_jobs && same_state &&
      echo "$count" >"$scratch/count") 2>"$logs/shell.log"; then
      passed=$((passed + $(cat "$scratch/count")))
    else
      tail -n 5 "$logs/shell.log"
      failed=$((failed + 1))
    fi
  else
    echo "not compared: there is no native build (cmake --build --preset release)"
  fi
fi
"$server" -k >/dev/null 2>&1
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
