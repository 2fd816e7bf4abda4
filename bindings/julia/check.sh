#!/usr/bin/env bash
# The gate of the Julia package: lints, tests with the README's code, the example, the chain program.
#   bindings/julia/check.sh [--quick | --tests FILE...]
#     --quick          without the example's training and without building the library by Pkg
#     --tests FILE...  these files of tests alone, by their names (test/runtests.jl), and nothing else
# What it uses, where it is not told:
#   JULIA             the program (otherwise what setup.sh finds: its own, or the one on the PATH)
#   DATALINE_LIB_DIR  the folder of libdataline (otherwise the package looks for it itself)
#   DATALINE_BIN      the program `dataline` (otherwise the one of build/release, or on the PATH; without one the tests
#                     that compare with it are left out, and said so)
#   DATALINE_FAKE_CUDA  the fake CUDA driver, libfake_cuda.so (otherwise the one beside the library or in build/release/lib;
#                     without one the tests of devices are left out, and said so)
#   DATALINE_MNIST    the folder of the four MNIST files; without it the example's network is only tested
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
quick=false tests=()
case ${1:-} in
  --quick) quick=true ;;
  --tests) tests=("${@:2}") ;;
esac

julia=$("$here/setup.sh" --where) || { echo "$julia"; exit 77; }
if [[ -z ${DATALINE_BIN:-} ]]; then
  for program in "$root/build/release/bin/dataline" "$(command -v dataline || true)"; do
    if [[ -x $program ]]; then export DATALINE_BIN=$program; break; fi
  done
fi
[[ -n ${DATALINE_BIN:-} ]] || echo "left out: the comparisons with the program dataline, for there is none (DATALINE_BIN)"

# A depot of our own, so that nothing of the user's is touched, with an empty registry, so that Pkg asks no server.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export JULIA_DEPOT_PATH=$work/depot JULIA_PKG_OFFLINE=true
unset JULIA_LOAD_PATH JULIA_PROJECT
mkdir -p "$work/depot/registries/Empty" "$work/project"
printf 'name = "Empty"\nuuid = "7f0c4c9e-4b0b-4f3f-8d27-1a1a1a1a1a1a"\nrepo = ""\n\n[packages]\n' \
  >"$work/depot/registries/Empty/Registry.toml"
run() { timeout 900 "$julia" --startup-file=no --color=no "$@"; }
step() { printf '== %s\n' "$*"; }

# Compiling takes most of their time, so with less of it.
run_tests() {
  run --project="$work/project" --depwarn=error -e '
    import Pkg
    Pkg.develop(path = ARGS[1])
    Pkg.test("Dataline"; julia_args = `-O1`, test_args = ARGS[2:end])' "$here" "$@"
}
if [[ ${#tests[@]} -gt 0 ]]; then run_tests "${tests[@]}"; exit; fi

step "lints: overwritten methods, what is deprecated, imports that clash"
run --project="$here" --warn-overwrite=yes --depwarn=error --compiled-modules=no -e 'using Dataline' 2>"$work/warnings"
if [[ -s $work/warnings ]]; then cat "$work/warnings"; exit 1; fi
command -v shellcheck >/dev/null && shellcheck -S warning "$here"/*.sh

step "tests"
run_tests

step "example"
example="$root/examples/julia"
run --project="$example" "$example/test/runtests.jl"
if [[ -n ${DATALINE_MNIST:-} ]] && ! $quick; then
  output=$(run --project="$example" "$example/train_mnist.jl" "$DATALINE_MNIST")
  printf '%s\n' "$output"
  accuracy=$(sed -n 's/^test accuracy: \([0-9.]*\) %$/\1/p' <<<"$output")
  awk -v got="$accuracy" 'BEGIN { exit !(got >= 97) }' || { echo "expected a test accuracy of 97 % at least"; exit 1; }
  # Its progress line, on a pseudo-terminal.
  python3 "$root/examples/check_progress.py" samples "loss=[0-9.]+" "$julia" --startup-file=no --project="$example" \
    "$example/train_mnist.jl" "$DATALINE_MNIST" 1
fi

if [[ -n ${DATALINE_BIN:-} ]]; then
  step "chain: the shell, Julia, the shell"
  head -c 16000 /dev/urandom >"$work/records"
  uri="raw:$work/records?dtype=u8&shape=16"
  options=(batch_size=32 shuffle=full seed=3 epochs=2)
  flags=("${options[@]/#/--}")
  "$DATALINE_BIN" cat "$uri" "${flags[@]}" --batches 5 --save-state "$work/one" >"$work/joined"
  run --project="$example" "$example/chain.jl" "$uri" "$work/one" "$work/two" 40 data "${options[@]}" >>"$work/joined"
  "$DATALINE_BIN" cat "$uri" "${flags[@]}" --load-state "$work/two" >>"$work/joined"
  "$DATALINE_BIN" cat "$uri" "${flags[@]}" | cmp - "$work/joined"
  if run --project="$example" "$example/chain.jl" nosuch:file - - 1 data 2>"$work/error"; then exit 1; fi
  grep -q '^chain: .*nosuch' "$work/error"
fi

if ! $quick; then
  step "the package builds the library of its checkout"
  command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  git -C "$root" ls-files | tar -C "$root" -cf - -T - | { mkdir -p "$work/checkout"; tar -C "$work/checkout" -xf -; }
  env -u DATALINE_LIB_DIR timeout 3000 "$julia" --startup-file=no --project="$work/built" -e '
    import Pkg
    Pkg.develop(path = ARGS[1])
    Pkg.build("Dataline"; verbose = true)
    using Dataline
    println(Dataline.version(), ": ", length(Dataline.Loader([1, 2, 3]; batchsize = 2)), " batches")' \
    "$work/checkout/bindings/julia" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
  tail -n 1 "$work/log"
fi
echo "julia: all passed"
