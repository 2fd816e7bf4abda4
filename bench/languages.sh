#!/usr/bin/env bash
# What a batch costs in each language above the C calls that it makes, and the same rows beside that language's own loaders.
#   bench/languages.sh [--rows] [LANGUAGE...]     all languages; --rows: their own loaders too (burn alone builds for minutes)
# Each language's program takes the C calls and its own way in turn, in one process or beside one. What they print is kept in
# bench/results/<date>-<machine>-languages.txt. Set up before: tests/run.sh --only release/examples,bindings; for the loaders of Python
# bench/peers/setup.sh torch grain.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
rows=false languages=()
for word in "$@"; do
  case $word in
    --rows) rows=true ;;
    cpp | rust | go | julia | python) languages+=("$word") ;;
    *) sed -n '2,7s/^# //p' "$0"; exit 2 ;;
  esac
done
[[ ${#languages[@]} -gt 0 ]] || languages=(cpp rust go julia python)

export DATALINE_LIB_DIR=$root/build/release/lib DATALINE_BIN=$root/build/release/bin/dataline CARGO_TARGET_DIR=$root/build/cargo
export LD_LIBRARY_PATH=$DATALINE_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} OMP_NUM_THREADS=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
step() { printf '\n== %s\n' "$*"; }

google=(--benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
  --benchmark_min_time=0.1)
bench_cpp() {
  cmake --build --preset release --target bench_micro >"$scratch/log" || { tail -n 20 "$scratch/log"; return 1; }
  build/release/bench/cpp_bench "${google[@]}" 2>/dev/null | grep _median
  [[ -x build/release/bench/torch_bench ]] || { echo "left out: LibTorch is not installed"; return; }
  local part='^(CCalls|Tensors)'
  ! $rows || part=.
  build/release/bench/torch_bench "${google[@]}" --benchmark_filter="$part" 2>/dev/null | grep _median
}
bench_rust() {
  (cd bindings/rust/dataline && cargo bench --quiet --bench overhead)
  ! $rows || (cd bindings/rust/peers && cargo run --quiet --release)
}
bench_go() {
  # shellcheck source=/dev/null
  . bindings/go/toolchain.sh && use_go || { echo "left out: there is no Go"; return; }
  cc -O2 -Icapi bindings/go/bench/c/overhead.c -o "$scratch/overhead" -L"$DATALINE_LIB_DIR" -ldataline
  (cd bindings/go && CGO_ENABLED=0 go run ./bench "$scratch/overhead")
  ! $rows || (cd bindings/go/gomlx && CGO_ENABLED=0 go run ./bench)
}
bench_julia() {
  local julia
  julia=$(bindings/julia/setup.sh --where) || { echo "left out: there is no Julia"; return; }
  export JULIA_DEPOT_PATH=$root/build/languages/julia JULIA_PKG_OFFLINE=true
  "$julia" --startup-file=no --project=bindings/julia bindings/julia/bench/overhead.jl
  ! $rows || "$julia" --startup-file=no -t 2 --project=bindings/julia bindings/julia/bench/throughput.jl
}
bench_python() {
  local python=build/python/venv/bin/python path=()
  [[ -x $python ]] || { echo "left out: build/python/venv is not there (bindings/python/check.sh makes it)"; return; }
  "$python" bindings/python/bench/overhead.py
  $rows || return 0
  for peer in torch grain; do
    for site in build/peers/"$peer"/lib/python3*/site-packages; do [[ ! -d $site ]] || path+=(--path "$root/$site"); done
  done
  "$python" bindings/python/bench/throughput.py "${path[@]}"
}

about() {
  python3 - <<'PY'
import datetime, sys
sys.path.insert(0, "bench")
import machine
facts = machine.facts()
print(f"{facts['cpu']}, {facts['cores']} cores, {facts['kernel']}; {facts['compiler']}; {datetime.date.today()}")
print("commit {}{}".format(machine.commit(".")[0], ", with changes" if machine.commit(".")[1] else ""))
PY
}
file=bench/results/$(date +%F)-$(cd bench && python3 -c 'import machine; print(machine.slug())')-languages.txt
{
  about
  for language in "${languages[@]}"; do
    step "$language"
    "bench_$language" || echo "failed"
  done
} | tee "$file"
echo "kept in $file"
