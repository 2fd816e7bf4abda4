#!/usr/bin/env bash
# The gate of the Go package: format, vet, tests without cgo, tests with the static library under the race detector, the
# example, the adapter for GoMLX.
#   bindings/go/check.sh [--quick]      --quick: without training, without GoMLX, without tables of arrow-go (fetched), without the check of
#                                       the modules
# What it uses, where it is not told:
#   DATALINE_LIB_DIR  the folder of libdataline (otherwise build/release/lib of this checkout)
#   DATALINE_BIN      the program `dataline` (otherwise the one of build/release, or on the PATH; without one the tests
#                     that compare with it are left out, and said so)
#   DATALINE_FAKE_CUDA  the fake CUDA driver, libfake_cuda.so (otherwise the one beside the library or in build/release/lib;
#                     without one the tests of devices skip)
#   DATALINE_MNIST    the folder of the four MNIST files; without it the example is only built
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
quick=false
[[ ${1:-} != --quick ]] || quick=true
# shellcheck source-path=SCRIPTDIR
. "$here/toolchain.sh"

if ! use_go; then
  echo "skipped: there is no Go $go_least or newer (bindings/go/setup.sh)"
  exit 77
fi
export DATALINE_LIB_DIR=${DATALINE_LIB_DIR:-$root/build/release/lib}
if [[ -z ${DATALINE_BIN:-} ]]; then
  for program in "$root/build/release/bin/dataline" "$(command -v dataline || true)"; do
    if [[ -x $program ]]; then export DATALINE_BIN=$program; break; fi
  done
fi
[[ -n ${DATALINE_BIN:-} ]] || echo "left out: the tests against the program dataline, for there is none (DATALINE_BIN)"
[[ -f $DATALINE_LIB_DIR/libdataline-samples.so || -f $root/build/release/lib/libdataline-samples.so ]] ||
  echo "left out: the tests of plug-ins, for those of tests/extensions were not built (DATALINE_LIB_DIR)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
step() { printf '== %s\n' "$*"; }

# A dataline.pc for the archive in DATALINE_LIB_DIR as it lies there. What has to be linked with it is in the one that was
# built or installed beside it; false where there is none.
describe_archive() {
  local built
  for built in "$DATALINE_LIB_DIR/pkgconfig" "$DATALINE_LIB_DIR/../capi"; do
    [[ -f $built/dataline.pc && -f $built/dataline-link.pc && -f $DATALINE_LIB_DIR/libdataline.a ]] || continue
    sed -e "s|^Cflags:.*|Cflags: -I$root/capi|" "$built/dataline.pc" >"$scratch/dataline.pc"
    sed -e "s|^Libs:.*|Libs: -L$DATALINE_LIB_DIR -ldataline|" "$built/dataline-link.pc" >"$scratch/dataline-link.pc"
    return 0
  done
  return 1
}

step "format"
unformatted=$(gofmt -l "$here" "$root/examples/go" "$root/tests/languages/loops")
[[ -z $unformatted ]] || { printf 'not formatted: %s\n' "$unformatted"; exit 1; }

cd "$here"
step "tests without cgo"
CGO_ENABLED=0 go vet ./...
CGO_ENABLED=0 go vet "$root/tests/languages/loops/loops.go"
CGO_ENABLED=0 go test -timeout 5m -count 1 ./...

if command -v cc >/dev/null && command -v pkg-config >/dev/null && describe_archive; then
  step "tests with the static library, and the race detector"
  export PKG_CONFIG_PATH=$scratch
  # What pkg-config says, and the archive, are not part of the key of Go's build cache; the flags of C are.
  export CGO_CFLAGS="-O2 -g -DDATALINE_KEY=$( (cat "$scratch"/dataline*.pc && stat -L -c %Y "$DATALINE_LIB_DIR/libdataline.a") |
    cksum | cut -d ' ' -f 1)"
  CGO_ENABLED=1 go vet -tags dataline_static ./...
  CGO_ENABLED=1 go test -timeout 5m -count 1 -short -race -tags dataline_static ./...
else
  echo "left out: the static library, for there is no C compiler, no pkg-config or no libdataline.a with a dataline.pc"
fi

step "the quickstart, line by line"
mkdir "$scratch/quickstart"
cd "$scratch/quickstart"
awk '/^```go$/ { file = "main.go"; next } /^```text$/ { text = 1; next } /^```$/ { if (file) print "saved"; file = text = ""; next }
     file { print >file } text' "$root/docs/pages/quickstart/go.md" >lines
mv main.go program
while IFS= read -r line; do
  case $line in
    saved) mv program main.go ;;
    *"go run ."*) CGO_ENABLED=0 go build . ;;
    *) bash -c "${line//CHECKOUT/$root}" ;;
  esac
done <lines

cd "$root/examples/go"
step "example"
export CGO_ENABLED=0
go vet ./...
go test -count 1 ./...
go build -o "$scratch/" . ./chain
if [[ -n ${DATALINE_BIN:-} ]]; then
  bash "$here/check_chain.sh" "$scratch/chain" "$scratch"
fi
if ! $quick && [[ -n ${DATALINE_MNIST:-} ]]; then
  output=$("$scratch/train-mnist" "$DATALINE_MNIST")
  printf '%s\n' "$output"
  accuracy=$(sed -n 's/^test accuracy: \([0-9.]*\) %$/\1/p' <<<"$output")
  awk -v got="$accuracy" 'BEGIN { exit !(got >= 97) }' || { echo "expected a test accuracy of 97 % at least"; exit 1; }
fi

if ! $quick; then
  cd "$here/gomlx"
  step "GoMLX"
  go vet ./...
  go test -timeout 5m -count 1 ./...
  cd "$here/arrow"
  if command -v cc >/dev/null; then
    step "tables of arrow-go"
    CGO_ENABLED=1 go vet ./...
    CGO_ENABLED=1 go test -timeout 5m -count 1 ./...
  else
    echo "left out: tables of arrow-go, whose C interfaces need a C compiler"
  fi
  step "modules"
  for module in "$here" "$here/gomlx" "$here/arrow" "$root/examples/go"; do
    (cd "$module" && go mod tidy -diff && go mod verify >/dev/null)
  done
fi
echo "go: all passed"
