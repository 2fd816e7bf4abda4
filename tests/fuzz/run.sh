#!/bin/bash
# Fuzzes: run.sh SECONDS [TARGET...]. README.md says where what it finds lies. Each target's run is a line of the ledger,
# tests/results/fuzz-ledger.md.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
declare -A program
while read -r in target _; do program[$target]=$in; done < <(grep -v '^#' tests/fuzz/targets.txt)
if [ $# -eq 0 ]; then
  mapfile -t names < <(printf '%s\n' "${!program[@]}" | sort)
  set -- "${names[@]}"
fi
cmake --preset fuzz >/dev/null
found=build/fuzz/found log=build/fuzz/log ledger=tests/results/fuzz-ledger.md
mkdir -p "$found"
# What is fuzzed is the tree as it lies here: a commit with + has changes beside it.
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
git diff --quiet HEAD -- core capi tests/fuzz 2>/dev/null || commit="$commit+"
status=0
for name in "$@"; do
  fuzzer=libfuzzer_${program[$name]:?run.sh: no target $name}
  cmake --build --preset fuzz --target "$fuzzer" >/dev/null
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  python3 tests/fuzz/replay.py --seeds "$name" "$corpus"
  stored=()
  if [ -d "tests/fuzz/corpus/$name" ]; then stored=("tests/fuzz/corpus/$name"); fi
  before=$(find "$found" -name "$name-*" | wc -l)
  began=$SECONDS
  echo "== $name: $seconds s"
  DATALINE_FUZZ_TARGET=$name nice "build/fuzz/tests/$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$found/$name-" "$corpus" ${stored[@]+"${stored[@]}"} >"$log-$name" 2>&1 || status=1
  tail -n 12 "$log-$name"
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log-$name")
  # A target that ended before it could count is a finding too.
  findings=$(($(find "$found" -name "$name-*" | wc -l) - before))
  took=$((SECONDS - began))
  printf '| %s | %s | %s | %s | %d.%d | %d |\n' "$(date -u +%F)" "$commit" "$name" "${executions:-not counted}" $((took / 60)) \
    $((took % 60 / 6)) "$findings" >>"$ledger"
done
exit $status
