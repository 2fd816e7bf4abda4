#!/usr/bin/env bash
# Every language at one job: states are handed on, a new option arrives, the loops of bindings/README.md are those that are tested.
#   tests/languages/run.sh        after the gates of the languages (bindings/*/check.sh), which build what is used here
# A language whose toolchain is not here is left out, and named. DATALINE_LIB_DIR, DATALINE_BIN, CARGO_TARGET_DIR as there.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
export DATALINE_LIB_DIR=${DATALINE_LIB_DIR:-$root/build/release/lib} CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/build/cargo}
program=${DATALINE_BIN:-$root/build/release/bin/dataline}
bin=$(dirname "$program")
work=$root/build/languages
mkdir -p "$work"

# have_NAME builds that language's chain program and prints its command; false: it cannot be had here.
have_c() { [[ -x $bin/example_chain ]] && echo "$bin/example_chain"; }
have_cpp() { [[ -x $bin/example_chain_cpp ]] && echo "$bin/example_chain_cpp"; }
have_rust() {
  command -v cargo >/dev/null || return 1
  (cd examples/rust && cargo build --quiet --bin chain >&2) && echo "$CARGO_TARGET_DIR/debug/chain"
}
have_go() {
  # shellcheck source=/dev/null
  . bindings/go/toolchain.sh && use_go || return 1
  (cd examples/go && CGO_ENABLED=0 go build -o "$work/chain_go" ./chain >&2) && echo "$work/chain_go"
}
have_julia() {
  local julia
  julia=$(bindings/julia/setup.sh --where) || return 1
  # A depot of its own: compiled once, and nothing of the user's is touched.
  echo "env JULIA_DEPOT_PATH=$work/julia JULIA_PKG_OFFLINE=true $julia --startup-file=no --project=examples/julia examples/julia/chain.jl"
}
have_python() {
  local python=${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python
  (cd / && "$python" -c 'import dataline') 2>/dev/null && echo "$python examples/python/chain.py"
}

# loop_NAME prints what runs a program in that language (readme_test.py says what is expected).
loop_cpp() { echo "${CXX:-c++} -std=c++17 -I$root/bindings/cpp/include -I$root/capi -L$DATALINE_LIB_DIR -Wl,--no-as-needed -ldataline"; }
loop_rust() { echo cargo; }
loop_go() { echo "env CGO_ENABLED=0 go"; }
loop_julia() {
  echo "env JULIA_DEPOT_PATH=$work/julia JULIA_PKG_OFFLINE=true $(bindings/julia/setup.sh --where) --startup-file=no --project=$root/examples/julia"
}
loop_python() {
  local python=${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python
  (cd / && "$python" -c 'import torch') 2>/dev/null && echo "$python"
}

# loops_NAME builds that language's driver of loops.json, where it is not built yet, and prints its command (loops/README.md).
loops_c() { [[ -x $bin/loops_c ]] && echo "$bin/loops_c"; }
loops_cpp() { [[ -x $bin/loops_cpp ]] && echo "$bin/loops_cpp"; }
loops_rust() {
  command -v cargo >/dev/null || return 1
  (cd tests/languages/loops/rust && cargo build --quiet >&2) && echo "$CARGO_TARGET_DIR/debug/loops_rust"
}
loops_go() {
  # shellcheck source=/dev/null
  . bindings/go/toolchain.sh && use_go || return 1
  (cd bindings/go && CGO_ENABLED=0 go build -o "$work/loops_go" "$root/tests/languages/loops/loops.go" >&2) && echo "$work/loops_go"
}
loops_python() { echo "${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python tests/languages/loops/loops.py"; }

# reader_NAME prints the program that tests what reads records in that language (grown_cells_test.py).
reader_rust() {
  local built
  # The workspace that the gate of Rust tested. In a shell of its own: what it sets is for this alone.
  # shellcheck source=/dev/null disable=SC2154
  built=$(. bindings/rust/workspace.sh && choose_workspace >&2 && cd "$workspace/dataline" && cargo test --quiet --test sources --no-run --message-format=json) || return 1
  sed -n 's/.*"executable":"\([^"]*sources-[^"]*\)".*/\1/p' <<<"$built" | tail -n 1
}
reader_go() {
  # shellcheck source=/dev/null
  . bindings/go/toolchain.sh && use_go || return 1
  (cd bindings/go && CGO_ENABLED=0 go test -c -o "$work/readers_go" . >&2) && echo "$work/readers_go '-test.run=Source|Record|BadSamples'"
}
reader_julia() {
  echo "env JULIA_DEPOT_PATH=$work/julia JULIA_PKG_OFFLINE=true $(bindings/julia/setup.sh --where) --startup-file=no" \
    "--project=bindings/julia tests/languages/readers.jl"
}
reader_python() {
  echo "${DATALINE_PYTHON_VENV:-$root/build/python/venv}/bin/python -m pytest -q -p no:cacheprovider bindings/python/tests/test_readers.py"
}

# loops_NAME prints the driver of loops/loops.json in that language.
loops_julia() {
  echo "env JULIA_DEPOT_PATH=$work/julia JULIA_PKG_OFFLINE=true $(bindings/julia/setup.sh --where) --startup-file=no -t 4" \
    "--project=bindings/julia tests/languages/loops/loops.jl"
}

commands=()
for language in c rust go julia python cpp; do
  if command=$("have_$language"); then commands+=("$language=$command"); else echo "left out: $language, which is not here"; fi
done
[[ ${#commands[@]} -ge 2 ]] || { echo "skipped: there are no two languages here"; exit 77; }
export LD_LIBRARY_PATH=$DATALINE_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
python3 tests/languages/chain_test.py "$program" "${commands[@]}"
python3 tests/languages/grown_views_test.py "$DATALINE_LIB_DIR" "shell=$program" "${commands[@]}"
python3 tests/languages/new_option_test.py "$DATALINE_LIB_DIR" "${commands[@]}"
drivers=()
for language in c cpp rust go julia python; do
  if command=$("loops_$language"); then drivers+=("$language=$command"); else echo "loops: left out: $language, which is not here"; fi
done
tests/languages/loops/loops_test.py "${drivers[@]}"
readers=()
for named in "${commands[@]}"; do
  language=${named%%=*}
  [[ $language == c || $language == cpp ]] || readers+=("$language=$("reader_$language")") # theirs: languages_grown_cells
done
python3 tests/languages/grown_cells_test.py "$DATALINE_LIB_DIR" "${readers[@]}"

loops=()
for command in "${commands[@]}"; do
  language=${command%%=*}
  [[ $language != c ]] || continue  # the example of dataline.h has a test of its own
  if command=$("loop_$language"); then loops+=("$language=$command"); else echo "left out: the loop of bindings/README.md in $language"; fi
done
# shellcheck source=/dev/null
if [[ " ${loops[*]} " == *" go="* ]]; then . bindings/go/toolchain.sh && use_go; fi
python3 tests/languages/readme_test.py "${loops[@]}"
