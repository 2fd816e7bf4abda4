#!/bin/bash
# Fuzzes: run.sh SECONDS [TARGET...]. README.md says where what it finds lies.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
if [ $# -eq 0 ]; then
  for file in tests/fuzz/*_fuzz.cpp; do set -- "$@" "$(basename "$file" _fuzz.cpp)"; done
fi
cmake --preset fuzz >/dev/null
found=build/fuzz/found
mkdir -p "$found"
status=0
for name in "$@"; do
  cmake --build --preset fuzz --target "libfuzzer_$name" >/dev/null
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  python3 tests/fuzz/replay.py --seeds "$name" "$corpus"
  stored=()
  if [ -d "tests/fuzz/corpus/$name" ]; then stored=("tests/fuzz/corpus/$name"); fi
  echo "== $name: $seconds s"
  "build/fuzz/tests/libfuzzer_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$found/$name-" "$corpus" ${stored[@]+"${stored[@]}"} || status=1
done
exit $status
